//! An event over the limit, while it passes.

use crate::rpc::{Id, Salvage, Shape, readable};

/// What is kept of the event.
pub(super) struct Passing {
    salvage: Salvage,
    /// The text of its id, which is no id of ours if it is longer.
    id: [u8; DIGITS],
    id_len: usize,
    pub(super) told: bool,
}

impl Passing {
    pub(super) const fn new() -> Self {
        Self {
            salvage: Salvage::new(),
            id: [0; DIGITS],
            id_len: 0,
            told: false,
        }
    }

    pub(super) fn feed(&mut self, part: &[u8]) {
        let Self {
            salvage,
            id,
            id_len,
            ..
        } = self;
        salvage.feed(part, |byte| {
            if let Some(place) = id.get_mut(*id_len) {
                *place = byte;
            }
            *id_len = id_len.saturating_add(1);
        });
    }

    /// Whether it is a message of the server's own: a question or a notification.
    pub(super) const fn asks(&self) -> bool {
        matches!(self.salvage.shape(), Shape::Request | Shape::Notification)
    }

    /// The request that it answers, before its end.
    pub(super) fn early(&self) -> Option<u64> {
        self.salvage.is_identified_response().then(|| self.id())?
    }

    pub(super) fn whose(&self) -> Option<u64> {
        let answers = !self.asks() && self.salvage.has_one_id();
        answers.then(|| self.id())?
    }

    fn id(&self) -> Option<u64> {
        let text = self.id.get(..self.id_len)?;
        readable(text).and_then(Id::to_u64)
    }
}

/// Of the largest number, and white space behind it.
const DIGITS: usize = 32;
