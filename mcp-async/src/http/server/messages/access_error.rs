//! The answer to a request whose sender is refused.

use core::error::Error;
use core::fmt;
use std::borrow::Cow;

use http::StatusCode;
use http::header::{HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use mcp_proto::rpc::code;

use super::answer::{self, Answer};
use crate::observe;

/// The answer to a request whose sender is refused by [`Authenticate`](crate::http::Authenticate): a
/// status, headers, and a JSON-RPC error without id.
///
/// `?` converts every other error into one, with status 500 and a fixed text; its own text is
/// written to the server's log only (feature `tracing`).
///
/// ```
/// use http::StatusCode;
/// use http::header::{HeaderValue, RETRY_AFTER};
/// use mcp_async::http::AccessError;
///
/// fn check(token: &str) -> Result<u64, AccessError> {
///     match token {
///         "" => Err(AccessError::unauthorized(HeaderValue::from_static("Bearer"))),
///         "blocked" => Err(AccessError::forbidden()),
///         "hasty" => Err(AccessError::new(StatusCode::TOO_MANY_REQUESTS, "too many attempts")
///             .header(RETRY_AFTER, HeaderValue::from_static("60"))),
///         number => Ok(number.parse()?),
///     }
/// }
///
/// assert_eq!(check("").unwrap_err().status(), 401);
/// assert_eq!(check("blocked").unwrap_err().status(), 403);
/// assert_eq!(check("x").unwrap_err().status(), 500);
/// ```
pub struct AccessError {
    status: StatusCode,
    headers: HeaderMap,
    text: Cow<'static, str>,
    /// The cause, which is written to the log instead of being sent.
    cause: Option<Box<dyn Error + Send + Sync>>,
}

impl AccessError {
    /// Makes an error with this status. The client reads the text.
    pub fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            headers: HeaderMap::new(),
            text: text.into(),
            cause: None,
        }
    }

    /// The request has no valid credentials: 401, with this challenge in `WWW-Authenticate`
    /// (RFC 9110, section 11.6.1).
    pub fn unauthorized(challenge: HeaderValue) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "authentication is required")
            .header(WWW_AUTHENTICATE, challenge)
    }

    /// The credentials are valid, and do not permit the request: 403.
    pub fn forbidden() -> Self {
        Self::new(StatusCode::FORBIDDEN, "the request is not permitted")
    }

    /// Adds a header to the response.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.headers.append(name, value);
        self
    }

    /// Returns the status of the response.
    pub const fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns the error that `?` converted, which the client does not see.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        self.cause.as_deref()
    }

    pub(in crate::http::server) fn into_answer(self) -> Answer {
        if let Some(cause) = &self.cause {
            observe::unverified(&**cause);
        }
        let code = match self.status.is_server_error() {
            true => code::INTERNAL_ERROR,
            false => code::INVALID_REQUEST,
        };
        let mut answer = answer::error(self.status, code, &self.text);
        answer.headers_mut().extend(self.headers);
        answer
    }
}

/// The client learns that there was an error, and nothing else.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for AccessError {
    fn from(error: E) -> Self {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Self {
            cause: Some(error.into()),
            ..Self::new(status, "the sender could not be verified")
        }
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.cause {
            Some(cause) => cause.fmt(f),
            None => f.write_str(&self.text),
        }
    }
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessError")
            .field("status", &self.status)
            .field("text", &self.text)
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}
