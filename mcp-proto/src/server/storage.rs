//! The memory of one server connection.

use core::fmt::Debug;

use super::in_flight::InFlight;
use super::questions::Pending;
use crate::action::Channel;
use crate::id_buf::{self, IdBuf, IdStorage};
use crate::received::ReceivedRequests;
use crate::slots::Slot;
use crate::source::{Pipe, Place};
#[cfg(feature = "alloc")]
use crate::store::Growing;
use crate::store::Table;

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
/// assert_eq!(server(Fixed::new()).in_flight(), 0);
/// ```
#[expect(private_bounds, reason = "it is sealed")]
pub trait Storage: Tables {
    /// The place that a request comes from: a pipe, or one of the channels of HTTP.
    type Place: Place;
}

/// The tables of a [`Storage`].
pub(crate) trait Tables {
    /// The storage of a client's request id.
    type IdBuf: IdStorage;
    /// Requests of the client in flight.
    type Requests<P: Place>: Table<Slot<InFlight<Self::IdBuf, P>>>;
    /// Questions to the client in flight.
    type Questions: Table<Slot<Pending>>;
    /// The answers of one batch; of length zero, arrays are refused.
    type Batch: Table<u8>;
    /// The URIs of the resources to which the client is subscribed.
    type Uris: Table<u8>;

    /// The longest id, in bytes as it stands in a message, that an error repeats: at least as long
    /// as those that an [`IdBuf`](Self::IdBuf) holds. So much room is kept for each answer of the
    /// core.
    const ID_ECHO: usize = id_buf::echo(<Self::IdBuf as IdStorage>::CAPACITY);

    /// The memory of the requests. Each table has a function, so that it is made where it stays.
    fn requests<P: Place>(&self) -> Self::Requests<P>;
    /// The memory of the questions.
    fn questions(&self) -> Self::Questions;
    /// The memory of a batch.
    fn batch(&self) -> Self::Batch;
    /// The memory of the subscriptions.
    fn uris(&self) -> Self::Uris;
}

/// The requests of the client in flight.
pub(super) type Requests<S> = ReceivedRequests<
    Request<S>,
    <S as Tables>::Requests<<S as Storage>::Place>,
    <S as Tables>::Batch,
>;

/// One of them.
pub(super) type Request<S> = InFlight<<S as Tables>::IdBuf, <S as Storage>::Place>;

/// Arrays, for machines without an allocator. They serve a pipe; for HTTP put them into [`OverHttp`].
///
/// [`new`](Self::new) has 4 requests with ids of up to 64 bytes, and nothing else. Each part has a method that sets its
/// size; in the type the sizes stand in the order of the methods:
///
/// ```
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
///
/// // 8 requests of the client, and 2 to it.
/// type Storage = Fixed<8, 2>;
/// let storage: Storage = Fixed::new().requests::<8>().questions::<2>();
/// let server: Server<'_, Storage> = Server::new(ServerConfig::new("demo", "1.0"), storage)?;
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

    /// So many questions to the client, pings included. With 0, the default, the server asks nothing and sends no pings.
    pub const fn questions<const N: usize>(self) -> Fixed<REQUESTS, N, BATCH, URIS, ID> {
        Fixed
    }

    /// So many bytes for the answers to an array, which is refused otherwise.
    pub const fn batch<const N: usize>(self) -> Fixed<REQUESTS, QUESTIONS, N, URIS, ID> {
        Fixed
    }

    /// So many bytes for the URIs of resources that the client subscribes to, which it cannot otherwise.
    pub const fn uris<const N: usize>(self) -> Fixed<REQUESTS, QUESTIONS, BATCH, N, ID> {
        Fixed
    }

    /// Ids of requests of up to so many bytes.
    pub const fn ids<const N: usize>(self) -> Fixed<REQUESTS, QUESTIONS, BATCH, URIS, N> {
        Fixed
    }
}

impl<
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
    const ID: usize,
> Tables for Fixed<REQUESTS, QUESTIONS, BATCH, URIS, ID>
{
    type IdBuf = IdBuf<ID>;
    type Requests<P: Place> = [Slot<InFlight<IdBuf<ID>, P>>; REQUESTS];
    type Questions = [Slot<Pending>; QUESTIONS];
    type Batch = [u8; BATCH];
    type Uris = [u8; URIS];

    fn requests<P: Place>(&self) -> Self::Requests<P> {
        const {
            assert!(REQUESTS > 0, "a server without room for a request");
            assert!(ID > 0, "a server without room for an id");
        }
        [const { Slot::EMPTY }; REQUESTS]
    }

    fn questions(&self) -> Self::Questions {
        [const { Slot::EMPTY }; QUESTIONS]
    }

    fn batch(&self) -> Self::Batch {
        const {
            assert!(
                BATCH == 0 || BATCH > 2,
                "an array is longer than its brackets"
            );
        }
        [0; BATCH]
    }

    fn uris(&self) -> Self::Uris {
        [0; URIS]
    }
}

impl<
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
    const ID: usize,
> Storage for Fixed<REQUESTS, QUESTIONS, BATCH, URIS, ID>
{
    type Place = Pipe;
}

/// The memory of `S` for a server that is reached over HTTP.
#[derive(Clone, Copy, Debug, Default)]
pub struct OverHttp<S>(pub S);

impl<S: Storage> Storage for OverHttp<S> {
    type Place = Channel;
}

impl<S: Storage> Tables for OverHttp<S> {
    type IdBuf = S::IdBuf;
    type Requests<P: Place> = S::Requests<P>;
    type Questions = S::Questions;
    type Batch = S::Batch;
    type Uris = S::Uris;

    const ID_ECHO: usize = S::ID_ECHO;

    fn requests<P: Place>(&self) -> Self::Requests<P> {
        self.0.requests()
    }

    fn questions(&self) -> Self::Questions {
        self.0.questions()
    }

    fn batch(&self) -> Self::Batch {
        self.0.batch()
    }

    fn uris(&self) -> Self::Uris {
        self.0.uris()
    }
}

#[cfg(feature = "alloc")]
impl Storage for Growing {
    type Place = Channel;
}

#[cfg(feature = "alloc")]
impl Tables for Growing {
    type IdBuf = IdBuf<256>;
    type Requests<P: Place> = alloc::vec::Vec<Slot<InFlight<Self::IdBuf, P>>>;
    type Questions = alloc::vec::Vec<Slot<Pending>>;
    type Batch = alloc::vec::Vec<u8>;
    type Uris = alloc::vec::Vec<u8>;

    const ID_ECHO: usize = id_buf::LONG_ECHO;

    fn requests<P: Place>(&self) -> Self::Requests<P> {
        alloc::vec::Vec::new()
    }

    fn questions(&self) -> Self::Questions {
        Self::Questions::new()
    }

    fn batch(&self) -> Self::Batch {
        Self::Batch::new()
    }

    fn uris(&self) -> Self::Uris {
        Self::Uris::new()
    }
}
