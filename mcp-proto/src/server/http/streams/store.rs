//! Streams whose entries must be stored before they are read.

use core::fmt;

use super::Streams;
use super::stream::Stream;
use crate::action::Channel;
use crate::http::Refusal;

/// An entry on its way to a store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Append<'e> {
    /// Its stream.
    pub channel: Channel,
    /// Its number in the stream; those of one stream follow each other.
    pub sequence: u64,
    /// The message; none if it is a priming event, or the end alone.
    pub message: &'e [u8],
    /// True if the stream ends after this entry.
    pub end: bool,
}

/// Without the message, which is not for logs.
impl fmt::Debug for Append<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Append")
            .field("channel", &self.channel)
            .field("sequence", &self.sequence)
            .field("bytes", &self.message.len())
            .field("end", &self.end)
            .finish()
    }
}

impl Streams {
    /// From now on an entry is read only when it and all before it on its stream are
    /// [settled](Self::settle). The priming event that begins a stream, number 0, needs no store.
    ///
    /// ```
    /// use mcp_proto::Channel;
    /// use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, Streams};
    ///
    /// let mut streams = Streams::new(Delivery::Resumable, StreamLimits::default()).stored();
    /// let reader = streams.listen();
    /// streams.push(Channel::PIPE, b"{}", None, false);
    /// let mut chunk = Vec::new();
    /// assert_eq!(streams.read(&reader, &mut chunk, 100), StreamRead::Pending);
    /// assert!(chunk.is_empty());
    ///
    /// let append = streams.poll_append().unwrap();
    /// let (channel, sequence) = (append.channel, append.sequence);
    /// // The store takes it, in its time. Then:
    /// streams.settle(channel, sequence);
    /// assert_eq!(streams.read(&reader, &mut chunk, 100), StreamRead::Pending);
    /// assert_eq!(chunk, b"id: 0-1\ndata: {}\n\n");
    /// ```
    #[must_use]
    pub const fn stored(mut self) -> Self {
        self.stored = true;
        self
    }

    /// Returns whether entries wait for a store.
    pub const fn is_stored(&self) -> bool {
        self.stored
    }

    /// The next entry that the store has to take. Ask after a `push`, `prime`, `disconnect`,
    /// `reopen` or `detach`, until it returns `None`; each entry is returned once, those of a
    /// stream in their order. An entry of a POST's stream is not returned before the first
    /// [`read`](Self::read) or [`prime`](Self::prime): until then it may be a
    /// [`single`](Self::single) answer.
    pub fn poll_append(&mut self) -> Option<Append<'_>> {
        if !self.stored {
            return None;
        }
        let streams = self.own.as_deref_mut().into_iter().chain(&mut self.posts);
        for stream in streams {
            let channel = stream.channel;
            if let Some((sequence, message, end)) = stream.hand() {
                return Some(Append {
                    channel,
                    sequence,
                    message,
                    end,
                });
            }
        }
        None
    }

    /// The store has this entry, or will never have it: it can be read.
    pub fn settle(&mut self, channel: Channel, sequence: u64) {
        if let Some(stream) = self.stream_mut(channel) {
            stream.settle(sequence);
        }
        self.trim();
    }

    /// Returns whether this entry is settled or was dropped.
    pub fn is_settled(&self, channel: Channel, sequence: u64) -> bool {
        self.stream(channel)
            .is_none_or(|stream| stream.is_settled(sequence))
    }

    /// Returns true if some entries of the streams are not settled yet.
    pub fn has_unsettled(&self) -> bool {
        let streams = self.own.as_deref().into_iter().chain(&self.posts);
        self.stored && streams.into_iter().any(Stream::has_unsettled)
    }

    /// Ends the connection of each reader that can [come back](Self::resume), or whose next entry
    /// the store does not take, after the last entry that it can read now; `on_each` gets their
    /// streams. Streams that can be resumed continue, here or in another process.
    pub fn interrupt_readers(&mut self, mut on_each: impl FnMut(Channel)) {
        let streams = self.own.as_deref_mut().into_iter().chain(&mut self.posts);
        let is_held_up = |stream: &&mut Stream| {
            stream.reader.is_some() && (stream.is_known() || stream.has_unsettled())
        };
        for stream in streams.filter(is_held_up) {
            stream.interrupt();
            on_each(stream.channel);
        }
    }

    /// The stream and the number that an event id names: what to ask a store for when
    /// [`resume`](Self::resume) does not know it any more, or not yet.
    ///
    /// # Errors
    /// [`Refusal::EventUnknown`] if it is no id of ours.
    pub fn named(&self, last_event_id: &[u8]) -> Result<(Channel, u64), Refusal> {
        self.event_id(last_event_id)
            .map(|id| (id.channel, id.sequence))
    }

    /// Gives new streams numbers from `first` on: a process that carries a session on must not
    /// repeat those of the process before it. A number that was passed already changes nothing.
    pub fn number_from(&mut self, first: u32) {
        self.next = self.next.max(first);
    }

    /// Puts entries back that a store kept: `first` and those behind it, without a gap, and of a
    /// stream that is known here up to its oldest entry at least. `end` says that no more will
    /// come: the stream of a POST is over, or the process that continued it is. Call
    /// [`resume`](Self::resume) at once; until then their room may be needed for others. A stream
    /// that was not known before is forgotten again when that reader goes: what else comes may
    /// come to the store alone.
    ///
    /// ```
    /// use mcp_proto::Channel;
    /// use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, Streams};
    ///
    /// // Another process took events 1 to 3 of stream 7 to the store, and died.
    /// let mut streams = Streams::new(Delivery::Resumable, StreamLimits::default()).stored();
    /// streams.number_from(1 << 20);
    /// let (channel, last) = streams.named(b"7-1")?;
    /// assert_eq!((channel, last), (Channel::new(7), 1));
    /// let events: [&[u8]; 2] = [b"{\"progress\":2}", b"{\"id\":9}"];
    /// assert!(streams.restore(channel, last + 1, events, true));
    /// let reader = streams.resume(b"7-1")?;
    /// let mut chunk = Vec::new();
    /// assert_eq!(streams.read(&reader, &mut chunk, 1000), StreamRead::End);
    /// assert!(chunk.ends_with(b"id: 7-3\ndata: {\"id\":9}\n\n"));
    /// # Ok::<(), mcp_proto::http::Refusal>(())
    /// ```
    ///
    /// Returns whether they fit together; if not, nothing changed.
    pub fn restore<'e>(
        &mut self,
        channel: Channel,
        first: u64,
        events: impl IntoIterator<Item = &'e [u8]>,
        end: bool,
    ) -> bool {
        if let Some(stream) = self.stream_mut(channel) {
            let (events_before, bytes_before) = (stream.len(), stream.bytes());
            let fits = stream.precede(first, events);
            let events = stream.len().saturating_sub(events_before);
            let bytes = stream.bytes().saturating_sub(bytes_before);
            self.events = self.events.saturating_add(events);
            self.bytes = self.bytes.saturating_add(bytes);
            self.count(channel);
            return fits;
        }
        if self.posts.len() >= self.limits.streams && self.remove_finished().is_err() {
            return false;
        }
        let mut stream = Stream::new(channel, first);
        for message in events {
            stream.append(message, None, true);
        }
        stream.deliver();
        stream.foreign = true;
        stream.ended = end && channel != Channel::PIPE;
        self.events = self.events.saturating_add(stream.len());
        self.bytes = self.bytes.saturating_add(stream.bytes());
        if channel == Channel::PIPE {
            self.own = Some(alloc::boxed::Box::new(stream));
            return true;
        }
        if let Err(index) = self.index(channel) {
            self.posts.insert(index, stream);
        }
        true
    }
}
