//! The authenticated sender of a request.

use core::fmt;
use std::sync::Arc;

/// Who sends a request, as whatever stands in front of the server has verified it: put it into
/// the request's extensions.
///
/// Handlers find it in [`CallContext::principal`](crate::server::CallContext::principal), request states
/// are bound to it (MR-08), and a legacy session serves nobody but who opened it (SH-43).
///
/// ```
/// use mcp_async::http::Principal;
///
/// let mut request = http::Request::new(());
/// request.extensions_mut().insert(Principal::new("ada"));
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Principal(pub(super) Arc<str>);

impl Principal {
    /// A principal of this name: whatever tells one from another.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(name.into())
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Principal {
    /// Without the name, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Principal")
    }
}
