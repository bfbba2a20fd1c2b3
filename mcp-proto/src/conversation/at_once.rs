//! The response to a request that is answered at once.

use super::{Outgoing, Receipt};
use crate::action::{Channel, Transmit};
use crate::token::SentToken;

/// The destination of the messages of one request that is answered at once, without an allocator: the answer stays in the
/// outbox, from which the response is sent.
///
/// It has room for one message, so there is no progress, and a request that asks the client is answered by what it needs
/// (`input_required`). The module [`http`](crate::http) has an example.
#[derive(Clone, Copy, Debug, Default)]
pub struct AtOnce {
    sent: Option<Transmit>,
    several: bool,
}

impl AtOnce {
    /// The channel of the request, for its [`Source`](crate::Source).
    pub const CHANNEL: Channel = Channel::new(1);

    /// Returns the status of the response, and the length of the message in the outbox that is its body. `verdict` is what
    /// [`Action::http_status`](crate::Action::http_status) said of the request. `None` if the request has no
    /// answer yet, or more than one message.
    pub const fn response(&self, verdict: Option<u16>) -> Option<(u16, usize)> {
        match (verdict, self.sent) {
            (Some(status), _) => Some((status, 0)),
            (None, Some(Transmit { status, len, .. })) if !self.several => Some((status, len)),
            (None, _) => None,
        }
    }
}

impl Outgoing for AtOnce {
    const STAYS: bool = true;

    fn has_room(&self, _: Channel) -> bool {
        self.sent.is_none()
    }

    fn take(
        &mut self,
        transmit: Transmit,
        _: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        if !message.is_empty() {
            self.several |= self.sent.is_some();
            self.sent = Some(transmit);
        }
        None
    }
}
