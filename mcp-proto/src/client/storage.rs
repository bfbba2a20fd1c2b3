//! The tables of a client, in memory of the caller.

use super::abandoned::Abandoned;
use super::call::InFlight;
use super::questions::OpenQuestion;
use crate::id_buf::{self, IdBuf, IdStorage};
use crate::model::ClientFeatures;
use crate::slots::{self, Arrays, SlotStore};
#[cfg(feature = "alloc")]
use crate::store::Growing;
use crate::store::{Fixed, Store};

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
/// assert_eq!(client(Fixed::new()).in_flight(), 0);
/// ```
#[expect(private_bounds, reason = "it is sealed")]
pub trait Storage: Tables {}

impl<S: Tables> Storage for S {}

/// The tables of a [`Storage`].
pub(crate) trait Tables {
    /// The storage of the id of a server's question.
    type IdBuf: IdStorage;
    /// The calls in flight.
    type Calls: SlotStore<InFlight>;
    /// The calls that were abandoned.
    type Abandoned: Store<Abandoned>;
    /// The questions of the server that wait for an answer.
    type Questions: SlotStore<OpenQuestion<Self::IdBuf>>;
    /// The bytes of a batch; of length zero, none is sent, and the questions of one are answered
    /// singly.
    type Batch: Store<u8>;

    /// The longest id, in bytes as it stands in a message, that an answer of the core repeats. So
    /// much room is kept for each answer of the core.
    const ID_ECHO: usize = id_buf::echo(<Self::IdBuf as IdStorage>::CAPACITY);
    /// True if there is memory for a batch that is sent.
    const BATCHES: bool = true;
    /// The features that there is no memory for.
    const LACKS: ClientFeatures = ClientFeatures::NONE;

    /// The memory of the calls. Each table has a function, so that it is made where it stays.
    fn calls(&self) -> Self::Calls;
    /// The memory of the calls that were abandoned.
    fn abandoned(&self) -> Self::Abandoned;
    /// The memory of the questions.
    fn questions(&self) -> Self::Questions;
    /// The memory of a batch: one that is sent, or the answers to one that came.
    fn batch(&self) -> Self::Batch;
}

impl<const CALLS: usize, const QUESTIONS: usize, const BATCH: usize, const ID: usize> Tables
    for Fixed<CALLS, QUESTIONS, BATCH, 0, ID>
{
    type IdBuf = IdBuf<ID>;
    type Calls = Arrays<InFlight, CALLS>;
    type Abandoned = [Abandoned; CALLS];
    type Questions = Arrays<OpenQuestion<Self::IdBuf>, QUESTIONS>;
    type Batch = [u8; BATCH];

    const BATCHES: bool = BATCH > 0;
    const LACKS: ClientFeatures = ClientFeatures::ROOTS
        .with(ClientFeatures::SAMPLING)
        .with(ClientFeatures::ELICITATION)
        .when(QUESTIONS == 0);

    fn calls(&self) -> Self::Calls {
        const {
            assert!(CALLS > 0, "a client without room for a call");
            assert!(ID > 0, "a client without room for an id");
        }
        slots::arrays()
    }

    fn abandoned(&self) -> Self::Abandoned {
        [Abandoned::default(); CALLS]
    }

    fn questions(&self) -> Self::Questions {
        slots::arrays()
    }

    fn batch(&self) -> Self::Batch {
        self.batch_bytes()
    }
}

#[cfg(feature = "alloc")]
impl Tables for Growing {
    type IdBuf = id_buf::IdBox<256>;
    type Calls = slots::Vectors<InFlight>;
    type Abandoned = alloc::vec::Vec<Abandoned>;
    type Questions = slots::Vectors<OpenQuestion<Self::IdBuf>>;
    type Batch = alloc::vec::Vec<u8>;

    const ID_ECHO: usize = id_buf::LONG_ECHO;

    fn calls(&self) -> Self::Calls {
        Self::Calls::default()
    }

    fn abandoned(&self) -> Self::Abandoned {
        Self::Abandoned::new()
    }

    fn questions(&self) -> Self::Questions {
        Self::Questions::default()
    }

    fn batch(&self) -> Self::Batch {
        Self::Batch::new()
    }
}
