//! The replacement of the spans of calls in builds without `tracing`.

use crate::server::call::service::{BoxService, Service};

/// Traces nothing.
#[derive(Clone)]
pub(in crate::server) struct Trace;

impl Trace {
    pub(in crate::server) const fn new() -> Self {
        Self
    }

    pub(in crate::server) fn wrap(&self, service: impl Service) -> BoxService {
        Box::new(service)
    }
}
