//! The verified sender of a request, as the extensions of its head hold it.

use std::sync::Arc;

use http::request::Parts;

use crate::server::Principal;

/// The verified sender of the request.
pub(super) fn principal(parts: &Parts) -> Option<Principal> {
    parts.extensions.get().cloned()
}

/// The name of the verified sender, which owns what the request begins.
pub(super) fn owner(parts: &Parts) -> Option<Arc<str>> {
    parts.extensions.get().map(Principal::shared_name)
}
