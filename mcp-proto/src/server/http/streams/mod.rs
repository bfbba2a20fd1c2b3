//! The outgoing event streams of a server over HTTP.
//!
//! [`Streams`] belongs to one session, or to one exchange of a revision without sessions. The
//! log of a stream is its queue: live delivery, replay and polling are one read from a cursor.
//! It takes the messages of a [`Conversation`](crate::Conversation).

mod event_id;
mod response;
mod room;
mod store;
mod stream;
#[cfg(test)]
mod tests;

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use self::event_id::EventId;
use self::stream::{Dropped, Stream};
use crate::action::Channel;
use crate::http::Refusal;
use crate::rpc::OwnedMessages;
use crate::token::{MachineId, SentToken};

pub use self::response::StreamResponse;
pub use self::store::Append;

/// The streams of one session: the answers to each POST, and the session's own.
///
/// Messages go in by [`push`](Self::push), once, on the stream that the machine named, and come
/// out of [`read`](Self::read) as the events of that stream, never of another (SH-23, SH-26).
/// There is at most one reader of a stream; where a client comes twice the later reader wins, and the earlier one ends
/// with `retry`, so that two that come back do not displace each other without pause.
/// Nothing is allocated before the first message.
///
/// - [`open_for`](Self::open_for), [`listen`](Self::listen) and [`resume`](Self::resume) make readers,
///   [`detach`](Self::detach) ends one.
/// - [`has_room`](Self::has_room) says whether a producer has to wait, which it does where a
///   reader is slow. A stream without reader keeps its newest messages.
/// - Messages that were read are kept for replay until their room is needed.
///
/// No waker is kept here: after a `push` the driver wakes the reader, after a `read` the
/// writers that wait for room.
///
/// ```
/// use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, Streams};
///
/// let mut streams = Streams::new(Delivery::Resumable, StreamLimits::default());
/// let post = streams.open().unwrap();
/// streams.prime(post.channel());
/// streams.push(post.channel(), b"{\"progress\":1}", None, false);
///
/// let mut chunk = Vec::new();
/// assert_eq!(streams.read(&post, &mut chunk, 8192), StreamRead::Pending);
/// assert_eq!(chunk, b"id: 1-0\ndata:\n\nid: 1-1\ndata: {\"progress\":1}\n\n");
///
/// // The connection breaks, the answer comes, the client comes back.
/// streams.detach(&post);
/// streams.push(post.channel(), b"{\"id\":1}", None, true);
/// let again = streams.resume(b"1-1")?;
/// chunk.clear();
/// assert_eq!(streams.read(&again, &mut chunk, 8192), StreamRead::End);
/// assert_eq!(chunk, b"id: 1-2\ndata: {\"id\":1}\n\n");
/// # Ok::<(), mcp_proto::http::Refusal>(())
/// ```
pub struct Streams {
    /// Its readers are refused by all others.
    id: MachineId,
    delivery: Delivery,
    limits: StreamLimits,
    /// True if entries wait for a store.
    stored: bool,
    /// The session's own stream.
    own: Option<Box<Stream>>,
    /// Those of POSTs, by number.
    posts: VecDeque<Stream>,
    /// Open questions of the session's own stream whose entries had to go.
    questions: VecDeque<Dropped>,
    next: u32,
    readers: u32,
    events: usize,
    bytes: usize,
    /// The bytes that wait for readers that are there.
    unread: usize,
    over: bool,
}

/// The right to read a stream, until a later reader comes.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a stream whose reader is dropped without `detach` waits for it forever"]
pub struct StreamReader {
    streams: MachineId,
    channel: Channel,
    generation: u32,
}

/// The continuation of a stream after the bytes that were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum StreamRead {
    /// More, at once: the chunk is full.
    More,
    /// Nothing yet. The chunk ends between two events, so a comment may follow it (SH-42).
    Pending,
    /// The body ends after what was written, which may be a `retry` field for a displaced reader.
    End,
}

/// The bounds of the streams of one session. Every field can be set; none can be switched off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamLimits {
    /// Streams besides the session's own, finished ones included while they are kept. As many as
    /// requests may be in flight. There may be as many more of POSTs that are answered at once.
    pub streams: usize,
    /// Events that are kept for replay, of all streams together.
    pub events: usize,
    /// Bytes that these events may take together. A longer message is delivered, but not kept.
    pub bytes: usize,
    /// Bytes of one stream that wait to be read, before its producers have to wait too.
    pub unread: usize,
}

/// The form in which the messages of a stream are sent to the client, which depends on the
/// revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// From 2025-03-26 to 2025-11-25: events have ids, and are kept to be replayed (SH-24).
    Resumable,
    /// 2026-07-28: events have no ids, and are forgotten as soon as they are read.
    Once,
    /// 2024-11-05: as [`Once`](Self::Once), and each event names its type (HS-04).
    HttpSse,
}

impl Streams {
    /// No streams yet.
    pub fn new(delivery: Delivery, limits: StreamLimits) -> Self {
        Self {
            id: MachineId::next(),
            delivery,
            limits,
            stored: false,
            own: None,
            posts: VecDeque::new(),
            questions: VecDeque::new(),
            next: 1,
            readers: 0,
            events: 0,
            bytes: 0,
            unread: 0,
            over: false,
        }
    }

    /// The stream of a new POST, which is its first reader.
    ///
    /// # Errors
    /// [`Refusal::Unavailable`] if there are as many streams as there may be, and none is finished that could make room.
    pub fn open(&mut self) -> Result<StreamReader, Refusal> {
        self.open_among(self.limits.streams)
    }

    /// The stream of a new POST with this body. A body without [calls](OwnedMessages::calls), by which a client cancels its
    /// calls, answers questions, or sees that the server is alive, is answered at once: its stream may also be one of as
    /// many more beyond the limit.
    ///
    /// # Errors
    /// Those of [`open`](Self::open).
    pub fn open_for<T: AsRef<[u8]>>(
        &mut self,
        body: &OwnedMessages<T>,
    ) -> Result<StreamReader, Refusal> {
        match self.posts.len() >= self.limits.streams && body.calls() == 0 {
            true => self.open_among(self.limits.streams.saturating_mul(2)),
            false => self.open(),
        }
    }

    fn open_among(&mut self, most: usize) -> Result<StreamReader, Refusal> {
        while self.posts.len() >= most {
            self.remove_finished()?;
        }
        let channel = Channel::new(self.next);
        self.next = self.next.checked_add(1).ok_or(TOO_MANY)?;
        let generation = self.new_generation();
        let mut stream = Stream::new(channel, 1);
        stream.attach(generation, None);
        stream.undecided = true;
        if self.delivery == Delivery::Once {
            // A request without a session has one.
            self.posts.reserve_exact(1);
        }
        self.posts.push_back(stream);
        Ok(StreamReader {
            streams: self.id,
            channel,
            generation,
        })
    }

    /// A reader of the session's own stream, from the first unread message: a GET without
    /// `Last-Event-ID`. Open questions are then asked [again](Self::reopen).
    pub fn listen(&mut self) -> StreamReader {
        let generation = self.new_generation();
        self.own_mut().attach(generation, None);
        self.count(Channel::PIPE);
        StreamReader {
            streams: self.id,
            channel: Channel::PIPE,
            generation,
        }
    }

    /// Attaches a reader to the stream of this event, from the next event on: a GET with
    /// `Last-Event-ID` (SH-26).
    ///
    /// # Errors
    /// [`Refusal::EventUnknown`] if there is no such event, or no longer such a stream;
    /// [`Refusal::EventGone`] if what followed it is not kept any more;
    /// [`Refusal::StreamEnded`] if the stream has ended and nothing followed it.
    pub fn resume(&mut self, last_event_id: &[u8]) -> Result<StreamReader, Refusal> {
        let id = self.event_id(last_event_id)?;
        let generation = self.new_generation();
        let stream = self.stream_mut(id.channel).ok_or(Refusal::EventUnknown)?;
        if id.sequence >= stream.next() {
            return Err(Refusal::EventUnknown);
        }
        let from = id.sequence + 1;
        if from < stream.base() {
            return Err(Refusal::EventGone);
        }
        if from == stream.next() && stream.has_ended_here() {
            return Err(Refusal::StreamEnded);
        }
        stream.attach(generation, Some(from));
        self.count(id.channel);
        Ok(StreamReader {
            streams: self.id,
            channel: id.channel,
            generation,
        })
    }

    /// A reader of the session's own stream, whose open questions are asked again, or of the stream of this event.
    ///
    /// # Errors
    /// Those of [`resume`](Self::resume).
    pub fn attach(&mut self, last_event_id: Option<&[u8]>) -> Result<StreamReader, Refusal> {
        if let Some(id) = last_event_id {
            return self.resume(id);
        }
        let reader = self.listen();
        // Those that were answered were forgotten.
        self.reopen(|_| true);
        Ok(reader)
    }

    /// The reader's connection is over. It is no error if another has taken its place. A stream
    /// that cannot be resumed, because it gave no id, is gone then.
    pub fn detach(&mut self, reader: &StreamReader) {
        let once = self.delivery != Delivery::Resumable;
        let Some(stream) = self.read_by(reader) else {
            return;
        };
        stream.detach();
        let is_over = once || !stream.is_known() || (stream.ended && stream.len() == 0);
        self.count(reader.channel);
        if is_over {
            self.remove(reader.channel);
        }
        self.trim();
    }

    /// Puts one message, without line breaks, on a stream: where the machine said, as one event.
    /// No bytes and `end` are the end alone. `question` is the token of a request of ours.
    /// Returns the sequence number of the event; a message for a stream that is gone or has
    /// ended is dropped.
    pub fn push(
        &mut self,
        to: Channel,
        message: &[u8],
        question: Option<SentToken>,
        end: bool,
    ) -> Option<u64> {
        let settled = !self.stored;
        let to = self.target(to);
        let stream = match to {
            Channel::PIPE => self.own_mut(),
            post => self.stream_mut(post)?,
        };
        if stream.ended {
            return None;
        }
        stream.ended = end && to != Channel::PIPE;
        let question = question.filter(|_| to == Channel::PIPE);
        let sequence = (!message.is_empty()).then(|| stream.append(message, question, settled));
        if sequence.is_some() {
            self.added(to, message.len());
        }
        sequence
    }

    /// The whole answer, if it is the only message of a stream that has ended and was not read:
    /// it can leave as `application/json` (SH-09). The stream is over then, and its reader with
    /// it. Ask before the entries go to a store.
    pub fn single(&mut self, reader: &StreamReader) -> Option<Vec<u8>> {
        let stream = self.read_by(reader)?;
        if let Some(answer) = stream.answer.take() {
            self.forget(reader.channel);
            return Some(answer);
        }
        let message = stream.take_single()?;
        self.events = self.events.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(message.len());
        self.forget(reader.channel);
        Some(message)
    }

    /// Appends events to a chunk until it has about `max` bytes more; a long event is cut and
    /// continues in the next chunk. Send the bytes before acting on the returned value.
    pub fn read(&mut self, reader: &StreamReader, out: &mut Vec<u8>, max: usize) -> StreamRead {
        let (delivery, over) = (self.delivery, self.over);
        self.log_answer(reader);
        let Some(stream) = self.read_by(reader) else {
            if let Some(stream) = self.stream_of(reader) {
                stream.dismiss(reader.generation, out);
            }
            return StreamRead::End;
        };
        let read = match stream.read(delivery, out, max.max(1)) {
            StreamRead::Pending if over => StreamRead::End,
            read => read,
        };
        self.count(reader.channel);
        if delivery != Delivery::Resumable {
            while self.drop_read(reader.channel) {}
        }
        if read == StreamRead::End {
            self.detach(reader);
        }
        self.trim();
        read
    }

    /// Moves an answer that is kept apart to the log, because its reader gets events.
    fn log_answer(&mut self, reader: &StreamReader) {
        if let Some(stream) = self.read_by(reader)
            && let Some(answer) = stream.answer.take()
        {
            stream.append(&answer, None, true);
            self.added(reader.channel, answer.len());
        }
    }

    /// Counts a message that was appended.
    fn added(&mut self, to: Channel, bytes: usize) {
        self.events += 1;
        self.bytes = self.bytes.saturating_add(bytes);
        self.count(to);
        self.trim();
    }

    /// Gives the client an id to come back with before anything was said (SH-12); 2025-11-25
    /// wants that at once, earlier revisions do not know it. Returns the sequence number of the
    /// event, if there is need for one.
    pub fn prime(&mut self, on: Channel) -> Option<u64> {
        if self.delivery != Delivery::Resumable {
            return None;
        }
        let settled = !self.stored;
        let sequence = self.stream_mut(on)?.prime(settled)?;
        self.events += 1;
        self.trim();
        Some(sequence)
    }

    /// Ends the connection of the stream's reader after the last event, after telling it when to
    /// reconnect; the stream itself continues (SH-13). Says whether that is possible: only a
    /// client that has an id can come back.
    pub fn disconnect(&mut self, on: Channel, retry: Option<Duration>) -> bool {
        if self.delivery != Delivery::Resumable {
            return false;
        }
        let Some(stream) = self.stream(on).filter(|stream| stream.reader.is_some()) else {
            return false;
        };
        if !stream.is_primed() {
            self.prime(on);
        }
        if let Some(stream) = self.stream_mut(on) {
            stream.close(retry);
        }
        true
    }

    /// Asks the questions of the session's own stream again that were asked an earlier reader and
    /// are still open. Call it after [`listen`](Self::listen): that client has lost what was on
    /// the way.
    pub fn reopen(&mut self, mut still_open: impl FnMut(SentToken) -> bool) {
        let mut again = Vec::new();
        while let Some(kept) = self.questions.pop_front() {
            self.events = self.events.saturating_sub(1);
            self.bytes = self.bytes.saturating_sub(kept.message.len());
            again.push(kept);
        }
        again.extend(self.own_mut().take_questions());
        for Dropped { message, question } in again {
            if still_open(question) {
                self.push(Channel::PIPE, &message, Some(question), false);
            }
        }
    }

    /// A question was answered or abandoned: its entry is treated like all others.
    pub fn answered(&mut self, question: SentToken) {
        if let Some(own) = &mut self.own {
            own.forget_question(question);
        }
        let (mut events, mut bytes) = (0, 0);
        self.questions.retain(|kept| {
            let open = kept.question != question;
            if !open {
                events += 1;
                bytes += kept.message.len();
            }
            open
        });
        self.events = self.events.saturating_sub(events);
        self.bytes = self.bytes.saturating_sub(bytes);
    }

    /// Ends the session: every reader ends after the last event of its stream.
    pub fn finish(&mut self) {
        self.over = true;
    }

    /// Returns whether this stream has a reader.
    pub fn is_read(&self, channel: Channel) -> bool {
        self.stream(channel)
            .is_some_and(|stream| stream.reader.is_some())
    }

    /// Returns whether nothing more comes on this stream than what is there.
    pub fn has_ended(&self, channel: Channel) -> bool {
        self.stream(channel).is_none_or(|stream| stream.ended)
    }

    /// Returns whether any stream has a reader: such a session is not idle.
    pub fn has_readers(&self) -> bool {
        self.own.as_ref().is_some_and(|own| own.reader.is_some())
            || self.posts.iter().any(|stream| stream.reader.is_some())
    }

    /// The stream for messages on this channel. A request without a session has one response, which carries also the
    /// messages that belong to no request.
    fn target(&self, channel: Channel) -> Channel {
        match self.posts.front() {
            Some(post)
                if self.delivery == Delivery::Once
                    && self.own.is_none()
                    && channel == Channel::PIPE =>
            {
                post.channel
            }
            _ => channel,
        }
    }

    fn new_generation(&mut self) -> u32 {
        self.readers = self.readers.wrapping_add(1);
        self.readers
    }

    fn event_id(&self, text: &[u8]) -> Result<EventId, Refusal> {
        EventId::parse(text)
            .filter(|_| self.delivery == Delivery::Resumable)
            .ok_or(Refusal::EventUnknown)
    }

    fn own_mut(&mut self) -> &mut Stream {
        self.own
            .get_or_insert_with(|| Box::new(Stream::new(Channel::PIPE, 1)))
    }

    fn stream(&self, channel: Channel) -> Option<&Stream> {
        match channel {
            Channel::PIPE => self.own.as_deref(),
            post => self.posts.get(self.index(post).ok()?),
        }
    }

    fn stream_mut(&mut self, channel: Channel) -> Option<&mut Stream> {
        match channel {
            Channel::PIPE => self.own.as_deref_mut(),
            post => self
                .index(post)
                .ok()
                .and_then(|index| self.posts.get_mut(index)),
        }
    }

    fn index(&self, post: Channel) -> Result<usize, usize> {
        self.posts
            .binary_search_by_key(&post.number(), |stream| stream.channel.number())
    }

    fn stream_of(&mut self, reader: &StreamReader) -> Option<&mut Stream> {
        match reader.streams == self.id {
            true => self.stream_mut(reader.channel),
            false => None,
        }
    }

    fn read_by(&mut self, reader: &StreamReader) -> Option<&mut Stream> {
        self.stream_of(reader)
            .filter(|stream| stream.reader == Some(reader.generation))
    }
}

impl StreamReader {
    /// The stream that it reads, which is the channel of the POST's messages.
    pub const fn channel(&self) -> Channel {
        self.channel
    }
}

impl fmt::Debug for Streams {
    /// Shows numbers only; the messages may be confidential.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams")
            .field("delivery", &self.delivery)
            .field("posts", &self.posts.len())
            .field("events", &self.events)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl Default for StreamLimits {
    /// 1,024 streams, 256 events in 4 MiB, and 256 KiB that wait to be read.
    fn default() -> Self {
        Self {
            streams: 1024,
            events: 256,
            bytes: 4 << 20,
            unread: 256 << 10,
        }
    }
}

const TOO_MANY: Refusal = Refusal::Unavailable("the session has too many streams");
