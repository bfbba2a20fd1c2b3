//! An event over the limit, while it passes.

use crate::rpc::{Id, Overlong, Shape, readable};

/// The part of an event over the limit that is kept.
pub(super) struct Passing {
    message: Overlong<DIGITS>,
    pub(super) told: bool,
}

impl Passing {
    pub(super) const fn new() -> Self {
        Self {
            message: Overlong::new(),
            told: false,
        }
    }

    pub(super) fn feed(&mut self, part: &[u8]) {
        self.message.feed(part);
    }

    /// Returns true if the event is a message of the server's own: a question or a notification.
    pub(super) const fn asks(&self) -> bool {
        let shape = self.message.salvage.shape();
        matches!(shape, Shape::Request | Shape::Notification)
    }

    /// The request that it answers, before its end.
    pub(super) fn early(&self) -> Option<u64> {
        let is_answer = self.message.salvage.is_identified_response();
        is_answer.then(|| self.id())?
    }

    pub(super) fn whose(&self) -> Option<u64> {
        (!self.asks()).then(|| self.id())?
    }

    /// A text that is longer is no id of this client.
    fn id(&self) -> Option<u64> {
        readable(self.message.id()?).and_then(Id::to_u64)
    }
}

/// Of the largest number, and white space behind it.
const DIGITS: usize = 32;
