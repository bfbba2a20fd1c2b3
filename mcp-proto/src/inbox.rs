//! The input buffer of a connection, and the messages in it.

use core::fmt;

use crate::Limits;
use crate::frame::line::{self, Lines};
#[cfg(feature = "alloc")]
use crate::json::KnownMeta;
use crate::json::Scanner;
use crate::rpc::{self, ID_ECHO, Incoming, Invalid, Message, Overlong, Reason};
use crate::store::{self, Store};

/// Holds bytes from the peer and splits them into messages, one per line, in storage of the caller.
///
/// ```text
///            start                  end
///   | given  | message \n  mess     |  spare  |      start <= end <= length of the store
/// ```
///
/// Bytes go in through [`spare_mut`](Self::spare_mut) and [`filled`](Self::filled), messages come
/// out of [`next_message`](Self::next_message), each borrowed from the storage until the next
/// call. The storage grows, if it can, up to the limit for one message; a longer message is
/// skipped at constant memory, reported as one [`Invalid`], and the one behind it is read as if
/// nothing had happened.
///
/// ```
/// use mcp_proto::rpc::{Incoming, Message};
/// use mcp_proto::{Inbox, Limits};
///
/// let mut inbox = Inbox::new([0; 256], &Limits::default());
/// let arrived = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n{\"json";
/// inbox.spare_mut().ok_or("full")?[..arrived.len()].copy_from_slice(arrived);
/// inbox.filled(arrived.len());
///
/// assert!(matches!(inbox.next_message(), Some(Incoming::Message(Message::Request(_)))));
/// assert!(inbox.next_message().is_none(), "the rest has not arrived");
/// # Ok::<(), &str>(())
/// ```
pub struct Inbox<S> {
    store: S,
    start: usize,
    end: usize,
    lines: Lines,
    /// The longest message, and how deep it may nest.
    limit: usize,
    depth: u8,
    closed: bool,
    /// The item that the last call handed out: the next call releases it, unless it is `unread`.
    given: Given,
    /// Inside an array: where its next element begins, or `None` in front of its end.
    batch: Option<Batch>,
    /// A line over the limit is being skipped, or was and is not reported yet.
    skipping: Option<Skipped>,
    /// The `_meta` that requests repeat.
    #[cfg(feature = "alloc")]
    known_meta: KnownMeta,
}

impl<S: Store<u8>> Inbox<S> {
    /// An empty inbox. Of the limits it obeys `message` and `depth`; a store that cannot grow as
    /// far is a limit of its own, with room for the message and its newline.
    pub fn new(store: S, limits: &Limits) -> Self {
        Self {
            store,
            start: 0,
            end: 0,
            lines: Lines::new(),
            limit: limits.message,
            depth: limits.depth,
            closed: false,
            given: Given::Nothing,
            batch: None,
            skipping: None,
            #[cfg(feature = "alloc")]
            known_meta: KnownMeta::NONE,
        }
    }

    /// The place for bytes that arrive; never empty. `None` means full: read the messages that are
    /// there first. The message that the last [`next_message`](Self::next_message) handed out is
    /// gone.
    ///
    /// After reading into it, tell how many bytes came with [`filled`](Self::filled).
    #[inline]
    pub fn spare_mut(&mut self) -> Option<&mut [u8]> {
        if self.given != Given::Nothing {
            self.release();
        }
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
        if self.end >= self.store.as_ref().len() {
            self.make_room();
        }
        self.store
            .as_mut()
            .get_mut(self.end..)
            .filter(|spare| !spare.is_empty())
    }

    /// Tells that `count` bytes were written to the front of [`spare_mut`](Self::spare_mut).
    ///
    /// # Panics
    ///
    /// If `count` exceeds the length of [`spare_mut`](Self::spare_mut) and debug assertions are on.
    /// Without them the whole of it counts as written.
    #[inline]
    pub fn filled(&mut self, count: usize) {
        self.end = store::filled(self.store.as_ref(), self.end, count);
    }

    /// Tells that the stream has ended: what is left is the last message, newline or not.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// The next message; `None` until more bytes arrive. Blank lines are skipped (ST-21).
    #[inline]
    pub fn next_message(&mut self) -> Option<Incoming<'_>> {
        self.next_message_for(true)
    }

    /// Returns the next message. Without `has_batches` an array is returned as one message that is not an object, and the code that
    /// reads its elements is not linked.
    #[inline]
    pub(crate) fn next_message_for(&mut self, has_batches: bool) -> Option<Incoming<'_>> {
        if self.given != Given::Nothing {
            self.release();
        }
        if has_batches && let Some(batch) = self.batch {
            return Some(self.next_of_batch(batch));
        }
        let Some(line) = self.find_line() else {
            return self.report_skipped();
        };
        let held = self.store.as_ref().get(self.start..).unwrap_or_default();
        let text = self.lines.text(held.get(..line).unwrap_or_default());
        self.given = Given::Line;
        if has_batches && begins_array(text) {
            return Some(match rpc::open_array(text, self.depth) {
                Ok(elements) => {
                    self.given = Given::BatchStart(Batch {
                        at: elements.position(),
                        first: true,
                    });
                    Incoming::BatchStart
                }
                Err(invalid) => Incoming::Message(Message::Invalid(invalid)),
            });
        }
        #[cfg(feature = "alloc")]
        let message = Message::parse_with_known_meta(text, self.depth, &mut self.known_meta);
        #[cfg(not(feature = "alloc"))]
        let message = Message::parse(text, self.depth);
        Some(Incoming::Message(message))
    }

    /// Takes back what the last [`next_message`](Self::next_message) handed out: it comes again.
    /// Only directly after that call; before it is a mistake without effect.
    pub fn unread(&mut self) {
        self.given = Given::Nothing;
    }

    /// Returns true if [`close`](Self::close) was called.
    pub const fn is_closed(&self) -> bool {
        self.closed
    }

    /// Returns true if [`next_message`](Self::next_message) has handed out every byte.
    pub fn is_empty(&self) -> bool {
        let held = self.end.saturating_sub(self.start);
        match self.given {
            Given::Nothing => held == 0 && self.skipping.is_none(),
            Given::Line | Given::BatchEnd => held <= self.lines.line_len(held),
            Given::Skipped => held == 0,
            Given::BatchStart(_) | Given::Element(_) => false,
        }
    }

    /// Makes the storage twice as long, as far as it can and one message may, and says whether
    /// it did. By itself it grows only for a long message; a driver whose reads keep filling
    /// [`spare_mut`](Self::spare_mut) makes fewer and larger ones of them with it.
    pub fn widen(&mut self) -> bool {
        self.grow()
    }

    /// The bytes that the storage takes now.
    pub fn capacity(&self) -> usize {
        self.store.as_ref().len()
    }

    /// Lets go of what the last call handed out.
    #[inline]
    fn release(&mut self) {
        match self.given {
            Given::Nothing => {}
            Given::Line => self.pass_line(),
            Given::BatchStart(batch) => self.batch = Some(batch),
            Given::Element(at) => self.batch = Some(Batch { at, first: false }),
            Given::BatchEnd => {
                self.batch = None;
                self.pass_line();
            }
            Given::Skipped => self.skipping = None,
        }
        self.given = Given::Nothing;
    }

    /// Moves behind the current line and its newline.
    #[inline]
    fn pass_line(&mut self) {
        let held = self.end.saturating_sub(self.start);
        self.start += self.lines.line_len(held).min(held);
        self.lines.advance();
    }

    /// The length of the next line that is within the limit and not blank, once all of it is
    /// here and nothing over the limit is in front of it.
    #[inline]
    fn find_line(&mut self) -> Option<usize> {
        loop {
            if let Some(skipped) = &self.skipping {
                if !skipped.over {
                    self.skip();
                }
                match &self.skipping {
                    Some(_) => return None,
                    None => continue,
                }
            }
            let held = self.store.as_ref().get(self.start..self.end)?;
            let line = match self.lines.find(held) {
                Some(newline) => newline,
                None if self.closed && !held.is_empty() => held.len(),
                None if held.len() > self.limit.saturating_add(line::OVERHEAD) => {
                    self.skip();
                    continue;
                }
                None => return None,
            };
            let text = self.lines.text(held.get(..line)?);
            if text.len() > self.limit {
                self.skip();
            } else if line::is_blank(text) {
                self.pass_line();
            } else {
                return Some(line);
            }
        }
    }

    fn next_of_batch(&mut self, batch: Batch) -> Incoming<'_> {
        let held = self
            .store
            .as_ref()
            .get(self.start..self.end)
            .unwrap_or_default();
        let line = self.lines.line_len(held.len());
        let text = self.lines.text(held.get(..line).unwrap_or_default());
        let mut scanner = Scanner::new(text.get(batch.at..).unwrap_or_default(), self.depth);
        // The array was validated as a whole: there is an element, or its end.
        if let Ok(true) = scanner.next_element(batch.first)
            && let Ok(element) = Message::element(&mut scanner)
        {
            self.given = Given::Element(batch.at + scanner.position());
            Incoming::Message(element)
        } else {
            self.given = Given::BatchEnd;
            Incoming::BatchEnd
        }
    }

    /// Passes what is here of a line over the limit.
    #[cold]
    fn skip(&mut self) {
        let skipped = self.skipping.get_or_insert_with(Skipped::new);
        let held = self
            .store
            .as_ref()
            .get(self.start..self.end)
            .unwrap_or_default();
        let newline = self.lines.find(held);
        let piece = held.get(..newline.unwrap_or(held.len()));
        skipped
            .line
            .feed(self.lines.without_mark(piece.unwrap_or_default()));
        skipped.over = newline.is_some() || self.closed;
        if skipped.over && skipped.line.salvage.is_blank() {
            self.skipping = None;
        }
        self.pass_line();
    }

    /// The report about a line over the limit, once the line is over.
    #[cold]
    #[inline(never)]
    fn report_skipped(&mut self) -> Option<Incoming<'_>> {
        let skipped = self.skipping.as_ref().filter(|skipped| skipped.over)?;
        self.given = Given::Skipped;
        Some(Incoming::Message(Message::Invalid(skipped.report())))
    }

    /// Makes room after `end`.
    #[cold]
    fn make_room(&mut self) {
        if self.skipping.as_ref().is_some_and(|skipped| !skipped.over) {
            self.skip();
        }
        let held = self.end.saturating_sub(self.start);
        let store = self.store.as_ref();
        let line = self
            .lines
            .find(store.get(self.start..self.end).unwrap_or_default());
        if line.is_some() || self.batch.is_some() || self.skipping.is_some() {
            // Messages wait: what moves must be no more than what was read since the last time,
            // or a reader that takes one message a call would move everything each time.
            if held <= self.start {
                self.compact();
            }
        } else if self.start > 0 {
            // One incomplete line: it moves once in its life.
            self.compact();
        } else if !self.grow() {
            self.skip();
            self.start = 0;
            self.end = 0;
        }
    }

    fn compact(&mut self) {
        store::compact(self.store.as_mut(), &mut self.start, &mut self.end);
    }

    fn grow(&mut self) -> bool {
        let limit = self.limit.saturating_add(line::OVERHEAD);
        store::double(&mut self.store, FIRST, limit)
    }
}

impl<S> fmt::Debug for Inbox<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbox")
            .field("held", &self.end.saturating_sub(self.start))
            .field("limit", &self.limit)
            .field("closed", &self.closed)
            .field("in_batch", &self.batch.is_some())
            .field("skipping", &self.skipping.is_some())
            .finish_non_exhaustive()
    }
}

/// The item that the last call handed out.
#[derive(Clone, Copy, PartialEq)]
enum Given {
    Nothing,
    /// The current line.
    Line,
    BatchStart(Batch),
    /// An element of the open array, which ends at this offset of the line's text.
    Element(usize),
    BatchEnd,
    /// The report about a line over the limit.
    Skipped,
}

/// A position in an array, which is the current line.
#[derive(Clone, Copy, PartialEq)]
struct Batch {
    /// The offset in the line's text: behind the bracket or behind an element.
    at: usize,
    first: bool,
}

/// A line over the limit.
struct Skipped {
    line: Overlong<ID_ECHO>,
    /// The line has ended.
    over: bool,
}

impl Skipped {
    const fn new() -> Self {
        Self {
            line: Overlong::new(),
            over: false,
        }
    }

    fn report(&self) -> Invalid<'_> {
        Invalid {
            reason: Reason::TooLong,
            id: self.line.id().and_then(rpc::readable),
            shape: self.line.salvage.shape(),
        }
    }
}

#[inline]
fn begins_array(text: &[u8]) -> bool {
    let mut text = text
        .iter()
        .skip_while(|byte| matches!(byte, b' ' | b'\t' | b'\r'));
    text.next() == Some(&b'[')
}

/// The first size of a store that grows from nothing.
const FIRST: usize = 1024;

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
mod large;
#[cfg(test)]
mod tests;

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub use large::Large;
