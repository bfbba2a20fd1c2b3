//! The record of a request that has ended.

use core::time::Duration;

use mcp_proto::Revision;

use crate::call_outcome::CallOutcome;

/// A request that has ended, for the operator who has to know later who did what: without arguments, results, tokens and the
/// id of the session.
///
/// On a server the layer [`Audit`](crate::server::layers::Audit) makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The name of the verified sender.
    pub principal: Option<String>,
    /// A text of 16 hexadecimal digits that all requests of one session over HTTP share. It is made of the id of the session, and gives no
    /// access to it.
    pub session: Option<String>,
    /// The method, for example `tools/call`.
    pub method: String,
    /// The name of the tool or the prompt, or the URI of the resource without user, query and fragment; at most 128 characters of it,
    /// control characters escaped. `None` for other methods.
    pub subject: Option<String>,
    /// The revision of the request.
    pub revision: Revision,
    /// The outcome. A handler that panicked or took too long has ended with error -32603.
    pub outcome: CallOutcome,
    /// The time from the start of the request to its end, by the clock of the runtime, in milliseconds.
    pub duration: Duration,
}
