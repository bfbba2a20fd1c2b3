//! Storage that the caller provides.

/// Vectors that start empty and grow up to the limits of the configuration: the storage of a server or a client. Ids of requests
/// may have up to 256 bytes, and up to 1,024 bytes in errors.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Growing;

/// Arrays, for machines without an allocator: the storage of a client, and of a server on a pipe. For a server over HTTP put it into
/// [`OverHttp`](crate::server::OverHttp).
///
/// [`new`](Self::new) has 4 requests with ids of up to 64 bytes, and nothing else. Each part has a method that sets its
/// size; in the type the sizes stand in the order of the methods:
///
/// ```
/// use mcp_proto::client::{Client, ClientConfig};
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
///
/// // 8 requests of the client, and 2 to it.
/// type Storage = Fixed<8, 2>;
/// let storage: Storage = Fixed::new().requests::<8>().questions::<2>();
/// let server: Server<'_, Storage> = Server::new(ServerConfig::new("demo", "1.0"), storage)?;
///
/// // 4 calls, and 1 question of the server.
/// let storage = Fixed::new().questions::<1>();
/// let client: Client<'_, Fixed<4, 1>> = Client::new(ClientConfig::new("demo", "1.0"), storage)?;
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
///
/// Of a type with a name, `Storage::default()` is the value.
///
/// A table without room for a request, or for an id, does not compile:
///
/// ```compile_fail,E0080
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
///
/// let storage = Fixed::new().requests::<0>();
/// let server = Server::new(ServerConfig::new("demo", "1.0"), storage);
/// ```
///
/// Nor does a client with room for URIs, to which no server subscribes:
///
/// ```compile_fail,E0277
/// use mcp_proto::client::{Client, ClientConfig, Fixed};
///
/// let storage = Fixed::new().uris::<64>();
/// let client = Client::new(ClientConfig::new("demo", "1.0"), storage);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed<
    const REQUESTS: usize = 4,
    const QUESTIONS: usize = 0,
    const BATCH: usize = 0,
    const URIS: usize = 0,
    const ID: usize = 64,
>;

impl Fixed {
    /// 4 requests.
    pub const fn new() -> Self {
        Self
    }
}

impl<
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
    const ID: usize,
> Fixed<REQUESTS, QUESTIONS, BATCH, URIS, ID>
{
    /// So many requests of the client in flight.
    pub const fn requests<const N: usize>(self) -> Fixed<N, QUESTIONS, BATCH, URIS, ID> {
        Fixed
    }

    /// So many requests of the server in flight, pings included. With 0, the default, a server asks nothing and sends no pings, and a
    /// client refuses each question.
    pub const fn questions<const N: usize>(self) -> Fixed<REQUESTS, N, BATCH, URIS, ID> {
        Fixed
    }

    /// So many bytes for the answers to an array. Otherwise a server refuses one, and a client answers the questions of one singly.
    /// A client has as many for an array that it sends, which otherwise does not compile.
    pub const fn batch<const N: usize>(self) -> Fixed<REQUESTS, QUESTIONS, N, URIS, ID> {
        Fixed
    }

    /// So many bytes at a server for the URIs of resources that the client subscribes to, which it cannot otherwise.
    pub const fn uris<const N: usize>(self) -> Fixed<REQUESTS, QUESTIONS, BATCH, N, ID> {
        Fixed
    }

    /// Ids of received requests of up to so many bytes.
    pub const fn ids<const N: usize>(self) -> Fixed<REQUESTS, QUESTIONS, BATCH, URIS, N> {
        Fixed
    }

    /// The memory of a batch.
    pub(crate) const fn batch_bytes(self) -> [u8; BATCH] {
        const {
            assert!(
                BATCH == 0 || BATCH > 2,
                "an array is longer than its brackets"
            );
        }
        [0; BATCH]
    }
}

/// A slice that may be able to grow: the storage of every table and buffer of the core.
///
/// An array or a borrowed slice keeps its length; a `Vec` (feature `alloc`) grows. The table that
/// uses the storage limits its growth, not the storage itself.
pub trait Store<T>: AsRef<[T]> + AsMut<[T]> {
    /// Makes the slice at least `len` long, keeping what it holds, and says whether it did.
    /// By default the answer is no.
    fn grow(&mut self, len: usize) -> bool {
        len <= self.as_ref().len()
    }

    /// Returns the length that [`grow`](Self::grow) never exceeds. By default it is the present
    /// length: a store with a `grow` of its own needs a `max_len` of its own as well.
    fn max_len(&self) -> usize {
        self.as_ref().len()
    }
}

impl<T, const N: usize> Store<T> for [T; N] {}

impl<T> Store<T> for &mut [T] {}

#[cfg(feature = "alloc")]
impl<T: Default> Store<T> for alloc::vec::Vec<T> {
    fn grow(&mut self, len: usize) -> bool {
        if len > self.len() {
            // Tables double by themselves, up to their limits.
            if self.try_reserve_exact(len - self.len()).is_err() {
                return false;
            }
            self.resize_with(len, T::default);
        }
        true
    }

    fn max_len(&self) -> usize {
        usize::MAX
    }
}

/// Makes `store` as long as `wanted`, or else as long as it gets; says whether it is at least
/// as long as `least`. Doubling must not stop at half of a store whose capacity is no power of
/// two.
pub(crate) fn enlarge<T>(store: &mut impl Store<T>, least: usize, wanted: usize) -> bool {
    let wanted = wanted.min(store.max_len());
    store.grow(wanted.max(least)) || store.grow(least)
}

/// Doubles the length of `store`, to at least `first` and at most `limit`; says whether it is longer now.
pub(crate) fn double<T>(store: &mut impl Store<T>, first: usize, limit: usize) -> bool {
    let len = store.as_ref().len();
    let target = len.saturating_mul(2).max(first).min(limit);
    target > len && enlarge(store, len + 1, target)
}

/// Returns the end of what `store` holds after `count` more bytes.
///
/// # Panics
///
/// If it has no room for them and debug assertions are on. Without them it is full.
#[inline]
pub(crate) fn filled(store: &[u8], end: usize, count: usize) -> usize {
    debug_assert!(
        count <= store.len() - end,
        "more than the spare bytes were filled"
    );
    end.saturating_add(count).min(store.len())
}

/// Moves `bytes[start..end]` to the front, and states the new ends.
pub(crate) fn compact(bytes: &mut [u8], start: &mut usize, end: &mut usize) {
    shift(bytes, *start, *end);
    *end -= *start;
    *start = 0;
}

/// Copies as many bytes as both have. Not `copy_from_slice`, whose panic stays in code that is optimized for size.
#[inline]
pub(crate) fn copy(from: &[u8], to: &mut [u8]) {
    if cfg!(not(feature = "alloc")) {
        return copy_by_words(from, to);
    }
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

/// As [`copy`]: the `memcpy` of a target without a C library takes 30 to 120 instructions before the first byte.
#[inline(never)]
fn copy_by_words(from: &[u8], to: &mut [u8]) {
    let len = from.len().min(to.len());
    let (Some(from), Some(to)) = (from.get(..len), to.get_mut(..len)) else {
        return;
    };
    if let Some(end) = from.last_chunk::<8>() {
        // Two words at a time: a loop over single ones is recognized and becomes a `memcpy`.
        let (pairs, _) = from.as_chunks::<4>().0.as_chunks::<2>();
        let (places, _) = to.as_chunks_mut::<4>().0.as_chunks_mut::<2>();
        for ([first, second], [first_place, second_place]) in pairs.iter().zip(places) {
            *first_place = *first;
            *second_place = *second;
        }
        // Some of these bytes were copied already.
        put(end, to.last_chunk_mut());
    } else if let (Some(start), Some(end)) = (from.first_chunk::<4>(), from.last_chunk::<4>()) {
        put(start, to.first_chunk_mut());
        put(end, to.last_chunk_mut());
    } else if let (Some(first), Some(last)) = (from.first(), from.last()) {
        let middle = len / 2;
        put(from.get(middle).unwrap_or(first), to.get_mut(middle));
        put(first, to.first_mut());
        put(last, to.last_mut());
    }
}

fn put<T: Copy>(value: &T, place: Option<&mut T>) {
    if let Some(place) = place {
        *place = *value;
    }
}

/// Moves `bytes[start..end]` to the front.
pub(crate) fn shift(bytes: &mut [u8], start: usize, end: usize) {
    // Not `copy_within`, which has a panic path that no check in front of it removes. A block
    // as long as the gap never overlaps its new place.
    let mut from = start;
    while from < end && start > 0 {
        let Some((low, high)) = bytes.split_at_mut_checked(from) else {
            return;
        };
        let count = start.min(end - from);
        let target = low.get_mut(from - start..).unwrap_or_default();
        for (to, byte) in target.iter_mut().zip(high.iter().take(count)) {
            *to = *byte;
        }
        from += count;
    }
}

/// A `heapless::Vec` as storage: as long as it is filled, growing within its capacity.
#[cfg(feature = "heapless")]
#[derive(Clone, Debug, Default)]
pub struct Heapless<T, const N: usize>(pub heapless::Vec<T, N>);

#[cfg(feature = "heapless")]
impl<T, const N: usize> Heapless<T, N> {
    /// Nothing yet.
    pub const fn new() -> Self {
        Self(heapless::Vec::new())
    }
}

#[cfg(feature = "heapless")]
impl<T, const N: usize> AsRef<[T]> for Heapless<T, N> {
    fn as_ref(&self) -> &[T] {
        &self.0
    }
}

#[cfg(feature = "heapless")]
impl<T, const N: usize> AsMut<[T]> for Heapless<T, N> {
    fn as_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

#[cfg(feature = "heapless")]
impl<T: Default, const N: usize> Store<T> for Heapless<T, N> {
    fn grow(&mut self, len: usize) -> bool {
        if len > N {
            return false;
        }
        while self.0.len() < len {
            if self.0.push(T::default()).is_err() {
                return false;
            }
        }
        true
    }

    fn max_len(&self) -> usize {
        N
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of each length go into places of each length, and no others change.
    #[test]
    fn words_are_copied_as_bytes_are() {
        let from: [u8; 40] = core::array::from_fn(|index| index as u8 + 1);
        for len in 0..=from.len() {
            for room in 0..=from.len() {
                let mut to = [0; 41];
                copy_by_words(&from[..len], &mut to[..room]);
                let copied = len.min(room);
                assert_eq!(to[..copied], from[..copied], "{len} into {room}");
                assert!(
                    to[copied..].iter().all(|byte| *byte == 0),
                    "{len} into {room}"
                );
            }
        }
    }

    #[test]
    fn shifting_is_moving() {
        for start in 0..20 {
            for end in start..20 {
                let mut bytes: [u8; 20] = core::array::from_fn(|index| index as u8);
                let mut moved = bytes;
                moved.copy_within(start..end, 0);
                shift(&mut bytes, start, end);
                assert_eq!(bytes[..end - start], moved[..end - start]);
                assert_eq!(bytes[end..], moved[end..]);
            }
        }
    }

    /// A store of any capacity is filled to its end, not only to the last power of two.
    #[cfg(feature = "heapless")]
    #[test]
    fn every_capacity_is_used() {
        use crate::slots::{Buckets, Slot, Slots};
        use crate::{BufferFull, Inbox, Limits, Outbox, Transmit};

        let limits = Limits::default();
        let mut inbox = Inbox::new(Heapless::<u8, 100>::new(), &limits);
        for _ in 0..8 {
            let spare = inbox.spare_mut().unwrap();
            spare.fill(b'x');
            let count = spare.len();
            inbox.filled(count);
        }
        assert_eq!(inbox.capacity(), 100);

        let mut outbox = Outbox::new(Heapless::<u8, 100>::new(), &limits);
        for len in [60, 38] {
            let put = outbox.put(|out: &mut [u8]| match out.get_mut(..len) {
                Some(_) => Ok(Transmit::pipe(len)),
                None => Err(BufferFull { needed: len }),
            });
            assert!(put.is_ok(), "{len}");
        }

        let memory = (
            Heapless::<Slot<u32>, 11>::new(),
            Heapless::<Buckets, 11>::new(),
        );
        let mut slots = Slots::new(memory, limits.in_flight);
        for n in 0..11 {
            assert!(slots.insert(n, n).is_ok(), "{n}");
        }
        assert!(slots.insert(11, 11).is_err());
    }
}
