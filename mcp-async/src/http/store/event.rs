//! The events of sessions.

use core::fmt;

/// One event of one stream of one session.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent<'a> {
    /// The id of the session.
    pub session: &'a str,
    /// The epoch in which the process that made it owns the session.
    pub epoch: u32,
    /// The number of the stream; 0 is the session's own.
    pub stream: u32,
    /// The number of the event in the stream.
    pub sequence: u64,
    /// The message. It may be empty: the event only has a number, or is the end of a stream that
    /// ends without a message.
    pub message: &'a [u8],
    /// True if the stream ends with the event. An end without a message is no event to be replayed,
    /// only a fact about the stream.
    pub end: bool,
}

/// The events of a stream after a given event.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Replay {
    messages: Vec<Vec<u8>>,
    ended: bool,
}

impl<'a> StoredEvent<'a> {
    /// An event of the first epoch that does not end its stream, to test a store with;
    /// [`epoch`](Self::epoch) and [`end`](Self::end) can be set.
    pub const fn new(session: &'a str, stream: u32, sequence: u64, message: &'a [u8]) -> Self {
        Self {
            session,
            epoch: 0,
            stream,
            sequence,
            message,
            end: false,
        }
    }

    /// Returns true if the event is the end of its stream and nothing else.
    pub(super) const fn is_end_alone(&self) -> bool {
        self.end && self.message.is_empty()
    }
}

impl Replay {
    /// Creates a replay of these events, in their order, of a stream that continues.
    pub const fn new(messages: Vec<Vec<u8>>) -> Self {
        Self {
            messages,
            ended: false,
        }
    }

    /// Marks the stream as ended after them.
    #[must_use]
    pub const fn ended(mut self) -> Self {
        self.ended = true;
        self
    }

    /// The events.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.messages.iter().map(Vec::as_slice)
    }

    /// Returns whether the stream has ended after them.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }
}

impl fmt::Debug for StoredEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredEvent")
            .field("epoch", &self.epoch)
            .field("stream", &self.stream)
            .field("sequence", &self.sequence)
            .field("bytes", &self.message.len())
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("events", &self.messages.len())
            .field("ended", &self.ended)
            .finish()
    }
}
