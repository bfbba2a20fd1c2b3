//! Decodes bytes into events.

use core::fmt;
use core::time::Duration;

use memchr::memchr2;

use super::field::{Field, LONGEST};
use super::line::{Name, line_end, milliseconds, parse, split_short};
use crate::limits::Limits;
use crate::store::{self, Store};

/// Decodes a stream of events, in storage of the caller's choice.
///
/// ```text
///        data.start        line             end
///   | gone  | data | gone  | id: 7\nda      |  spare  |   start + len <= line <= end
/// ```
///
/// Bytes go in through [`spare_mut`](Self::spare_mut) and [`filled`](Self::filled), events come
/// out of [`next_event`](Self::next_event). Data of one line is lent where it arrived; further
/// lines are moved behind the first. However the stream was cut, each byte is looked at once.
/// The storage grows, if it can, up to the limit for one message and a little more for names and
/// ids; an event with more data is handed out in pieces, at constant memory. Names and ids are
/// kept up to 4 KiB, as far as their stores can hold them; a longer one counts as not sent.
///
/// ```
/// use mcp_proto::Limits;
/// use mcp_proto::frame::sse::{Events, Piece};
///
/// let mut events = Events::new([0; 256], [[0; 32]; 3], &Limits::default());
/// let arrived = b"id: 7\ndata: {\"jsonrpc\":\"2.0\"}\n\nid: 8\ndata: {";
/// events.spare_mut().ok_or("full")?[..arrived.len()].copy_from_slice(arrived);
/// events.filled(arrived.len());
///
/// let Some(Piece::Event(event)) = events.next_event() else { return Err("no event") };
/// assert_eq!(event.data, b"{\"jsonrpc\":\"2.0\"}");
/// assert!(events.next_event().is_none(), "the rest has not arrived");
/// assert_eq!(events.last_event_id(), b"7");
/// # Ok::<(), &str>(())
/// ```
pub struct Events<S, F> {
    store: S,
    end: usize,
    /// The start of the current line, and the end of the part that was searched:
    /// `line <= searched <= end`.
    line: usize,
    searched: usize,
    /// The data of the current event so far; `None` before its first line of data.
    data: Option<Data>,
    name: Field<F>,
    /// The id of the last event that ended, and that of the current one.
    ids: [Field<F>; 2],
    /// The index in `ids` of the id of the last event that ended.
    last: usize,
    /// True if the current event has an id.
    identified: bool,
    retry: Option<Duration>,
    /// True if the start of the stream, where a byte order mark may be, was read.
    begun: bool,
    /// True if the last line ended with a CR, so that an LF after it ends no line.
    returned: bool,
    /// The rest of the current line is not for the store.
    passing: Passing,
    /// The current event has more data than the limit allows.
    over: bool,
    limit: usize,
    /// The last call lent an event.
    given: bool,
}

/// An item that [`Events::next_event`] finds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Piece<'b> {
    /// An event, whole.
    Event(Event<'b>),
    /// A part of the data of an event that is over the limit, with only some of its line breaks.
    /// Parts can be searched as they pass.
    Part(&'b [u8]),
    /// The end of that event.
    End,
}

/// One event.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Event<'b> {
    /// Its type; `message` if it says none. MCP ignores others, except for the `endpoint` of
    /// 2024-11-05 (SSE-08).
    pub name: &'b [u8],
    /// Its data, the lines joined by LF. Without any it only carries an id (SSE-07).
    pub data: &'b [u8],
    /// The last id that the stream said, up to and with this event; empty if there is none.
    pub id: &'b [u8],
}

#[derive(Clone, Copy, Debug)]
struct Data {
    start: usize,
    len: usize,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Passing {
    No,
    /// Dropped: a comment, or an unknown field.
    Dropped,
    /// Handed out in parts.
    Data,
}

impl<S: Store<u8>, F: Store<u8>> Events<S, F> {
    /// At the start of a stream. The smaller stores keep the event's name and two ids. Of the
    /// limits it obeys `message`; a store that cannot grow as far is a limit of its own, with
    /// room for the data, the name of its field and line ends (16 bytes are the least that can work).
    pub fn new(store: S, [name, id, other]: [F; 3], limits: &Limits) -> Self {
        Self {
            store,
            end: 0,
            line: 0,
            searched: 0,
            data: None,
            name: Field::new(name),
            ids: [Field::new(id), Field::new(other)],
            last: 0,
            identified: false,
            retry: None,
            begun: false,
            returned: false,
            passing: Passing::No,
            over: false,
            limit: limits.message,
            given: false,
        }
    }

    /// The place for bytes that arrive; never empty. `None` means full: call [`next_event`](Self::next_event) until it finds
    /// nothing more. The bytes that the last [`next_event`](Self::next_event) lent are gone.
    ///
    /// After reading into it, tell how many bytes came with [`filled`](Self::filled).
    pub fn spare_mut(&mut self) -> Option<&mut [u8]> {
        self.release();
        if self.line == self.end && self.data.is_none() {
            (self.line, self.searched, self.end) = (0, 0, 0);
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
    pub fn filled(&mut self, count: usize) {
        self.end = store::filled(self.store.as_ref(), self.end, count);
    }

    /// The next event, or a piece of one over the limit; `None` until more bytes arrive. An
    /// event that the stream breaks off is never seen (SSE-02).
    pub fn next_event(&mut self) -> Option<Piece<'_>> {
        self.release();
        loop {
            if self.over
                && let Some(Data { start, len }) = self.data.take()
            {
                return Some(self.part(start, start + len));
            }
            if (self.returned || !self.begun) && !self.skip() {
                return None;
            }
            if self.searched == self.line && self.read_usual() {
                return Some(Piece::Event(self.event()));
            }
            let start = self.line;
            let rest = self.store.as_ref().get(start..self.end)?;
            let Some(len) = line_end(rest, self.searched - start) else {
                self.searched = self.end;
                return self.pass_rest();
            };
            let (text, tail) = rest.split_at_checked(len)?;
            let stop = start + len;
            let next = match tail {
                [b'\r', b'\n', ..] => stop + 2,
                _ => stop + 1,
            };
            // The LF of this line end may still come.
            let returned = matches!(tail, [b'\r']);
            match self.passing {
                Passing::No if text.is_empty() => {
                    self.end_line(next, returned);
                    if core::mem::take(&mut self.over) {
                        self.end_event();
                        return Some(Piece::End);
                    }
                    if self.dispatch() {
                        return Some(Piece::Event(self.event()));
                    }
                }
                Passing::No => {
                    let (name, at) = parse(text);
                    if name != Name::Data {
                        self.note(name, start + at, stop);
                    } else if !self.gather(start + at, stop) {
                        self.over = true;
                        if self.data.is_some() {
                            // The gathered data goes first, and this line is read again.
                            self.searched = stop;
                            continue;
                        }
                        self.end_line(next, returned);
                        return Some(self.part(start + at, stop));
                    }
                    self.end_line(next, returned);
                }
                Passing::Dropped => self.end_line(next, returned),
                Passing::Data => {
                    self.end_line(next, returned);
                    return Some(self.part(start, stop));
                }
            }
        }
    }

    /// Reads the lines that most events consist of: `id: ` with a short id, `data: `, and an empty one. Returns true after an event;
    /// otherwise `next_event` continues at the first other line.
    #[inline]
    fn read_usual(&mut self) -> bool {
        if self.passing != Passing::No || self.over || self.data.is_some() {
            return false;
        }
        let Some(mut rest) = self.store.as_ref().get(self.line..self.end) else {
            return false;
        };
        if let Some(value) = rest.strip_prefix(b"id: ") {
            let Some((id, next)) = split_short(value) else {
                return false;
            };
            if let Some(place) = self.ids.get_mut(self.last ^ 1) {
                self.identified = place.set(id);
            }
            self.line = self.end - next.len();
            self.searched = self.line;
            rest = next;
        }
        let Some(value) = rest.strip_prefix(b"data: ") else {
            return false;
        };
        let start = self.end - value.len();
        let Some(len) = memchr2(b'\n', b'\r', value) else {
            self.searched = self.end;
            return false;
        };
        self.searched = start + len;
        let ends = matches!(value.get(len..), Some([b'\n', b'\n', ..]));
        if !ends || len > self.limit {
            return false;
        }
        self.data = Some(Data { start, len });
        self.begin_line(start + len + 2);
        self.dispatch()
    }

    /// The id to resume after (`Last-Event-ID`): that of the last event that ended; empty if
    /// there is none, or the stream took it back (SSE-05).
    pub fn last_event_id(&self) -> &[u8] {
        self.ids
            .get(self.last)
            .map(Field::value)
            .unwrap_or_default()
    }

    /// Returns the time that the server wants a client to wait before it connects again, if the
    /// stream had a `retry` field (SSE-06).
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    /// Lets go of what the last call lent.
    fn release(&mut self) {
        if core::mem::take(&mut self.given) {
            self.end_event();
        }
    }

    /// Passes what may stand in front of a line and is not part of it: the mark at the start of
    /// the stream, the LF behind a CR. Says whether that is known yet.
    #[cold]
    fn skip(&mut self) -> bool {
        let Some(rest) = self.store.as_ref().get(self.line..self.end) else {
            return false;
        };
        if self.returned {
            let [first, ..] = rest else { return false };
            let skip = usize::from(*first == b'\n');
            self.returned = false;
            self.begin_line(self.line + skip);
        } else if rest.starts_with(MARK) {
            self.begin_line(self.line + MARK.len());
        } else if rest.len() < MARK.len() && MARK.starts_with(rest) {
            return false;
        }
        self.begun = true;
        true
    }

    /// Takes the blank line behind an event: its id counts from now on. Says whether there is
    /// anything to lend.
    fn dispatch(&mut self) -> bool {
        if core::mem::take(&mut self.identified) {
            self.last ^= 1;
        }
        if self.data.is_none() {
            self.name.clear();
            return false;
        }
        self.given = true;
        true
    }

    fn event(&self) -> Event<'_> {
        let Data { start, len } = self.data.unwrap_or(Data { start: 0, len: 0 });
        let name = match self.name.value() {
            b"" => b"message",
            name => name,
        };
        Event {
            name,
            data: self
                .store
                .as_ref()
                .get(start..start + len)
                .unwrap_or_default(),
            id: self.last_event_id(),
        }
    }

    fn end_event(&mut self) {
        if core::mem::take(&mut self.identified) {
            self.last ^= 1;
        }
        self.data = None;
        self.name.clear();
    }

    /// Puts a line of data behind what is there, if it is within the limit.
    fn gather(&mut self, value: usize, stop: usize) -> bool {
        let len = stop - value;
        let Some(data) = self.data else {
            let fits = !self.over && len <= self.limit;
            self.data = fits.then_some(Data { start: value, len });
            return fits;
        };
        if data.len.saturating_add(1).saturating_add(len) > self.limit {
            return false;
        }
        // `data` and its line end are longer than the LF that takes their place.
        let end = data.start + data.len;
        if let Some(gap) = self.store.as_mut().get_mut(end..stop)
            && let Some((newline, gap)) = gap.split_first_mut()
        {
            *newline = b'\n';
            let offset = value - end - 1;
            store::shift(gap, offset, offset + len);
        }
        self.data = Some(Data {
            len: data.len + 1 + len,
            ..data
        });
        true
    }

    /// Takes down what any other line says.
    fn note(&mut self, field: Name, value: usize, stop: usize) {
        let value = self.store.as_ref().get(value..stop).unwrap_or_default();
        match field {
            Name::Event if self.name.set(value) => {}
            Name::Event => self.name.clear(),
            Name::Id if value.iter().all(|byte| *byte != 0) => {
                if let Some(id) = self.ids.get_mut(self.last ^ 1) {
                    self.identified = id.set(value);
                }
            }
            Name::Retry => self.retry = milliseconds(value).or(self.retry),
            _ => {}
        }
    }

    /// A line without an end yet: it waits in the store, unless it is none that is kept there.
    fn pass_rest(&mut self) -> Option<Piece<'_>> {
        let text = self.store.as_ref().get(self.line..self.end)?;
        match text {
            _ if self.passing != Passing::No => {}
            [b':', ..] => self.passing = Passing::Dropped,
            // With a byte behind the colon it is known whether there is a space to leave out.
            _ if self.over && text.len() > "data:".len() => {
                if let (Name::Data, at) = parse(text) {
                    self.passing = Passing::Data;
                    self.line += at;
                }
            }
            _ => {}
        }
        let (start, end) = (self.line, self.end);
        if self.passing != Passing::No {
            self.begin_line(end);
        }
        (self.passing == Passing::Data && start < end).then(|| self.part(start, end))
    }

    /// Data of an event over the limit.
    fn part(&self, start: usize, end: usize) -> Piece<'_> {
        Piece::Part(self.store.as_ref().get(start..end).unwrap_or_default())
    }

    const fn end_line(&mut self, next: usize, returned: bool) {
        self.passing = Passing::No;
        self.returned = returned;
        self.begin_line(next);
    }

    const fn begin_line(&mut self, at: usize) {
        self.line = at;
        self.searched = at;
    }

    /// Makes room after `end`.
    #[cold]
    fn make_room(&mut self) {
        let base = self.data.map_or(self.line, |data| data.start);
        if self.searched < self.end {
            // Lines wait to be read. The part that moves must be no longer than the part that was
            // read since the last time, or a reader that takes one event a call would move
            // everything each time.
            if self.end - base <= base {
                self.compact();
            }
            return;
        }
        // One incomplete line, and the data in front of it: they move once in their life.
        self.compact();
        if self.end < self.store.as_ref().len() || self.grow() {
            return;
        }
        let text = self.store.as_ref().get(self.line..self.end);
        match parse(text.unwrap_or_default()).0 {
            Name::Data => self.over = true,
            _ => {
                self.passing = Passing::Dropped;
                self.end = self.line;
                self.searched = self.line;
            }
        }
    }

    /// Moves what is held to the front, the data and then the line.
    fn compact(&mut self) {
        let Self {
            store, line, end, ..
        } = self;
        let bytes = store.as_mut();
        let mut kept = 0;
        if let Some(Data { start, len }) = &mut self.data {
            store::shift(bytes, *start, *start + *len);
            *start = 0;
            kept = *len;
        }
        let moved = *line - kept;
        store::shift(
            bytes.get_mut(kept..).unwrap_or_default(),
            moved,
            *end - kept,
        );
        self.line -= moved;
        self.searched -= moved;
        self.end -= moved;
    }

    fn grow(&mut self) -> bool {
        store::double(&mut self.store, FIRST, self.limit.saturating_add(OVERHEAD))
    }
}

/// Without the data, which is not for logs.
impl fmt::Debug for Piece<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Event(event) => event.fmt(f),
            Self::Part(bytes) => f.debug_tuple("Part").field(&bytes.len()).finish(),
            Self::End => f.write_str("End"),
        }
    }
}

impl fmt::Debug for Event<'_> {
    /// Without the data, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Event")
            .field("data", &self.data.len())
            .finish_non_exhaustive()
    }
}

impl<S, F> fmt::Debug for Events<S, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Events")
            .field("held", &self.end.saturating_sub(self.line))
            .field("data", &self.data.map(|data| data.len))
            .field("limit", &self.limit)
            .field("over", &self.over)
            .finish_non_exhaustive()
    }
}

/// The byte order mark, of which one is skipped at the start (SSE-02).
const MARK: &[u8] = "\u{feff}".as_bytes();

/// The bytes that a store has beyond the limit of the data, for the line after the data: a name or
/// id of the greatest length that is kept, with its field, its line end and a mark.
const OVERHEAD: usize = LONGEST + 12;

/// The first size of a store that grows.
const FIRST: usize = 1 << 10;
