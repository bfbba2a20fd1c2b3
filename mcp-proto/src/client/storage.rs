//! The tables of a client, in memory of the caller.

use super::abandoned::Abandoned;
use super::call::InFlight;
use super::open_question::OpenQuestion;
use crate::id_buf::{self, IdBuf, IdStorage};
use crate::slots::Slot;
use crate::store::Store;

/// The memory in which a [`Client`](super::Client) keeps its tables: [`Fixed`], or `Growing`
/// (feature `alloc`).
///
/// It cannot be implemented elsewhere.
///
/// ```
/// use mcp_proto::client::{Client, ClientConfig, Fixed, Storage};
///
/// /// Works with any memory.
/// fn client<S: Storage>(storage: S) -> Client<'static, S> {
///     Client::new(ClientConfig::new("demo", "1.0"), storage).unwrap()
/// }
/// assert_eq!(client(Fixed::<4, 1>).in_flight(), 0);
/// ```
pub trait Storage: Tables {}

impl<S: Tables> Storage for S {}

/// The tables of a [`Storage`], which only this crate can name.
#[expect(unnameable_types, reason = "it seals `Storage`")]
pub trait Tables {
    /// The storage of the id of a server's question.
    type IdBuf: IdStorage;
    /// The calls in flight.
    type Calls: Store<Slot<InFlight>>;
    /// The calls that were abandoned.
    type Abandoned: Store<Abandoned>;
    /// The questions of the server that wait for an answer.
    type Questions: Store<Slot<OpenQuestion<Self::IdBuf>>>;
    /// The bytes of a batch; of length zero, none is sent, and the questions of one are answered
    /// singly.
    type Batch: Store<u8>;

    /// The longest id, in bytes as it stands in a message, that an answer of the core repeats. So
    /// much room is kept for each answer of the core.
    const ID_ECHO: usize = id_buf::echo(<Self::IdBuf as IdStorage>::CAPACITY);

    /// The memory of the tables.
    fn into_parts(self) -> Parts<Self>;
}

/// The memory of the tables of a [`Storage`].
#[expect(unnameable_types, reason = "only the sealed `Storage` names it")]
#[expect(missing_debug_implementations, reason = "it is taken apart at once")]
pub struct Parts<T: Tables + ?Sized> {
    pub(super) calls: T::Calls,
    pub(super) abandoned: T::Abandoned,
    pub(super) questions: T::Questions,
    /// The batch that is sent.
    pub(super) batch: T::Batch,
    /// The answers to one that came.
    pub(super) answers: T::Batch,
}

/// Tables of a fixed size: `CALLS` in flight, `QUESTIONS` of the server open, and twice `BATCH`
/// bytes to put batches together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fixed<const CALLS: usize, const QUESTIONS: usize, const BATCH: usize = 0>;

impl<const CALLS: usize, const QUESTIONS: usize, const BATCH: usize> Tables
    for Fixed<CALLS, QUESTIONS, BATCH>
{
    type IdBuf = IdBuf<64>;
    type Calls = [Slot<InFlight>; CALLS];
    type Abandoned = [Abandoned; CALLS];
    type Questions = [Slot<OpenQuestion<Self::IdBuf>>; QUESTIONS];
    type Batch = [u8; BATCH];

    fn into_parts(self) -> Parts<Self> {
        const {
            assert!(CALLS > 0, "a client without room for a call");
            assert!(
                BATCH == 0 || BATCH > 2,
                "an array is longer than its brackets"
            );
        }
        Parts {
            calls: core::array::from_fn(|_| Slot::default()),
            abandoned: [Abandoned::default(); CALLS],
            questions: core::array::from_fn(|_| Slot::default()),
            batch: [0; BATCH],
            answers: [0; BATCH],
        }
    }
}

/// Tables that start empty and grow up to the limits of the configuration.
#[cfg(feature = "alloc")]
#[derive(Clone, Copy, Debug, Default)]
pub struct Growing;

#[cfg(feature = "alloc")]
impl Tables for Growing {
    type IdBuf = IdBuf<256>;
    type Calls = alloc::vec::Vec<Slot<InFlight>>;
    type Abandoned = alloc::vec::Vec<Abandoned>;
    type Questions = alloc::vec::Vec<Slot<OpenQuestion<Self::IdBuf>>>;
    type Batch = alloc::vec::Vec<u8>;

    const ID_ECHO: usize = id_buf::LONG_ECHO;

    fn into_parts(self) -> Parts<Self> {
        Parts {
            calls: alloc::vec::Vec::new(),
            abandoned: alloc::vec::Vec::new(),
            questions: alloc::vec::Vec::new(),
            batch: alloc::vec::Vec::new(),
            answers: alloc::vec::Vec::new(),
        }
    }
}
