//! The destination of the messages of a connection.

use core::any::Any;
use core::task::{Context, Poll};
#[cfg(feature = "http-server")]
use core::time::Duration;

use mcp_proto::{Channel, SentToken, Transmit};

/// Takes the messages that leave a connection: a pipe does, and so does whatever answers an
/// exchange of HTTP.
///
/// It is called under the lock of the connection.
pub(crate) trait Outbound: Any + Send {
    /// Whether messages stay in the outbox, for the driver that writes it to a pipe. Nothing else
    /// of this trait is called then.
    fn is_pipe(&self) -> bool {
        false
    }

    /// Whether a message of the application may be added to this channel now.
    fn has_room(&self, on: Channel) -> bool;

    /// Whether something reads this channel now.
    #[cfg(feature = "server")]
    fn is_read(&self, on: Channel) -> bool {
        let _ = on;
        self.is_pipe()
    }

    /// Takes a message, which is in the outbox during this call only, and the request of ours that
    /// it is, if it is one. The message is empty where a channel ends without one. The sender waits
    /// for the receipt, if one is returned.
    fn take(
        &mut self,
        transmit: Transmit,
        request: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt>;

    /// Ready when a store has this message, or never will have it; wakes the task then.
    fn poll_stored(&mut self, cx: &Context<'_>, receipt: Receipt) -> Poll<()> {
        let _ = (cx, receipt);
        Poll::Ready(())
    }

    /// Whether a store does not have everything yet that was taken.
    #[cfg(feature = "http-server")]
    fn awaits_store(&self) -> bool {
        false
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

#[cfg(any(feature = "http-server", feature = "http-client"))]
impl dyn Outbound {
    /// The value itself, for those who made it.
    pub(crate) fn downcast_mut<T: Outbound>(&mut self) -> Option<&mut T> {
        let any: &mut dyn Any = self;
        any.downcast_mut()
    }
}

/// Names a message that a store has to take before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Receipt {
    pub(crate) channel: Channel,
    pub(crate) sequence: u64,
}

/// A pair of byte streams, to which the driver writes the outbox.
pub(crate) struct Pipe;

impl Outbound for Pipe {
    fn is_pipe(&self) -> bool {
        true
    }

    fn has_room(&self, _: Channel) -> bool {
        true
    }

    fn take(&mut self, _: Transmit, _: Option<SentToken>, _: &[u8]) -> Option<Receipt> {
        None
    }
}
