//! The response to a request that is answered at once.

use super::{NEWLINE, Outgoing, Receipt};
use crate::action::{Channel, Transmit};
use crate::outbox::Outbox;
use crate::store::Store;
use crate::token::SentToken;

/// The destination of the messages of one request that is answered at once, without an allocator: the answer stays in the
/// outbox, from which the response is sent. The driver empties the outbox before the next request.
///
/// Arrays need [`Streams`](crate::server::http::streams::Streams): an answer without room in their buffer leaves by itself.
/// Only the answer is sent: what the application writes before it, progress for example, is not. A request that has to ask the
/// client is answered by what it needs (`input_required`). The module [`http`](crate::http) has an example.
#[derive(Clone, Debug, Default)]
pub struct AtOnce(Option<Transmit>);

impl AtOnce {
    /// The channel of the request, for its [`Source`](crate::Source).
    pub const CHANNEL: Channel = Channel::new(1);

    /// Returns the status and the body of the response. `verdict` is what
    /// [`PostStatus::get`](crate::http::PostStatus::get) says of the request. `None` if the request has no answer yet.
    pub fn response<'o, B: Store<u8>>(
        &self,
        verdict: Option<u16>,
        outbox: &'o Outbox<B>,
    ) -> Option<(u16, &'o [u8])> {
        if let Some(status) = verdict {
            return Some((status, b""));
        }
        let Transmit { status, len, .. } = self.0?;
        let pending = outbox.pending();
        let start = pending.len().checked_sub(len + NEWLINE)?;
        Some((status, pending.get(start..start + len)?))
    }
}

impl Outgoing for AtOnce {
    const STAYS: bool = true;

    fn has_room(&self, _: Channel) -> bool {
        self.0.is_none()
    }

    fn take(
        &mut self,
        transmit: Transmit,
        _: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        if transmit.end && !message.is_empty() {
            self.0 = Some(transmit);
        }
        None
    }
}
