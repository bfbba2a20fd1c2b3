//! A result that is not the last word on its request.

use core::fmt;
use core::time::Duration;

use mcp_proto::json::{Raw, RawBuf};

use super::handle::Client;

/// A result of a type that an extension defines, for what
/// [continues](super::Extension::result_type) from it.
pub struct Continuation {
    pub(super) client: Client<()>,
    pub(super) method: String,
    pub(super) result: RawBuf,
    pub(super) timeout: Option<Duration>,
    pub(super) max_duration: Option<Duration>,
}

impl Continuation {
    /// Returns the client that made the request, for further requests.
    pub const fn client(&self) -> &Client<()> {
        &self.client
    }

    /// Returns the method of the request.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Returns the result.
    pub fn result(&self) -> Raw<'_> {
        self.result.as_raw()
    }

    /// Returns how long the caller waits for an answer of the server, if it differs from the
    /// settings of the client.
    pub const fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// Returns how long the caller waits for the end from now on, if it said so. The request is
    /// not bounded otherwise.
    pub const fn max_duration(&self) -> Option<Duration> {
        self.max_duration
    }
}

impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}
