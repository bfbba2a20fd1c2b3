//! The destination of the messages of a connection over HTTP.

use core::task::{Context, Poll};
#[cfg(feature = "http-server")]
use core::time::Duration;

#[cfg(not(all(feature = "http-server", feature = "http-client")))]
use mcp_proto::Transmit;
use mcp_proto::{Channel, Outgoing, Receipt, SentToken};

/// Takes the messages of a connection over HTTP. It is called under the lock of the connection; a connection without one
/// is a pipe, whose driver writes the outbox.
pub(crate) trait Outbound: Outgoing + Send + 'static {
    /// Returns true if this channel has a reader now.
    #[cfg(feature = "server")]
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
    #[cfg(feature = "http-server")]
    fn disconnect(&mut self, on: Channel, retry: Duration) -> bool {
        let _ = (on, retry);
        false
    }
}

/// The destination of a role that knows pipes only.
#[cfg(not(all(feature = "http-server", feature = "http-client")))]
#[derive(Debug)]
pub(crate) enum NoOutbound {}

#[cfg(not(all(feature = "http-server", feature = "http-client")))]
impl Outgoing for NoOutbound {
    fn has_room(&self, _: Channel) -> bool {
        match *self {}
    }

    fn take(&mut self, _: Transmit, _: Option<SentToken>, _: &[u8]) -> Option<Receipt> {
        match *self {}
    }
}

#[cfg(not(all(feature = "http-server", feature = "http-client")))]
impl Outbound for NoOutbound {}
