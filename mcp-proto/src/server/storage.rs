//! The memory of one server connection.

use core::array;
use core::fmt::Debug;

use super::in_flight::InFlight;
use super::question::Pending;
use crate::id_buf::{self, IdBuf, IdStorage};
use crate::slots::Slot;
use crate::store::Store;

/// The memory in which a [`Server`](super::Server) keeps its tables: [`Fixed`], [`OverHttp`], or
/// `Growing` (feature `alloc`).
///
/// It cannot be implemented elsewhere.
///
/// ```
/// use mcp_proto::server::{Fixed, Server, ServerConfig, Storage};
///
/// /// Works with any memory: arrays on a microcontroller, vectors elsewhere.
/// fn server<S: Storage>(storage: S) -> Server<'static, S> {
///     Server::new(ServerConfig::new("demo", "1.0"), storage).unwrap()
/// }
/// assert_eq!(server(Fixed::<64, 4, 1, 0, 0>::new()).in_flight(), 0);
/// ```
pub trait Storage: Tables {}

impl<S: Tables> Storage for S {}

/// The tables of a [`Storage`], which only this crate can name.
#[expect(unnameable_types, reason = "it seals `Storage`")]
pub trait Tables {
    /// The storage of a client's request id.
    type IdBuf: IdStorage;
    /// Requests of the client in flight.
    type Requests: Store<Slot<InFlight<Self::IdBuf>>>;
    /// Questions to the client in flight.
    type Questions: Store<Slot<Pending>>;
    /// The answers of one batch; of length zero, arrays are refused.
    type Batch: Store<u8>;
    /// The URIs of the resources to which the client is subscribed.
    type Uris: Store<u8>;

    /// The longest id, in bytes as it stands in a message, that an error repeats: at least as long
    /// as those that an [`IdBuf`](Self::IdBuf) holds. So much room is kept for each answer of the
    /// core.
    const ID_ECHO: usize = id_buf::echo(<Self::IdBuf as IdStorage>::CAPACITY);
    /// Whether the server ever asks its client, pings included. What can never happen is left
    /// out of the program, which matters where flash is short.
    const ASKS: bool = true;
    /// Whether arrays are ever gathered.
    const ARRAYS: bool = true;
    /// Whether the client can ever subscribe to a resource.
    const WATCHES: bool = true;
    /// Whether messages ever come by HTTP, with heads to compare and channels that end.
    const HTTP: bool = true;

    /// The memory of the four tables.
    fn into_parts(self) -> (Self::Requests, Self::Questions, Self::Batch, Self::Uris);
}

/// Arrays, for machines without an allocator: `ID` bytes for an id, and so many requests,
/// questions, bytes of a batch and bytes of subscriptions. Without room for questions there are
/// no pings either, and without room for URIs no subscriptions, whatever was declared. They serve
/// a pipe; for HTTP put them into [`OverHttp`]. A `Fixed<64, 4, 1, 0, 0>` holds 4 requests and 1
/// question, and neither batches nor subscriptions.
#[derive(Debug)]
pub struct Fixed<
    const ID: usize,
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
> {
    requests: [Slot<InFlight<IdBuf<ID>>>; REQUESTS],
    questions: [Slot<Pending>; QUESTIONS],
}

impl<
    const ID: usize,
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
> Fixed<ID, REQUESTS, QUESTIONS, BATCH, URIS>
{
    /// Empty arrays.
    ///
    /// A table without room for a request, or for an id, does not compile:
    ///
    /// ```compile_fail,E0080
    /// let storage = mcp_proto::server::Fixed::<64, 0, 0, 0, 0>::new();
    /// ```
    pub fn new() -> Self {
        const {
            assert!(REQUESTS > 0, "a server without room for a request");
            assert!(ID > 0, "a server without room for an id");
            assert!(
                BATCH == 0 || BATCH > 2,
                "an array is longer than its brackets"
            );
        }
        Self {
            requests: array::from_fn(|_| Slot::default()),
            questions: array::from_fn(|_| Slot::default()),
        }
    }
}

impl<
    const ID: usize,
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
> Default for Fixed<ID, REQUESTS, QUESTIONS, BATCH, URIS>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<
    const ID: usize,
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
> Tables for Fixed<ID, REQUESTS, QUESTIONS, BATCH, URIS>
{
    type IdBuf = IdBuf<ID>;
    type Requests = [Slot<InFlight<IdBuf<ID>>>; REQUESTS];
    type Questions = [Slot<Pending>; QUESTIONS];
    type Batch = [u8; BATCH];
    type Uris = [u8; URIS];

    const ASKS: bool = QUESTIONS > 0;
    const ARRAYS: bool = BATCH > 0;
    const WATCHES: bool = URIS > 0;
    const HTTP: bool = false;

    fn into_parts(self) -> (Self::Requests, Self::Questions, Self::Batch, Self::Uris) {
        (self.requests, self.questions, [0; BATCH], [0; URIS])
    }
}

/// The same memory for a server that is reached over HTTP.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverHttp<S>(pub S);

impl<S: Tables> Tables for OverHttp<S> {
    type IdBuf = S::IdBuf;
    type Requests = S::Requests;
    type Questions = S::Questions;
    type Batch = S::Batch;
    type Uris = S::Uris;

    const ID_ECHO: usize = S::ID_ECHO;
    const ASKS: bool = S::ASKS;
    const ARRAYS: bool = S::ARRAYS;
    const WATCHES: bool = S::WATCHES;
    const HTTP: bool = true;

    fn into_parts(self) -> (Self::Requests, Self::Questions, Self::Batch, Self::Uris) {
        self.0.into_parts()
    }
}

/// Vectors that start empty and grow up to the limits; ids of up to 256 bytes, and of up to 1,024
/// bytes in errors.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Growing;

#[cfg(feature = "alloc")]
impl Tables for Growing {
    type IdBuf = IdBuf<256>;
    type Requests = alloc::vec::Vec<Slot<InFlight<Self::IdBuf>>>;
    type Questions = alloc::vec::Vec<Slot<Pending>>;
    type Batch = alloc::vec::Vec<u8>;
    type Uris = alloc::vec::Vec<u8>;

    const ID_ECHO: usize = id_buf::LONG_ECHO;

    fn into_parts(self) -> (Self::Requests, Self::Questions, Self::Batch, Self::Uris) {
        Default::default()
    }
}
