//! Extensions that a call cannot do without.

use mcp_proto::json::RawBuf;

use crate::server::call::context::CallContext;
use crate::server::call::handler_error::HandlerError;

impl CallContext {
    /// Returns the settings of an extension that the client declares, like
    /// [`client_extension`](Self::client_extension).
    ///
    /// # Errors
    /// The client does not declare it: [`HandlerError::missing_extension`].
    pub fn require_extension(&self, name: &str) -> Result<RawBuf, HandlerError> {
        let settings = self.client_extension(name);
        settings.ok_or_else(|| HandlerError::missing_extension(name))
    }
}
