//! A result that is not the last word on its request.

use core::fmt;
use core::time::Duration;

use mcp_proto::json::Raw;

use crate::client::handle::Client;
use crate::client::state::extensions::IntermediateResult;

/// A result of a type that an extension defines, for what
/// [continues](crate::client::Extension::result_type) from it.
pub struct Continuation {
    pub(in crate::client) client: Client,
    pub(in crate::client) intermediate: IntermediateResult,
}

impl Continuation {
    /// Returns the client that made the request, for further requests.
    pub const fn client(&self) -> &Client {
        &self.client
    }

    /// Returns the method of the request.
    pub fn method(&self) -> &str {
        &self.intermediate.method
    }

    /// Returns the result.
    pub fn result(&self) -> Raw<'_> {
        self.intermediate.result.as_raw()
    }

    /// Returns how long the caller waits for an answer of the server, if it differs from the
    /// settings of the client.
    pub const fn timeout(&self) -> Option<Duration> {
        self.intermediate.timeout
    }

    /// Returns how long the caller waits for the end from now on, if it said so. The request is
    /// not bounded otherwise.
    pub const fn max_duration(&self) -> Option<Duration> {
        self.intermediate.max_duration
    }
}

impl fmt::Debug for Continuation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Continuation")
            .field("method", &self.intermediate.method)
            .finish_non_exhaustive()
    }
}
