//! The reasons for which a request has no reply.

use std::sync::Arc;

use super::carrier::Unsent;
use crate::error::AuthorizationError;

/// Reasons for which a request has no reply.
pub(super) enum NoReply {
    Unsent(Unsent),
    /// The client has no credentials that the server accepts.
    Denied(Arc<AuthorizationError>),
}

impl From<Unsent> for NoReply {
    fn from(unsent: Unsent) -> Self {
        Self::Unsent(unsent)
    }
}

impl From<Arc<AuthorizationError>> for NoReply {
    fn from(error: Arc<AuthorizationError>) -> Self {
        Self::Denied(error)
    }
}
