//! The answer to the check of a balancer or an orchestrator.

use core::fmt;

use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{HeaderValue, Method, Response, StatusCode};

use super::status::HttpStatus;
use crate::http::server::messages::answer::Answer;
use crate::http::server::messages::body::HttpBody;

/// A path, and the answer there.
pub(in crate::http::server) struct Probe {
    pub(in crate::http::server) path: String,
    report: Box<Report>,
}

type Report = dyn Fn(&HttpStatus) -> Result<String, String> + Send + Sync;

impl Probe {
    pub(in crate::http::server) fn new(
        path: String,
        report: impl Fn(&HttpStatus) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        let report = Box::new(report);
        Self { path, report }
    }

    /// Returns true if the request is for this path, and asks for nothing but an answer.
    pub(super) fn is_asked(&self, parts: &Parts) -> bool {
        parts.uri.path() == self.path && matches!(parts.method, Method::GET | Method::HEAD)
    }

    pub(super) fn answer(&self, status: &HttpStatus) -> Answer {
        let (status, text) = match (self.report)(status) {
            Ok(text) => (StatusCode::OK, text),
            Err(text) => (StatusCode::SERVICE_UNAVAILABLE, text),
        };
        let mut answer = Response::new(HttpBody::full(text.into()));
        *answer.status_mut() = status;
        let plain = HeaderValue::from_static("text/plain; charset=utf-8");
        answer.headers_mut().insert(CONTENT_TYPE, plain);
        answer
    }
}

impl fmt::Debug for Probe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Probe").field(&self.path).finish()
    }
}
