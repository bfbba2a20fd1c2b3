//! The store that the processes of one endpoint share.

mod check;
mod error;
mod event;
mod memory;
mod owner;
mod published;

use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

pub use self::check::check_session_store;
pub use self::error::StoreError;
pub use self::event::{Replay, StoredEvent};
pub use self::memory::MemoryStore;
pub use self::owner::{Announced, Claim, LiveProcess, Owner, TakenSession};

/// Keeps the legacy sessions of an endpoint and their events, and knows the processes that serve them.
///
/// Without a store a session lives and dies in the process where it began, which is enough for a
/// single server. With one, the endpoint of every process has it: Redis, a database, or another
/// store that they all reach. 2026-07-28 has no sessions, and needs none.
///
/// # Leases
/// A process has a random name, and [announces](Self::announce) itself several times in the time of its
/// lease. An announcement that finds no lease of the process, or one that is over, begins a new lease with
/// a greater number. Leases end by the clock of the store. A process judges its own lease by its own clock,
/// from when it sent the announcement, and serves no session when it may be over.
///
/// # Owners
/// A session belongs to an [`Owner`]: a process in one of its leases. The process in which it begins is the
/// first one. [`claim`](Self::claim) makes another process the owner if the process that was it does not
/// live, or has [released](Self::release) the session. The new owner [takes the session
/// over](Self::take_over), which begins an epoch; epochs are counted from 0. The owner names its epoch with
/// each write, and the store refuses writes of other epochs with [`StoreError::Conflict`], and those of a
/// session that has ended with [`StoreError::Gone`]. So a process that was displaced without knowing it
/// writes nothing.
///
/// # Events
/// An event is sent only after it was taken, so what a client has seen can be replayed by any process.
///
/// - Streams and sequence numbers are the session's: the store mints nothing. Sequence numbers count from
///   1, without a gap.
/// - Appends of one stream may be under way together and finish in any order; a reader stops at the first
///   that has not. An append that fails is repeated, so one event may arrive more than once.
/// - The bounds are the store's: it forgets the oldest events of a session.
///
/// # Records
/// A record, an announcement and a message are bytes that only the server reads. A record contains no
/// secret except the session id, which grants access to the session: store it like a password, or store
/// a digest of it (SH-43). The server signs what it must be able to trust.
///
/// Only [`create`](Self::create) makes a record, and the events of a session are forgotten with it, so a
/// session that has ended does not come back.
///
/// An epoch or an owner is compared, and the value that it guards written, in one atomic step. The
/// state of a process, alive or not, may be read before that step.
///
/// # Errors
/// Any call may fail with [`StoreError::Failed`]; what it asks for may have been done all the same. The server
/// does not limit how long a call takes, and requests wait for it: give the calls of a store a time limit that
/// is at most a sixth of the [lease](crate::http::Http::lease).
///
/// [`MemoryStore`] is one, [`check_session_store`] tests one.
pub trait SessionStore: Send + Sync {
    /// Renews the lease of a process for `lease` from now, and keeps its announcement for the others.
    /// `last` is the number of the lease that the process had, 0 if it had none.
    ///
    /// Returns the number of the lease: `last` if that lease is not over, otherwise one that is greater
    /// than `last` and all earlier ones of the process; and all processes that live, this one included.
    fn announce<'a>(
        &'a self,
        process: &'a str,
        last: u64,
        announcement: &'a [u8],
        lease: Duration,
    ) -> StoreFuture<'a, Announced>;

    /// Ends the lease of a process, if it is this one.
    fn withdraw<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, ()>;

    /// Keeps the record of a new session for `keep` from now, in epoch 0. The id is new: it has 128
    /// random bits.
    fn create<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()>;

    /// Makes `owner` the owner of a session, if its process is the owner in another lease, or if there
    /// is no owner. If the process of the owner does not live, `owner` displaces it where `displaces` says
    /// so.
    ///
    /// Returns [`Claim::Unannounced`] if the lease of `owner` is over, then [`Claim::Unknown`] if there is no
    /// such session, and whose it is otherwise.
    fn claim<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
        displaces: bool,
    ) -> StoreFuture<'a, Claim>;

    /// Returns the record of a session, which stays with its owner; `None` if there is no such session.
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Begins the next epoch of a session, and keeps the record as long as if it was saved. `None` if
    /// there is no such session.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if `owner` is not its owner.
    fn take_over<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
    ) -> StoreFuture<'a, Option<TakenSession>>;

    /// Replaces the record of a session, and keeps it for `keep` from now: a session that no client used
    /// for so long is forgotten, with its events. The server saves a record when it changes, and often
    /// enough to keep it while it is in use.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and [`StoreError::Gone`]; nothing is saved then.
    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()>;

    /// Leaves a session without owner, if it belongs to any lease of the process of `owner`.
    fn release<'a>(&'a self, id: &'a str, owner: &'a Owner) -> StoreFuture<'a, ()>;

    /// Forgets a session that ended, and its events (SH-31). It is no error if it is not there. A store
    /// that is full removes all the same.
    ///
    /// # Errors
    /// [`StoreError::Conflict`]; nothing is removed then.
    fn remove<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()>;

    /// Takes one event.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and [`StoreError::Gone`]; nothing is kept then.
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()>;

    /// Returns all events of a stream after number `after`, and whether the stream has ended. `None` if
    /// the stream is unknown, or if the event right after `after` was dropped: a replay is complete, or
    /// does not happen.
    fn replay<'a>(
        &'a self,
        id: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>>;

    /// Sends a message to all subscriptions that there are now, that of this process included.
    fn publish<'a>(&'a self, message: &'a [u8]) -> StoreFuture<'a, ()>;

    /// Begins to receive what is published from now on.
    fn subscribe(&self) -> StoreFuture<'_, Box<dyn Subscription>>;
}

/// Receives what is [published](SessionStore::publish).
pub trait Subscription: Send {
    /// Waits for the next message. Messages of one process arrive in their order.
    ///
    /// # Errors
    /// Messages may have been lost: the server drops the subscription and begins another one.
    fn next(&mut self) -> StoreFuture<'_, Vec<u8>>;
}

/// The future of a store's answer.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;
