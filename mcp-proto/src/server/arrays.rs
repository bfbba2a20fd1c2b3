//! The arrays of a legacy session, whose answers leave as one (JR-15, JR-18).

use crate::action::Channel;
use crate::batch::{Batch, Reading};
use crate::store::Table;

/// The array that is being read, the answers of the one that is being gathered, and the exchanges
/// of both.
pub(super) struct Arrays<B> {
    pub(super) batch: Batch<B>,
    /// The channel of the array that is being read.
    read_from: Channel,
    /// The channel of the array whose answers are being gathered.
    gathered_for: Channel,
}

impl<B: Table<u8>> Arrays<B> {
    pub(super) fn new(store: B, limit: usize) -> Self {
        Self {
            batch: Batch::new(store, limit),
            read_from: Channel::PIPE,
            gathered_for: Channel::PIPE,
        }
    }

    /// An array begins, which came on this channel.
    pub(super) fn start(&mut self, allowed: bool, from: Channel) {
        self.batch.start(allowed);
        self.read_from = from;
        if self.batch.reading() == Reading::Gathered {
            self.gathered_for = from;
        }
    }

    /// Ends the array that is being read. Returns its channel, if the array is answered.
    pub(super) fn end(&mut self) -> Option<Channel> {
        let answered = self.batch.is_counted() && !self.batch.is_refused();
        self.batch.end();
        answered.then_some(self.read_from)
    }

    /// Returns the channel of the gathered answers, if they are complete.
    pub(super) fn ready(&self) -> Option<Channel> {
        self.batch.is_ready().then_some(self.gathered_for)
    }

    /// Returns true if an array is still being read from this channel, or its answers are still to
    /// be sent on it.
    pub(super) fn occupies(&self, channel: Channel) -> bool {
        (self.gathered_for == channel && self.batch.holds())
            || (self.read_from == channel && self.batch.is_reading())
    }

    /// Forgets everything: the connection is over.
    pub(super) fn clear(&mut self) {
        self.batch.clear();
    }
}
