//! One stream: a log of messages and the position of its reader.

use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;

use super::event_id::EventId;
use super::response::PostOutcome;
use super::{Delivery, StreamRead};
use crate::action::Channel;
use crate::frame::sse;
use crate::token::SentToken;

/// The messages of a stream one behind the other in one buffer, with the boundaries beside it.
///
/// Places in the log are counted from the stream's beginning, so that they stay what they are
/// when its front is dropped; entries are named by their sequence number.
pub(super) struct Stream {
    pub(super) channel: Channel,
    log: Vec<u8>,
    /// The place of the first byte in `log`.
    origin: u64,
    entries: VecDeque<Entry>,
    /// The sequence number of the oldest entry that is kept, and its place.
    base: u64,
    start: u64,
    /// The entry that the reader gets next, and the number of its bytes that were read.
    cursor: u64,
    part: Option<usize>,
    /// Older entries were read to their end.
    delivered: u64,
    /// True if the reader has an id to resume from.
    primed: bool,
    /// Whatever is older was handed to the store.
    handed: u64,
    end_handed: bool,
    /// True if the only message of the stream may still become an answer without events, which no
    /// store needs.
    pub(super) undecided: bool,
    /// The outcome of the messages of its POST.
    pub(super) outcome: Option<PostOutcome>,
    /// The whole answer to a request of [`Delivery::Once`], while it may still leave without events.
    pub(super) answer: Option<Vec<u8>>,
    /// The status that its first message asks for, and whether that is an error response.
    pub(super) first: Option<(u16, bool)>,
    /// True if the stream was restored for one reader, and its messages come from elsewhere.
    pub(super) foreign: bool,
    /// True if the stream ever had entry 0.
    primed_first: bool,
    pub(super) reader: Option<u32>,
    /// Its bytes in [`Streams::unread_by_readers`](super::Streams::unread_by_readers).
    pub(super) counted: usize,
    /// The reader before, if it lost its place between two events and does not know that yet.
    displaced: Option<u32>,
    pub(super) ended: bool,
    closing: Option<Closing>,
}

/// One message; an empty one is a priming event (SH-12).
struct Entry {
    /// The place behind it.
    end: u64,
    question: Option<SentToken>,
    settled: bool,
}

/// The reader's connection ends before this entry, the stream does not (SH-13).
struct Closing {
    before: u64,
    retry: Option<Duration>,
}

/// An entry that was taken out.
pub(super) struct Dropped {
    pub(super) message: Vec<u8>,
    pub(super) question: SentToken,
}

impl Stream {
    /// A stream whose first message will have this sequence number.
    pub(super) fn new(channel: Channel, base: u64) -> Self {
        Self {
            channel,
            log: Vec::new(),
            origin: 0,
            entries: VecDeque::new(),
            base,
            start: 0,
            cursor: base,
            part: None,
            delivered: base,
            primed: false,
            handed: base,
            end_handed: false,
            undecided: false,
            outcome: None,
            answer: None,
            first: None,
            foreign: false,
            primed_first: false,
            reader: None,
            counted: 0,
            displaced: None,
            ended: false,
            closing: None,
        }
    }

    /// The sequence number that the next entry gets.
    pub(super) fn next(&self) -> u64 {
        self.base.saturating_add(self.entries.len() as u64)
    }

    /// The sequence number of the oldest entry that is kept.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if it has messages, or an answer that is kept apart.
    pub(super) fn has_message(&self) -> bool {
        self.answer.is_some() || self.len() > 0
    }

    pub(super) fn bytes(&self) -> usize {
        clamp(self.place(self.next()).saturating_sub(self.start))
    }

    /// Bytes that are unread, or that a returning reader reads again.
    pub(super) fn unread(&self) -> usize {
        clamp(
            self.place(self.next())
                .saturating_sub(self.place(self.done())),
        )
    }

    /// The bytes that wait for a reader that is there.
    pub(super) fn unread_by_reader(&self) -> usize {
        self.reader.map_or(0, |_| self.unread())
    }

    /// Entries that are not awaited, and their bytes.
    pub(super) fn droppable(&self) -> (usize, usize) {
        let done = self.done();
        let bytes = self.place(done).saturating_sub(self.start);
        (clamp(done.saturating_sub(self.base)), clamp(bytes))
    }

    /// Returns whether an unread entry can be dropped: it is not being stored.
    pub(super) fn is_losable(&self) -> bool {
        self.reader.is_none() && self.entries.front().is_some_and(|entry| entry.settled)
    }

    /// Returns whether the stream is complete, without reader, and stored as a whole.
    pub(super) fn is_finished(&self) -> bool {
        let handed = || self.handed >= self.next() || !self.has_unsettled();
        self.ended && self.reader.is_none() && handed()
    }

    /// Returns true if no message follows those that are kept. A stream that was restored from a
    /// store may continue in another process.
    pub(super) fn has_ended_here(&self) -> bool {
        self.ended && !self.foreign
    }

    pub(super) fn is_delivered(&self) -> bool {
        self.delivered >= self.next()
    }

    /// Returns true if the next entry that the reader gets can be read.
    pub(super) fn is_readable(&self) -> bool {
        self.entry(self.cursor).is_some_and(|entry| entry.settled)
    }

    pub(super) fn append(
        &mut self,
        message: &[u8],
        question: Option<SentToken>,
        settled: bool,
    ) -> u64 {
        let sequence = self.next();
        let end = self.place(sequence).saturating_add(message.len() as u64);
        if self.log.is_empty() {
            // Most streams carry one message.
            self.log.reserve_exact(message.len());
        }
        self.log.extend_from_slice(message);
        self.entries.push_back(Entry {
            end,
            question,
            settled,
        });
        sequence
    }

    /// Keeps a message that ends the stream apart from the log, if nothing came before it and its reader has not begun.
    /// Returns true if it is kept so.
    pub(super) fn keep_answer(&mut self, message: &[u8]) -> bool {
        let is_whole =
            self.undecided && !self.ended && self.reader.is_some() && self.entries.is_empty();
        if is_whole {
            self.answer = Some(message.to_vec());
            self.ended = true;
        }
        is_whole
    }

    /// The id that a client is given first is 0 (SSE-11), and older than all messages, those that
    /// are there already included: their first may be long, and break. A later one is an entry
    /// like others, and `None` if there is something to read, which has an id, or if the stream has
    /// ended.
    pub(super) fn prime(&mut self, settled: bool) -> Option<u64> {
        self.undecided = false;
        let fresh = self.base == 1 && self.cursor == 1 && self.part.is_none();
        if fresh && !self.primed_first {
            self.primed_first = true;
            self.base = 0;
            self.cursor = 0;
            self.delivered = 0;
            self.handed = self.handed.max(1);
            self.entries.push_front(Entry {
                end: self.start,
                question: None,
                settled: true,
            });
            return Some(0);
        }
        (!self.ended && self.cursor >= self.next()).then(|| self.append(b"", None, settled))
    }

    /// Puts a reader behind what others have read, or at `from`.
    pub(super) fn attach(&mut self, generation: u32, from: Option<u64>) {
        // Inside an event there is no place for a field.
        self.displaced = self.reader.filter(|_| self.part.is_none());
        self.reader = Some(generation);
        self.cursor = from.unwrap_or(self.delivered).max(self.base);
        self.part = None;
        self.primed = from.is_some();
        self.closing = None;
    }

    /// Tells a reader whose place another one has when to come back: at once, it would take that place in turn.
    pub(super) fn dismiss(&mut self, generation: u32, out: &mut Vec<u8>) {
        let displaced = &mut self.displaced;
        if displaced.take_if(|former| *former == generation).is_some() {
            put(out, |buffer| sse::retry(buffer, RETURN));
        }
    }

    /// Returns whether it can be resumed.
    pub(super) fn is_known(&self) -> bool {
        (self.primed && !self.foreign) || self.channel == Channel::PIPE
    }

    pub(super) fn is_primed(&self) -> bool {
        self.primed
    }

    pub(super) fn detach(&mut self) {
        self.undecided = false;
        self.reader = None;
        self.part = None;
        self.closing = None;
    }

    /// Ends the reader's connection where the log ends now.
    pub(super) fn close(&mut self, retry: Option<Duration>) {
        let before = self.next();
        self.closing = Some(Closing { before, retry });
    }

    /// Ends the reader's connection before the first entry that cannot be read yet.
    pub(super) fn interrupt(&mut self) {
        let next = self.next();
        let is_settled = |sequence| self.entry(sequence).is_some_and(|entry| entry.settled);
        let before = (self.cursor..next).find(|sequence| !is_settled(*sequence));
        let retry = self.closing.take().and_then(|closing| closing.retry);
        self.closing = Some(Closing {
            before: before.unwrap_or(next),
            retry,
        });
    }

    /// See [`Streams::read`](super::Streams::read).
    pub(super) fn read(&mut self, delivery: Delivery, out: &mut Vec<u8>, max: usize) -> StreamRead {
        self.undecided = false;
        let start = out.len();
        out.reserve(self.unread().saturating_add(EVENT).min(max));
        loop {
            if let Some(closing) = self
                .closing
                .take_if(|closing| closing.before <= self.cursor)
            {
                if let Some(delay) = closing.retry {
                    put(out, |buffer| sse::retry(buffer, delay));
                }
                return StreamRead::End;
            }
            if !self.is_readable() {
                return match self.ended && self.cursor >= self.next() {
                    true => StreamRead::End,
                    false => StreamRead::Pending,
                };
            }
            let room = max.saturating_sub(out.len().saturating_sub(start));
            if room == 0 || !self.read_event(delivery, out, room) {
                return StreamRead::More;
            }
        }
    }

    /// Copies the event at the cursor, or as much of it as there is room; says whether that was
    /// the end of it.
    fn read_event(&mut self, delivery: Delivery, out: &mut Vec<u8>, room: usize) -> bool {
        let (from, to) = (self.place(self.cursor), self.place(self.cursor + 1));
        let message = self.slice(from, to);
        let part = self.part.unwrap_or(0);
        if self.part.is_none() {
            let id = EventId {
                channel: self.channel,
                sequence: self.cursor,
            };
            head(delivery, id, message.is_empty(), out);
        }
        let rest = message.get(part..).unwrap_or_default();
        let taken = rest.len().min(room);
        out.extend_from_slice(rest.get(..taken).unwrap_or_default());
        if taken < rest.len() {
            self.part = Some(part + taken);
            return false;
        }
        if !message.is_empty() {
            out.extend_from_slice(sse::END.as_bytes());
        }
        self.part = None;
        self.cursor += 1;
        self.delivered = self.delivered.max(self.cursor);
        self.primed = true;
        true
    }

    /// Drops the oldest entry, and returns the question that it was.
    pub(super) fn drop_first(&mut self) -> Option<Dropped> {
        let entry = self.entries.pop_front()?;
        let dropped = entry.question.map(|question| Dropped {
            message: self.slice(self.start, entry.end).to_vec(),
            question,
        });
        self.start = entry.end;
        self.base += 1;
        self.cursor = self.cursor.max(self.base);
        self.delivered = self.delivered.max(self.base);
        self.handed = self.handed.max(self.base);
        let gone = clamp(self.start.saturating_sub(self.origin));
        if gone >= self.log.len() {
            self.log.clear();
            self.origin = self.start;
            if self.log.capacity() > SPARE {
                self.log = Vec::new();
            }
        } else if gone > SPARE && gone > self.log.len() / 2 {
            self.log.drain(..gone);
            self.origin = self.start;
        }
        dropped
    }

    /// The first byte of what was not dropped.
    pub(super) fn first_byte(&self) -> Option<u8> {
        if let Some(answer) = &self.answer {
            return answer.first().copied();
        }
        let gone = clamp(self.start.saturating_sub(self.origin));
        self.log.get(gone).copied()
    }

    /// The only message of a stream that has ended and was not begun to be read.
    pub(super) fn take_single(&mut self) -> Option<Vec<u8>> {
        let alone = self.entries.len() == 1 && self.cursor == self.base && self.part.is_none();
        if !self.ended || !alone || self.bytes() == 0 {
            return None;
        }
        let gone = clamp(self.start.saturating_sub(self.origin)).min(self.log.len());
        let mut log = core::mem::take(&mut self.log);
        log.drain(..gone);
        Some(log)
    }

    /// Takes the questions out of what has been delivered.
    pub(super) fn take_questions(&mut self) -> Vec<Dropped> {
        let count = clamp(self.done().saturating_sub(self.base));
        let mut taken = Vec::new();
        let mut from = self.start;
        for index in 0..count {
            let Some(entry) = self.entries.get_mut(index) else {
                break;
            };
            let to = entry.end;
            if let Some(question) = entry.question.take() {
                let message = self.slice(from, to).to_vec();
                taken.push(Dropped { message, question });
            }
            from = to;
        }
        taken
    }

    /// The answer to this question is no longer awaited.
    pub(super) fn forget_question(&mut self, token: SentToken) {
        for entry in &mut self.entries {
            if entry.question == Some(token) {
                entry.question = None;
            }
        }
    }

    /// The next entry that a store has to take, or the end alone.
    pub(super) fn hand(&mut self) -> Option<(u64, &[u8], bool)> {
        if self.undecided {
            return None;
        }
        while self.handed < self.next() {
            let sequence = self.handed;
            self.handed += 1;
            if self.entry(sequence).is_some_and(|entry| !entry.settled) {
                let end = self.ended && self.handed == self.next();
                self.end_handed |= end;
                let (from, to) = (self.place(sequence), self.place(sequence + 1));
                return Some((sequence, self.slice(from, to), end));
            }
        }
        if self.ended && !self.end_handed {
            self.end_handed = true;
            return Some((self.next(), b"", true));
        }
        None
    }

    /// Returns true if the entry was settled, or is not kept.
    pub(super) fn is_settled(&self, sequence: u64) -> bool {
        self.entry(sequence).is_none_or(|entry| entry.settled)
    }

    pub(super) fn has_unsettled(&self) -> bool {
        self.entries.iter().any(|entry| !entry.settled)
    }

    pub(super) fn settle(&mut self, sequence: u64) {
        let index = sequence.checked_sub(self.base).map(clamp);
        if let Some(entry) = index.and_then(|index| self.entries.get_mut(index)) {
            entry.settled = true;
        }
    }

    /// Puts older entries in front of those that are kept; `false` if they do not reach them.
    pub(super) fn precede<'e>(
        &mut self,
        first: u64,
        events: impl IntoIterator<Item = &'e [u8]>,
    ) -> bool {
        let mut log = Vec::new();
        let mut entries = VecDeque::new();
        let older = self.base.saturating_sub(first);
        for message in events.into_iter().take(clamp(older)) {
            log.extend_from_slice(message);
            entries.push_back(Entry {
                end: log.len() as u64,
                question: None,
                settled: true,
            });
        }
        if entries.len() as u64 != older {
            return false;
        }
        if older > 0 {
            let moved = log.len() as u64;
            log.extend_from_slice(self.slice(self.start, self.place(self.next())));
            for entry in self.entries.drain(..) {
                let end = entry.end.saturating_sub(self.start).saturating_add(moved);
                entries.push_back(Entry { end, ..entry });
            }
            (self.log, self.entries) = (log, entries);
            (self.origin, self.start, self.base) = (0, 0, first);
        }
        true
    }

    /// Another reader delivered the rest.
    pub(super) fn deliver(&mut self) {
        self.delivered = self.next();
        self.handed = self.next();
    }

    /// Whatever is older may go.
    fn done(&self) -> u64 {
        match self.reader {
            Some(_) => self.cursor.min(self.delivered),
            None => self.delivered,
        }
    }

    fn entry(&self, sequence: u64) -> Option<&Entry> {
        self.entries.get(clamp(sequence.checked_sub(self.base)?))
    }

    /// Returns the position at which an entry begins.
    fn place(&self, sequence: u64) -> u64 {
        match sequence
            .checked_sub(1)
            .and_then(|before| self.entry(before))
        {
            Some(entry) => entry.end,
            None => self.start,
        }
    }

    fn slice(&self, from: u64, to: u64) -> &[u8] {
        let from = clamp(from.saturating_sub(self.origin));
        let to = clamp(to.saturating_sub(self.origin));
        self.log.get(from..to).unwrap_or_default()
    }
}

/// Appends the fields of an event in front of a message; all of the event if the message is empty.
fn head(delivery: Delivery, id: EventId, empty: bool, out: &mut Vec<u8>) {
    let mut text = [0; EventId::LONGEST];
    let head = match delivery {
        Delivery::Resumable => sse::EventHead {
            id: Some(id.write(&mut text)),
            ..sse::EventHead::default()
        },
        Delivery::Once => sse::EventHead::default(),
        Delivery::HttpSse => sse::EventHead {
            name: Some("message"),
            ..sse::EventHead::default()
        },
    };
    put(out, |buffer| match (empty, head.id) {
        (true, Some(id)) => sse::priming(buffer, id),
        (true, None) => Ok(0),
        (false, _) => sse::narrow(buffer, head).map(|(len, _)| len),
    });
}

/// Appends what `write` leaves in a buffer that is long enough for all but messages.
fn put<E>(out: &mut Vec<u8>, write: impl FnOnce(&mut [u8]) -> Result<usize, E>) {
    let mut buffer = [0; EVENT];
    let len = write(&mut buffer).unwrap_or_default();
    out.extend_from_slice(buffer.get(..len).unwrap_or_default());
}

/// The length of something that is in memory.
fn clamp(len: u64) -> usize {
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// The time after which a reader may take the place of the one that has displaced it.
const RETURN: Duration = Duration::from_secs(5);

/// More than an event takes besides its message.
const EVENT: usize = 64;

/// The capacity that an empty log keeps.
const SPARE: usize = 4096;
