//! Turns messages of the client into exchanges.

use std::collections::VecDeque;

use bytes::Bytes;
use mcp_proto::{Channel, SentToken, Transmit};

use crate::client::Machine;
use crate::connection::{Core, Outbound, Receipt};

/// Messages whose exchanges have not begun, in their order.
pub(super) struct Outgoing {
    messages: VecDeque<Bytes>,
    /// Those of them that wait for a seat, from before the others.
    parked: VecDeque<Bytes>,
    bytes: usize,
    /// The bytes that may wait before the application has to.
    limit: usize,
}

impl Outgoing {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            parked: VecDeque::new(),
            bytes: 0,
            limit,
        }
    }

    /// Those of this connection.
    pub(super) fn of(core: &mut Core<Machine>) -> Option<&mut Self> {
        core.outbound.downcast_mut()
    }

    /// Takes the next message; one that waits for a seat only if there is one.
    pub(super) fn take_next(&mut self, has_seat: bool) -> Option<Bytes> {
        let parked = if has_seat {
            self.parked.pop_front()
        } else {
            None
        };
        let message = parked.or_else(|| self.messages.pop_front())?;
        self.bytes = self.bytes.saturating_sub(message.len());
        Some(message)
    }

    /// Puts the message back that was taken last.
    pub(super) fn put_back(&mut self, message: Bytes) {
        self.bytes = self.bytes.saturating_add(message.len());
        self.messages.push_front(message);
    }

    /// Puts the message aside that was taken last, until there is a seat for it.
    pub(super) fn park(&mut self, message: Bytes) {
        self.bytes = self.bytes.saturating_add(message.len());
        self.parked.push_back(message);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.parked.is_empty()
    }
}

impl Outbound for Outgoing {
    fn has_room(&self, _: Channel) -> bool {
        self.bytes < self.limit
    }

    fn take(&mut self, _: Transmit, _: Option<SentToken>, message: &[u8]) -> Option<Receipt> {
        if !message.is_empty() {
            self.bytes = self.bytes.saturating_add(message.len());
            self.messages.push_back(Bytes::copy_from_slice(message));
        }
        None
    }
}
