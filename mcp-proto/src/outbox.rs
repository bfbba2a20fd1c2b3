//! The output buffer of a connection.

use core::fmt;

use crate::Limits;
use crate::action::{BufferFull, SendError, Transmit};
use crate::frame::line;
use crate::store::{self, Store};
use crate::token::SentToken;

/// Holds messages that the peer has not taken yet, one per line, in storage of the caller.
///
/// ```text
///            start              end
///   | taken  | message \n mess.. |  room  |      start <= end <= length of the store
/// ```
///
/// A message gets in whole or not at all: [`put`](Self::put) lends the machine the room behind
/// `end`, less one byte for the newline. The storage grows, if it can, up to `Limits::output`,
/// by at most doubling. Bytes leave by [`pending`](Self::pending) and [`consume`](Self::consume),
/// in portions of any size.
///
/// ```
/// use mcp_proto::rpc::Message;
/// use mcp_proto::{BufferFull, Limits, Outbox, Transmit};
///
/// let message = Message::parse(br#"{"jsonrpc":"2.0","method":"a"}"#, 128);
/// let mut outbox = Outbox::new([0; 40], &Limits::default());
/// let mut send = || outbox.put(|out| message.encode(out).map(Transmit::pipe));
///
/// assert_eq!(send()?.len, 30);
/// assert_eq!(send(), Err(BufferFull { needed: 30 }), "the peer has to read first");
/// assert_eq!(outbox.pending(), b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n");
/// outbox.consume(31);
/// assert!(outbox.is_empty());
/// # Ok::<(), BufferFull>(())
/// ```
pub struct Outbox<S> {
    store: S,
    start: usize,
    end: usize,
    limit: usize,
}

impl<S: Store<u8>> Outbox<S> {
    /// An empty outbox. Of the limits it obeys `output`; a store that cannot grow as far is a
    /// limit of its own, which [`step`](crate::link::step) tells the machine, so that an answer
    /// for which there will never be room is replaced by an error. Storage of
    /// [`Machine::reserve`](crate::Machine::reserve) bytes and one more holds each answer of the
    /// core; 128 bytes hold the error that replaces an answer.
    pub fn new(store: S, limits: &Limits) -> Self {
        Self {
            store,
            start: 0,
            end: 0,
            limit: limits.output,
        }
    }

    /// Lets `write` write one message and puts a newline behind it.
    ///
    /// `write` is one call of a machine or of [`Message::encode`](crate::rpc::Message::encode).
    /// If it says that the room is too small, more is made and it is called again; a `write`
    /// that leaves no bytes leaves no newline either.
    ///
    /// # Errors
    ///
    /// Whatever `write` says in the end. If that is `BufferFull`, nothing was added: try again
    /// once the peer has read some of what is pending. A `write` that reports more bytes than the
    /// slice has room for cannot have written them, and counts as `BufferFull`.
    pub fn put<T: Written, E: NeedsBuffer>(
        &mut self,
        mut write: impl FnMut(&mut [u8]) -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let written = self.put_once(&mut write);
            match written.as_ref().map_err(NeedsBuffer::needed) {
                // More than what was there; or it would ask forever.
                Err(Some(needed)) if needed > self.room() && self.reserve(needed) => {}
                _ => return written,
            }
        }
    }

    /// Like [`put`](Self::put), for a `write` that cannot be repeated: call
    /// [`reserve`](Self::reserve) first.
    pub(crate) fn put_once<T: Written, E: From<BufferFull>>(
        &mut self,
        write: impl FnOnce(&mut [u8]) -> Result<T, E>,
    ) -> Result<T, E> {
        let free = self.store.as_mut().get_mut(self.end..).unwrap_or_default();
        let written = write(line::narrow(free).unwrap_or_default());
        let transmit = written.as_ref().ok().and_then(Written::transmit);
        if let Some(Transmit { len: len @ 1.., .. }) = transmit {
            if len >= free.len() {
                return Err(BufferFull { needed: len }.into());
            }
            self.end += line::end(free, len);
        }
        written
    }

    /// Makes room for a message of `len` bytes and its newline, and says whether it did.
    ///
    /// If not, the peer has to read first; a message for which even an empty outbox makes no
    /// room will never get in.
    pub fn reserve(&mut self, len: usize) -> bool {
        if len <= self.room() {
            return true;
        }
        self.make_room(len)
    }

    /// Exchanges the storage for another one, so that several connections can use one buffer in turn. The outbox must be
    /// empty.
    ///
    /// ```
    /// use mcp_proto::{BufferFull, Limits, Outbox, Transmit};
    ///
    /// let mut outbox = Outbox::new(Vec::new(), &Limits::default());
    /// let mut buffer = vec![0; 64];
    /// outbox.swap_store(&mut buffer);
    /// let sent = outbox.put(|out| {
    ///     out[..2].copy_from_slice(b"{}");
    ///     Ok::<_, BufferFull>(Transmit::pipe(2))
    /// });
    /// assert!(sent.is_ok() && outbox.pending() == b"{}\n");
    /// outbox.consume(3);
    /// outbox.swap_store(&mut buffer);
    /// assert!(buffer.len() == 64 && outbox.room() == 0);
    /// ```
    ///
    /// # Panics
    ///
    /// If something is pending and debug assertions are on. Without them the pending bytes are lost.
    pub fn swap_store(&mut self, store: &mut S) {
        debug_assert!(self.is_empty(), "what is pending lies in the storage");
        (self.start, self.end) = (0, 0);
        core::mem::swap(&mut self.store, store);
    }

    /// Returns the length of the longest message that it can ever hold.
    pub fn max_message(&self) -> usize {
        self.store.max_len().min(self.limit).saturating_sub(1)
    }

    /// Returns the bytes that wait for the peer, the oldest first.
    #[inline]
    pub fn pending(&self) -> &[u8] {
        self.store
            .as_ref()
            .get(self.start..self.end)
            .unwrap_or_default()
    }

    /// Tells that the first `count` bytes of [`pending`](Self::pending) have left.
    ///
    /// # Panics
    ///
    /// If `count` exceeds the length of [`pending`](Self::pending) and debug assertions are on. Without
    /// them all that is pending counts as gone.
    #[inline]
    pub fn consume(&mut self, count: usize) {
        debug_assert!(
            count <= self.end - self.start,
            "more than is pending was consumed"
        );
        self.start = self.start.saturating_add(count).min(self.end);
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Returns true if nothing is pending.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// The longest message that gets in as things are: nothing is moved and nothing grows.
    #[inline]
    pub fn room(&self) -> usize {
        // A message of no bytes needs no room, so nothing is lost where there is none.
        (self.store.as_ref().len() - self.end).saturating_sub(1)
    }

    /// The bytes that the storage takes now.
    pub fn capacity(&self) -> usize {
        self.store.as_ref().len()
    }

    #[cold]
    fn make_room(&mut self, len: usize) -> bool {
        let pending = self.end - self.start;
        let Some(total) = pending.checked_add(len).and_then(|sum| sum.checked_add(1)) else {
            return false;
        };
        let capacity = self.store.as_ref().len();
        // The part that moves is no longer than the part that was sent since the last time: a slow
        // reader of small portions would otherwise make every message move all the others.
        if total <= capacity && pending <= self.start {
            self.compact();
            return true;
        }
        let target = capacity.saturating_mul(2).min(self.limit).max(total);
        if target > self.limit
            || target <= capacity
            || !store::enlarge(&mut self.store, total, target)
        {
            return false;
        }
        self.compact();
        true
    }

    fn compact(&mut self) {
        store::compact(self.store.as_mut(), &mut self.start, &mut self.end);
    }
}

impl<S> fmt::Debug for Outbox<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outbox")
            .field("pending", &(self.end - self.start))
            .field("limit", &self.limit)
            .finish_non_exhaustive()
    }
}

/// The result of a command that may have written a message.
pub trait Written {
    /// Returns the length and the destination of the message; `None` if none was written.
    fn transmit(&self) -> Option<Transmit>;

    /// The request of ours that it is, if it is one.
    fn request(&self) -> Option<SentToken> {
        None
    }
}

impl Written for Transmit {
    fn transmit(&self) -> Option<Transmit> {
        Some(*self)
    }
}

impl<T: Written> Written for Option<T> {
    fn transmit(&self) -> Option<Transmit> {
        self.as_ref()?.transmit()
    }
}

impl<T: Written> Written for (SentToken, T) {
    fn transmit(&self) -> Option<Transmit> {
        self.1.transmit()
    }

    fn request(&self) -> Option<SentToken> {
        Some(self.0)
    }
}

/// An error that may report a buffer that is too small.
pub trait NeedsBuffer: From<BufferFull> {
    /// The bytes that the message takes, if that is what it means.
    fn needed(&self) -> Option<usize>;
}

impl NeedsBuffer for BufferFull {
    fn needed(&self) -> Option<usize> {
        Some(self.needed)
    }
}

impl NeedsBuffer for SendError {
    fn needed(&self) -> Option<usize> {
        match self {
            Self::BufferFull { needed } => Some(*needed),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Writes `len` times `byte`, whole or not at all.
    fn message(byte: u8, len: usize) -> impl FnMut(&mut [u8]) -> Result<Transmit, BufferFull> {
        move |out| match out.get_mut(..len) {
            Some(place) => {
                place.fill(byte);
                Ok(Transmit::pipe(len))
            }
            None => Err(BufferFull { needed: len }),
        }
    }

    fn outbox<S: Store<u8>>(store: S, output: usize) -> Outbox<S> {
        let limits = Limits {
            output,
            ..Limits::default()
        };
        Outbox::new(store, &limits)
    }

    #[test]
    fn a_message_and_its_newline_get_in_whole_or_not_at_all() {
        for size in 0..8 {
            let mut store = [0xEE; 8];
            let mut outbox = outbox(&mut store[..size], 100);
            let put = outbox.put(message(b'm', 5));
            if size < 6 {
                assert_eq!(put, Err(BufferFull { needed: 5 }), "{size}");
                assert!(outbox.is_empty());
                assert_eq!(store, [0xEE; 8], "{size}");
            } else {
                assert_eq!(put.map(|sent| sent.len), Ok(5));
                assert_eq!(outbox.pending(), b"mmmmm\n");
            }
        }
    }

    #[test]
    fn what_leaves_no_bytes_leaves_no_newline() {
        let mut outbox = outbox([0; 8], 8);
        assert_eq!(
            outbox.put(|_| Ok::<_, BufferFull>(None::<Transmit>)),
            Ok(None)
        );
        assert!(outbox.put(message(b'm', 0)).is_ok());
        assert_eq!(
            outbox.put(|_| Err::<Transmit, _>(SendError::Stale)),
            Err(SendError::Stale)
        );
        assert!(outbox.is_empty());
    }

    #[test]
    fn a_message_longer_than_its_slice_is_refused() {
        let mut outbox = outbox([0; 8], 8);
        for len in [8, 9, 4000, usize::MAX] {
            let put = outbox.put(|_| Ok::<_, BufferFull>(Transmit::pipe(len)));
            assert_eq!(put, Err(BufferFull { needed: len }));
            assert!(outbox.is_empty());
        }
        assert!(outbox.put(message(b'm', 7)).is_ok());
        assert_eq!(outbox.pending(), b"mmmmmmm\n");
    }

    #[test]
    #[cfg_attr(debug_assertions, should_panic(expected = "more than is pending"))]
    fn no_more_leaves_than_is_pending() {
        let mut outbox = outbox([0; 8], 8);
        assert!(outbox.put(message(b'm', 2)).is_ok());
        outbox.consume(4);
        assert!(outbox.is_empty());
    }

    #[test]
    fn bytes_leave_in_portions_and_make_room() {
        let mut outbox = outbox([0; 10], 10);
        assert!(outbox.put(message(b'a', 4)).is_ok());
        assert!(outbox.put(message(b'b', 4)).is_ok());
        assert!(outbox.put(message(b'c', 0)).is_ok());
        outbox.consume(3);
        assert_eq!(outbox.pending(), b"a\nbbbb\n");
        assert!(
            outbox.put(message(b'c', 2)).is_err(),
            "seven would move for three"
        );
        outbox.consume(2);
        assert!(outbox.put(message(b'c', 4)).is_ok());
        assert_eq!(outbox.pending(), b"bbbb\ncccc\n");
        outbox.consume(10);
        assert!(outbox.is_empty());
        assert_eq!(outbox.room(), 9);
    }

    #[test]
    fn a_writer_that_asks_for_what_it_has_is_not_asked_again() {
        let mut calls = 0;
        let put = outbox([0; 10], 10).put(|_| {
            calls += 1;
            Err::<Transmit, _>(BufferFull { needed: 3 })
        });
        assert_eq!((put, calls), (Err(BufferFull { needed: 3 }), 1));
    }

    #[cfg(feature = "alloc")]
    #[test]
    fn storage_grows_by_doubling_up_to_the_limit() {
        let mut outbox = outbox(Vec::new(), 100);
        for (len, capacity) in [(3, 4), (3, 8), (3, 16), (9, 32), (60, 83), (16, 100)] {
            assert!(outbox.put(message(b'm', len)).is_ok());
            assert_eq!(outbox.capacity(), capacity);
        }
        assert_eq!(outbox.put(message(b'm', 1)), Err(BufferFull { needed: 1 }));
        assert_eq!(outbox.pending().len(), 100);
        outbox.consume(100);
        assert!(outbox.put(message(b'm', 100)).is_err());
        assert!(outbox.reserve(99) && !outbox.reserve(100));
        assert!(outbox.put(message(b'm', 99)).is_ok());
    }

    /// Whatever the sizes and the peer's pace, the bytes are those of the messages, in order,
    /// and what is moved is no more than what is sent.
    #[test]
    fn nothing_is_lost_at_any_pace() {
        for pace in 1..12 {
            let mut outbox = outbox([0; 24], 24);
            let (mut sent, mut taken) = (Vec::new(), Vec::new());
            for round in 0..500_usize {
                let (byte, len) = (b'a' + (round % 26) as u8, round * 7 % 19);
                if outbox.put(message(byte, len)).is_ok() && len > 0 {
                    sent.resize(sent.len() + len, byte);
                    sent.push(b'\n');
                }
                let count = outbox.pending().len().min(pace);
                taken.extend_from_slice(&outbox.pending()[..count]);
                outbox.consume(count);
            }
            taken.extend_from_slice(outbox.pending());
            assert!(taken == sent && sent.len() > 500);
        }
    }
}
