//! The environment of a call.

use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::model::LoggingLevel;
use mcp_proto::server::ProgressReport;
use mcp_proto::{Channel, Outcome, Payload, Receipt, Token};

use crate::connection::Answered;
use crate::server::caller::peer::Peer;
use crate::server::rounds::Rounds;

/// Serves the [`Context`](crate::server::Context)s of calls. A connection does; so can what keeps a call
/// running after the exchange that began it.
pub(crate) trait CallHost: Send + Sync {
    /// The connection that the call came from.
    fn peer(self: Arc<Self>) -> Peer;

    /// The time on the clock of the call.
    fn now(&self) -> mcp_proto::Instant;

    /// Returns the transport of the request, for its span.
    #[cfg(feature = "tracing")]
    fn transport(&self) -> crate::observe::Transport;

    /// The id of the request, as text for its span.
    #[cfg(feature = "tracing")]
    fn request_id(&self, call: Token) -> Option<String>;

    /// Returns true if the call belongs to a session that is held to the transports draft.
    fn is_held_to_draft(&self) -> bool;

    /// Returns true if the client still waits for the answer.
    fn is_live(&self, call: Token) -> bool;

    /// Returns true if the effects of the call still count for its client, as far as this process
    /// knows.
    fn is_current(&self, call: Token) -> bool {
        self.is_live(call)
    }

    /// Ready when the client waits no longer; wakes the task then. `number` is that of the future
    /// that waits, once it has one; it must be passed to [`leave_over`](Self::leave_over) when the
    /// future is dropped.
    fn poll_over(&self, cx: &Context<'_>, call: Token, number: &mut Option<u64>) -> Poll<()>;

    /// The future of this number waits no longer.
    fn leave_over(&self, _number: u64) {}

    /// Reports progress, and waits for room and for a store. Ready with whether the report was
    /// written or came too late; `false` for one that was dropped.
    fn poll_progress(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        call: (Token, Channel),
        progress: ProgressReport<'_>,
    ) -> Poll<bool>;

    /// Logs to the client, and waits for room and for a store.
    fn poll_log(
        &self,
        cx: &mut Context<'_>,
        receipt: &mut Option<Receipt>,
        call: (Token, Channel),
        message: Log<'_>,
    ) -> Poll<()>;

    /// Ends the connection of the client that waits on this channel, so that it comes back after
    /// `retry`. Returns whether that is possible.
    fn disconnect(&self, on: Channel, retry: Duration) -> bool;

    /// Answers the call, when there is room for the answer. `reports` says whether the call may have reported
    /// progress, which leaves before its answer.
    fn poll_respond(
        &self,
        cx: &mut Context<'_>,
        call: (Token, Channel),
        reports: bool,
        outcome: Outcome<'_>,
    ) -> Poll<Answered>;

    /// The call is over without an answer of its own.
    fn forget(&self, call: Token);

    /// Lets the call continue apart from the exchange in which it arrived. Ready with whether it
    /// does; a call that belongs to a connection never does.
    fn poll_detach(&self, _cx: &mut Context<'_>) -> Poll<bool> {
        Poll::Ready(false)
    }

    /// Returns true if the call may leave its exchange.
    fn may_detach(&self) -> bool {
        false
    }

    /// Returns true if the call has left its exchange.
    fn has_detached(&self) -> bool {
        false
    }

    /// Calls `look` once with the questions of all calls, and with the state of this one.
    fn look_at_rounds(&self, call: Token, look: &mut dyn FnMut(&mut Rounds, CallState));
}

/// A log message.
#[derive(Clone, Copy)]
pub(crate) struct Log<'a> {
    pub(in crate::server) level: LoggingLevel,
    pub(in crate::server) logger: Option<&'a str>,
    pub(in crate::server) data: &'a (dyn Payload + Sync),
}

/// The states of a call, which decide what it can still do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallState {
    /// The client waits for the answer.
    Live,
    /// It was answered or cancelled.
    Over,
    /// The connection has ended.
    Disconnected,
}
