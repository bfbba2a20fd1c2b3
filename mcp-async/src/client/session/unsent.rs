//! The messages of a client that leave in exchanges.

use std::collections::VecDeque;

use bytes::Bytes;
use mcp_proto::rpc::{Incoming, OwnedMessages};
use mcp_proto::{Channel, Outgoing, Receipt, SentToken, Transmit};

use crate::connection::Outbound;

/// A message with what its exchange has to know of it.
pub(crate) type UnsentMessage = OwnedMessages<Bytes>;

/// The message of a request that carries none.
pub(crate) fn no_message() -> UnsentMessage {
    UnsentMessage::written(Bytes::new())
}

/// The requests of an array, each as a message of its own.
pub(crate) fn requests_of(array: &UnsentMessage) -> Vec<UnsentMessage> {
    let mut text = vec![0; array.text().len()];
    let written = |element| match element {
        Incoming::Message(request) => {
            let len = request.encode(&mut text).ok()?;
            Some(UnsentMessage::written(Bytes::copy_from_slice(
                text.get(..len)?,
            )))
        }
        _ => None,
    };
    array.messages().filter_map(written).collect()
}

/// Messages whose exchanges have not begun, in their order.
pub(crate) struct UnsentMessages {
    messages: VecDeque<UnsentMessage>,
    /// Those of them that wait for a seat, from before the others.
    parked: VecDeque<UnsentMessage>,
    bytes: usize,
    /// The bytes that may wait before the application has to.
    limit: usize,
}

impl UnsentMessages {
    pub(crate) const fn new(limit: usize) -> Self {
        Self {
            messages: VecDeque::new(),
            parked: VecDeque::new(),
            bytes: 0,
            limit,
        }
    }

    /// Takes the next message; one that waits for a seat only if there is one.
    pub(crate) fn take_next(&mut self, has_seat: bool) -> Option<UnsentMessage> {
        let parked = if has_seat {
            self.parked.pop_front()
        } else {
            None
        };
        let message = parked.or_else(|| self.messages.pop_front())?;
        self.bytes = self.bytes.saturating_sub(message.text().len());
        Some(message)
    }

    /// Puts the message back that was taken last.
    pub(crate) fn put_back(&mut self, message: UnsentMessage) {
        self.bytes = self.bytes.saturating_add(message.text().len());
        self.messages.push_front(message);
    }

    /// Puts the message aside that was taken last, until there is a seat for it.
    pub(crate) fn park(&mut self, message: UnsentMessage) {
        self.bytes = self.bytes.saturating_add(message.text().len());
        self.parked.push_back(message);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.messages.is_empty() && self.parked.is_empty()
    }
}

impl Outgoing for UnsentMessages {
    fn has_room(&self, _: Channel) -> bool {
        self.bytes < self.limit
    }

    fn take(&mut self, _: Transmit, _: Option<SentToken>, message: &[u8]) -> Option<Receipt> {
        if !message.is_empty() {
            self.bytes = self.bytes.saturating_add(message.len());
            let message = Bytes::copy_from_slice(message);
            self.messages.push_back(OwnedMessages::written(message));
        }
        None
    }
}

impl Outbound for UnsentMessages {}
