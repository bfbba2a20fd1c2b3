//! The origin of a message.

#[cfg(feature = "http-server")]
use std::sync::Arc;

use mcp_proto::Channel;

/// The origin of a message.
#[derive(Clone)]
pub(crate) struct Arrived {
    pub(crate) channel: Channel,
    /// The head of its HTTP request.
    #[cfg(feature = "http-server")]
    pub(crate) head: Option<Arc<http::request::Parts>>,
}

impl Default for Arrived {
    /// From a pipe.
    fn default() -> Self {
        Self {
            channel: Channel::PIPE,
            #[cfg(feature = "http-server")]
            head: None,
        }
    }
}

impl Arrived {
    /// Returns the value of this type that middleware has added to the HTTP request.
    #[cfg(feature = "http-server")]
    pub(super) fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.head.as_deref()?.extensions.get()
    }

    /// A pipe has no middleware.
    #[cfg(not(feature = "http-server"))]
    pub(super) const fn extension<T>(&self) -> Option<&T> {
        None
    }
}
