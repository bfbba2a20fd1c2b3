//! The store that the processes of one endpoint share.

mod check;
mod dyn_store;
mod error;
mod event;
mod memory;
mod owner;
mod published;

use core::future::Future;
use core::time::Duration;

pub use self::check::check_session_store;
pub(in crate::http) use self::dyn_store::{DynSessionStore, DynSubscription};
pub use self::error::StoreError;
pub use self::event::{Replay, StoredEvent};
pub use self::memory::MemoryStore;
pub use self::owner::{Announced, Claim, LiveProcess, Owner, TakenSession};
pub use self::published::MemorySubscription;

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
/// # Logins
/// An endpoint with delegated logins keeps them as sessions that belong to no process: their owner never announces
/// itself, so that nothing claims them, and their ids have a space. To change a login, a process takes it over and
/// names the epoch with what it writes.
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
/// a digest of it. The server signs what it must be able to trust.
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
/// # Example
/// The methods are written with `async fn`. [`MemoryStore`] is a whole store, [`check_session_store`] tests one.
///
/// ```
/// # use core::time::Duration;
/// # use mcp_async::http::{Announced, Claim, Owner, Replay, StoredEvent, TakenSession};
/// use mcp_async::http::{SessionStore, StoreError, StoreSubscription};
///
/// /// A database with channels for messages.
/// struct Table(Database);
///
/// impl SessionStore for Table {
///     type Subscription = Channel;
///
///     async fn load(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
///         self.0.row(id).await.map_err(StoreError::new)
///     }
///
///     async fn subscribe(&self) -> Result<Channel, StoreError> {
///         let messages = self.0.channel("messages").await.map_err(StoreError::new)?;
///         Ok(Channel(messages))
///     }
///
///     // and the other methods.
/// #   async fn announce(&self, _: &str, last: u64, _: &[u8], _: Duration) -> Result<Announced, StoreError> { Ok(Announced { lease: last, processes: vec![] }) }
/// #   async fn withdraw(&self, _: &Owner) -> Result<(), StoreError> { Ok(()) }
/// #   async fn create(&self, _: &str, _: &Owner, _: &[u8], _: Duration) -> Result<(), StoreError> { Ok(()) }
/// #   async fn claim(&self, _: &str, _: &Owner, _: bool) -> Result<Claim, StoreError> { Ok(Claim::Unknown) }
/// #   async fn take_over(&self, _: &str, _: &Owner) -> Result<Option<TakenSession>, StoreError> { Ok(None) }
/// #   async fn save(&self, _: &str, _: u32, _: &[u8], _: Duration) -> Result<(), StoreError> { Ok(()) }
/// #   async fn release(&self, _: &str, _: &Owner) -> Result<(), StoreError> { Ok(()) }
/// #   async fn remove(&self, _: &str, _: u32) -> Result<(), StoreError> { Ok(()) }
/// #   async fn append(&self, _: StoredEvent<'_>) -> Result<(), StoreError> { Ok(()) }
/// #   async fn replay(&self, _: &str, _: u32, _: u64) -> Result<Option<Replay>, StoreError> { Ok(None) }
/// #   async fn publish(&self, _: &[u8]) -> Result<(), StoreError> { Ok(()) }
/// }
///
/// struct Channel(Messages);
///
/// impl StoreSubscription for Channel {
///     async fn next(&mut self) -> Result<Vec<u8>, StoreError> {
///         self.0.receive().await.map_err(StoreError::new)
///     }
/// }
/// # struct Database;
/// # struct Messages;
/// # impl Database {
/// #   async fn row(&self, _: &str) -> std::io::Result<Option<Vec<u8>>> { Ok(None) }
/// #   async fn channel(&self, _: &str) -> std::io::Result<Messages> { Ok(Messages) }
/// # }
/// # impl Messages {
/// #   async fn receive(&mut self) -> std::io::Result<Vec<u8>> { Ok(vec![]) }
/// # }
/// ```
pub trait SessionStore: Send + Sync {
    /// Receives what is [published](Self::publish).
    type Subscription: StoreSubscription;

    /// Renews the lease of a process for `lease` from now, and keeps its announcement for the others.
    /// `last` is the number of the lease that the process had, 0 if it had none.
    ///
    /// Returns the number of the lease: `last` if that lease is not over, otherwise one that is greater
    /// than `last` and all earlier ones of the process; and all processes that live, this one included.
    fn announce(
        &self,
        process: &str,
        last: u64,
        announcement: &[u8],
        lease: Duration,
    ) -> impl Future<Output = Result<Announced, StoreError>> + Send;

    /// Ends the lease of a process, if it is this one.
    fn withdraw(&self, owner: &Owner) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Keeps the record of a new session for `keep` from now, in epoch 0. The id is new: it has 128
    /// random bits.
    fn create(
        &self,
        id: &str,
        owner: &Owner,
        record: &[u8],
        keep: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Makes `owner` the owner of a session, if its process is the owner in another lease, or if there
    /// is no owner. If the process of the owner does not live, `owner` displaces it where `displaces` says
    /// so.
    ///
    /// Returns [`Claim::Unannounced`] if the lease of `owner` is over, then [`Claim::Unknown`] if there is no
    /// such session, and whose it is otherwise.
    fn claim(
        &self,
        id: &str,
        owner: &Owner,
        displaces: bool,
    ) -> impl Future<Output = Result<Claim, StoreError>> + Send;

    /// Returns the record of a session, which stays with its owner; `None` if there is no such session.
    fn load(&self, id: &str) -> impl Future<Output = Result<Option<Vec<u8>>, StoreError>> + Send;

    /// Begins the next epoch of a session, and keeps the record as long as if it was saved. `None` if
    /// there is no such session.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] if `owner` is not its owner.
    fn take_over(
        &self,
        id: &str,
        owner: &Owner,
    ) -> impl Future<Output = Result<Option<TakenSession>, StoreError>> + Send;

    /// Replaces the record of a session, and keeps it for `keep` from now: a session that no client used
    /// for so long is forgotten, with its events. The server saves a record when it changes, and often
    /// enough to keep it while it is in use.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and [`StoreError::Gone`]; nothing is saved then.
    fn save(
        &self,
        id: &str,
        epoch: u32,
        record: &[u8],
        keep: Duration,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Leaves a session without owner, if it belongs to any lease of the process of `owner`.
    fn release(
        &self,
        id: &str,
        owner: &Owner,
    ) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Forgets a session that ended, and its events. It is no error if it is not there. A store
    /// that is full removes all the same.
    ///
    /// # Errors
    /// [`StoreError::Conflict`]; nothing is removed then.
    fn remove(&self, id: &str, epoch: u32) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Takes one event.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and [`StoreError::Gone`]; nothing is kept then.
    fn append(&self, event: StoredEvent<'_>)
    -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Returns all events of a stream after number `after`, and whether the stream has ended. `None` if
    /// the stream is unknown, or if the event right after `after` was dropped: a replay is complete, or
    /// does not happen.
    fn replay(
        &self,
        id: &str,
        stream: u32,
        after: u64,
    ) -> impl Future<Output = Result<Option<Replay>, StoreError>> + Send;

    /// Sends a message to all subscriptions that there are now, that of this process included.
    fn publish(&self, message: &[u8]) -> impl Future<Output = Result<(), StoreError>> + Send;

    /// Begins to receive what is published from now on.
    fn subscribe(&self) -> impl Future<Output = Result<Self::Subscription, StoreError>> + Send;
}

/// Receives what is [published](SessionStore::publish).
pub trait StoreSubscription: Send + 'static {
    /// Waits for the next message. Messages of one process arrive in their order.
    ///
    /// # Errors
    /// Messages may have been lost: the server drops the subscription and begins another one.
    fn next(&mut self) -> impl Future<Output = Result<Vec<u8>, StoreError>> + Send;
}
