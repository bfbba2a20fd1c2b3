//! The destination of the messages of a connection over HTTP.

use core::task::{Context, Poll};
use core::time::Duration;

use mcp_proto::{Channel, Outgoing, Receipt, SentToken};

/// Takes the messages of a connection over HTTP. It is called under the lock of the connection; a connection without one
/// is a pipe, whose driver writes the outbox.
pub(crate) trait Outbound: Outgoing + Send + 'static {
    /// Returns true if this channel has a reader now.
    fn is_read(&self, on: Channel) -> bool {
        let _ = on;
        false
    }

    /// Ready when a store has this message, or never will have it; wakes the task then.
    fn poll_stored(&mut self, cx: &Context<'_>, receipt: Receipt) -> Poll<()> {
        let _ = (cx, receipt);
        Poll::Ready(())
    }

    /// A request of ours is over.
    fn answered(&mut self, request: SentToken) {
        let _ = request;
    }

    /// Ends the connection of the client that reads this channel, so that it comes back after
    /// `retry`; the channel continues. Returns whether that is possible.
    fn disconnect(&mut self, on: Channel, retry: Duration) -> bool {
        let _ = (on, retry);
        false
    }
}
