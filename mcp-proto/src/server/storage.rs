//! The memory of one server connection.

use core::fmt::Debug;

use super::in_flight::InFlight;
use super::questions::Pending;
use crate::action::Channel;
use crate::id_buf::{self, IdBuf, IdStorage};
use crate::model::ServerFeatures;
use crate::received::ReceivedRequests;
use crate::revision::RevisionSet;
use crate::slots::{self, Arrays, SlotStore};
use crate::source::{Pipe, Place};
#[cfg(feature = "alloc")]
use crate::store::Growing;
use crate::store::{Fixed, Store};

/// The memory in which a [`Server`](super::Server) keeps its tables: [`Fixed`] or `Growing` (feature `alloc`), as it is
/// or in [`OverHttp`], [`LegacyOnly`] or [`ModernOnly`].
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
    type Requests<P: Place>: SlotStore<InFlight<Self::IdBuf, P>>;
    /// Questions to the client in flight.
    type Questions: SlotStore<Pending>;
    /// The answers of one batch; of length zero, arrays are refused.
    type Batch: Store<u8>;
    /// The URIs of the resources to which the client is subscribed.
    type Uris: Store<u8>;

    /// The longest id, in bytes as it stands in a message, that an error repeats: at least as long
    /// as those that an [`IdBuf`](Self::IdBuf) holds. So much room is kept for each answer of the
    /// core.
    const ID_ECHO: usize = id_buf::echo(<Self::IdBuf as IdStorage>::CAPACITY);
    /// True if there is memory for questions, which pings take as well.
    const ASKS: bool = true;
    /// True if there is memory for the answers of a batch.
    const HAS_BATCHES: bool = true;
    /// True if revisions with a handshake are served.
    const LEGACY: bool = true;
    /// True if revisions without a handshake are served.
    const MODERN: bool = true;
    /// True if `subscriptions/listen` is served in the revisions that have it.
    const LISTENS: bool = true;
    /// The features that there is no memory for.
    const LACKS: ServerFeatures = ServerFeatures::NONE;

    /// Returns those of the revisions that are served.
    fn served(revisions: RevisionSet) -> RevisionSet {
        revisions.of_eras(Self::LEGACY, Self::MODERN)
    }

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

impl<
    const REQUESTS: usize,
    const QUESTIONS: usize,
    const BATCH: usize,
    const URIS: usize,
    const ID: usize,
> Tables for Fixed<REQUESTS, QUESTIONS, BATCH, URIS, ID>
{
    type IdBuf = IdBuf<ID>;
    type Requests<P: Place> = Arrays<InFlight<IdBuf<ID>, P>, REQUESTS>;
    type Questions = Arrays<Pending, QUESTIONS>;
    type Batch = [u8; BATCH];
    type Uris = [u8; URIS];

    const ASKS: bool = QUESTIONS > 0;
    const HAS_BATCHES: bool = BATCH > 0;
    const LACKS: ServerFeatures = ServerFeatures::RESOURCES_SUBSCRIBE.when(URIS == 0);

    fn requests<P: Place>(&self) -> Self::Requests<P> {
        const {
            assert!(REQUESTS > 0, "a server without room for a request");
            assert!(ID > 0, "a server without room for an id");
        }
        slots::arrays()
    }

    fn questions(&self) -> Self::Questions {
        slots::arrays()
    }

    fn batch(&self) -> Self::Batch {
        self.batch_bytes()
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

/// Declares a storage that wraps another and changes some of its constants.
macro_rules! wrapper {
    ($(#[$outer:meta])* $name:ident, $place:ty, $($changed:tt)*) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name<S>(pub S);

        impl<S: Storage> Storage for $name<S> {
            type Place = $place;
        }

        impl<S: Storage> Tables for $name<S> {
            type IdBuf = S::IdBuf;
            type Requests<P: Place> = S::Requests<P>;
            type Questions = S::Questions;
            type Batch = S::Batch;
            type Uris = S::Uris;

            const ID_ECHO: usize = S::ID_ECHO;
            const ASKS: bool = S::ASKS;
            const HAS_BATCHES: bool = S::HAS_BATCHES;
            $($changed)*

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
    };
}

wrapper! {
    /// The memory of `S` for a server that is reached over HTTP.
    OverHttp, Channel,
    const LACKS: ServerFeatures = S::LACKS;
    const LEGACY: bool = S::LEGACY;
    const LISTENS: bool = S::LISTENS;
    const MODERN: bool = S::MODERN;
}

wrapper! {
    /// The memory of `S` for a server of the revisions up to 2025-11-25: the code for 2026-07-28 is not linked.
    ///
    /// ```
    /// use mcp_proto::RevisionSet;
    /// use mcp_proto::server::{Fixed, LegacyOnly, Server, ServerConfig};
    ///
    /// let server = Server::new(ServerConfig::new("demo", "1.0"), LegacyOnly(Fixed::new()))?;
    /// assert_eq!(server.config().revisions, RevisionSet::legacy());
    /// # Ok::<(), mcp_proto::ConfigError>(())
    /// ```
    LegacyOnly, S::Place,
    const LACKS: ServerFeatures = S::LACKS;
    const LEGACY: bool = S::LEGACY;
    const LISTENS: bool = false;
    const MODERN: bool = false;
}

wrapper! {
    /// The memory of `S` for a server of the revisions from 2026-07-28 on: the handshake is not linked. Most other code
    /// serves both eras.
    ModernOnly, S::Place,
    const LACKS: ServerFeatures = S::LACKS;
    const LEGACY: bool = false;
    const LISTENS: bool = S::LISTENS;
    const MODERN: bool = S::MODERN;
}

wrapper! {
    /// The memory of `S` for a server that notifies of no changes: `subscriptions/listen` is refused as an unknown method, and
    /// its code is not linked.
    ///
    /// Capabilities that promise such notifications, in any revision (`listChanged`, `resources.subscribe`), and keys of filters
    /// for 2026-07-28 ([`ServerConfig::filters`](super::ServerConfig::filters)) are the error
    /// [`ConfigError::NoRoomForSubscriptions`](crate::ConfigError::NoRoomForSubscriptions). Progress and log messages are sent as
    /// usual. [`LegacyOnly`] serves no listens anyway.
    ///
    /// ```
    /// use mcp_proto::server::{Fixed, Server, ServerConfig, WithoutSubscriptions};
    ///
    /// let server = Server::new(ServerConfig::new("demo", "1.0"), WithoutSubscriptions(Fixed::new()))?;
    /// # Ok::<(), mcp_proto::ConfigError>(())
    /// ```
    WithoutSubscriptions, S::Place,
    const LACKS: ServerFeatures = S::LACKS.with(ServerFeatures::CHANGES);
    const LEGACY: bool = S::LEGACY;
    const LISTENS: bool = false;
    const MODERN: bool = S::MODERN;
}

#[cfg(feature = "alloc")]
impl Storage for Growing {
    type Place = Channel;
}

#[cfg(feature = "alloc")]
impl Tables for Growing {
    type IdBuf = id_buf::IdBox<256>;
    type Requests<P: Place> = slots::Vectors<InFlight<Self::IdBuf, P>>;
    type Questions = slots::Vectors<Pending>;
    type Batch = alloc::vec::Vec<u8>;
    type Uris = alloc::vec::Vec<u8>;

    const ID_ECHO: usize = id_buf::LONG_ECHO;

    fn requests<P: Place>(&self) -> Self::Requests<P> {
        Self::Requests::default()
    }

    fn questions(&self) -> Self::Questions {
        Self::Questions::default()
    }

    fn batch(&self) -> Self::Batch {
        Self::Batch::new()
    }

    fn uris(&self) -> Self::Uris {
        Self::Uris::new()
    }
}

#[cfg(all(test, feature = "alloc", target_pointer_width = "64"))]
mod tests {
    use super::*;
    use crate::slots::{Buckets, Slot};

    #[test]
    fn a_request_takes_little_memory() {
        assert!(size_of::<Slot<Request<Growing>>>() + size_of::<Buckets>() <= 136);
    }
}
