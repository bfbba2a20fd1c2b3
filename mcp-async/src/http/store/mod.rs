//! Stores that the processes of one endpoint share.

mod check;
mod inboxes;
mod memory;
mod relay;

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;

pub use self::check::{check_event_store, check_relay, check_session_store};
pub use self::memory::MemoryStore;
pub use self::relay::{Claim, Relay};

/// Knows the legacy sessions of an endpoint, so that another process can carry one on.
///
/// Without one a session lives and dies in the process where it began, which is what a single
/// server wants. With one, the endpoint of every process gets it: Redis, a database, whatever
/// they all reach. 2026-07-28 has no sessions, and needs none.
///
/// A session is in use in one process at a time, its owner; another takes it over when that one is
/// gone. Requests that were running there are lost, events that were [stored](EventStore) are not.
/// With a [`Relay`] the processes forward requests to the owner while it lives. Without one, the
/// process that a request arrives at takes the session over, so a balancer should route the requests
/// of a session to one process.
///
/// Each takeover begins an epoch, which is counted from 0. A process names the epoch in which it
/// owns the session with each write, and before it takes in a request. Once another process has
/// taken the session over, the store answers with [`StoreError::Conflict`]; once the record is
/// gone, with [`StoreError::Gone`]. The process that asked then ends its side of the session, and
/// takes the session over again if a client sends a request to it.
///
/// Two rules keep a session that has ended from coming back:
///
/// - Only [`create`](Self::create) makes a record. [`save`](Self::save) replaces one that is there.
/// - The record and its epoch are kept and forgotten together. An epoch that is forgotten before
///   its record would let a displaced process write again.
///
/// The server does not limit how long a store takes, and requests of a session wait for it: give
/// the calls of a store a timeout.
///
/// A record is text that only the server reads. It contains no secret except the session id,
/// which grants access to the session: store it like a password, or store a digest of it
/// (SH-43).
///
/// ```
/// use std::collections::HashMap;
/// use std::sync::Mutex;
/// use core::time::Duration;
///
/// use mcp_async::http::{SessionStore, StoreError, StoreFuture, TakenSession};
///
/// /// A row for each session: its record and its epoch.
/// #[derive(Default)]
/// struct Rows(Mutex<HashMap<String, (Vec<u8>, u32)>>);
///
/// impl Rows {
///     /// Calls this with the row, if the session is there and belongs to this epoch.
///     fn owned(
///         &self,
///         id: &str,
///         epoch: u32,
///         write: impl FnOnce(&mut (Vec<u8>, u32)),
///     ) -> Result<(), StoreError> {
///         let mut rows = self.0.lock().unwrap();
///         match rows.get_mut(id) {
///             None => Err(StoreError::Gone),
///             Some(row) if row.1 != epoch => Err(StoreError::Conflict),
///             Some(row) => Ok(write(row)),
///         }
///     }
/// }
///
/// impl SessionStore for Rows {
///     fn create<'a>(&'a self, id: &'a str, record: &'a [u8], _keep: Duration) -> StoreFuture<'a, ()> {
///         Box::pin(async move {
///             let mut rows = self.0.lock().unwrap();
///             rows.insert(id.to_owned(), (record.to_vec(), 0));
///             Ok(())
///         })
///     }
///
///     fn save<'a>(
///         &'a self,
///         id: &'a str,
///         epoch: u32,
///         record: &'a [u8],
///         _keep: Duration,
///     ) -> StoreFuture<'a, ()> {
///         Box::pin(async move { self.owned(id, epoch, |row| row.0 = record.to_vec()) })
///     }
///
///     fn check<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()> {
///         Box::pin(async move { self.owned(id, epoch, |_| {}) })
///     }
///
///     fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
///         Box::pin(async move {
///             let rows = self.0.lock().unwrap();
///             Ok(rows.get(id).map(|(record, _)| record.clone()))
///         })
///     }
///
///     fn take_over<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TakenSession>> {
///         Box::pin(async move {
///             let mut rows = self.0.lock().unwrap();
///             Ok(rows.get_mut(id).map(|(record, epoch)| {
///                 *epoch += 1;
///                 TakenSession::new(record.clone(), *epoch)
///             }))
///         })
///     }
///
///     fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
///         Box::pin(async move {
///             self.0.lock().unwrap().remove(id);
///             Ok(())
///         })
///     }
/// }
/// # async fn use_it(rows: Rows) {
/// # assert!(matches!(rows.save("a", 0, b"0", Duration::ZERO).await, Err(StoreError::Gone)));
/// # rows.create("a", b"0", Duration::ZERO).await.unwrap();
/// # rows.save("a", 0, b"1", Duration::ZERO).await.unwrap();
/// # assert_eq!(rows.load("a").await.unwrap().unwrap(), b"1");
/// # assert_eq!(rows.take_over("a").await.unwrap().unwrap().record(), b"1");
/// # assert_eq!(rows.take_over("a").await.unwrap().unwrap().epoch(), 2);
/// # assert!(rows.save("a", 1, b"2", Duration::ZERO).await.is_err());
/// # rows.check("a", 2).await.unwrap();
/// # assert!(matches!(rows.check("a", 0).await, Err(StoreError::Conflict)));
/// # rows.remove("a").await.unwrap();
/// # assert!(rows.take_over("a").await.unwrap().is_none());
/// # }
/// # let mut run = Box::pin(use_it(Rows::default()));
/// # let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
/// # assert!(core::future::Future::poll(run.as_mut(), &mut cx).is_ready());
/// ```
pub trait SessionStore: Send + Sync {
    /// Keeps the record of a new session for `keep` from now, in epoch 0. The id is new: it has 128
    /// random bits.
    ///
    /// A session whose record cannot be created does not begin (503).
    fn create<'a>(&'a self, id: &'a str, record: &'a [u8], keep: Duration) -> StoreFuture<'a, ()>;

    /// Replaces the record of a session, and keeps it for `keep` from now: a session that no client
    /// used for so long is to be forgotten. The server saves a record when it changes, and often
    /// enough to keep it while it is in use. A save that fails is repeated.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when the session was taken over in an epoch later than `epoch`,
    /// [`StoreError::Gone`] when there is no record; nothing is saved then. The comparison and the
    /// write are one atomic step.
    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()>;

    /// Verifies that a session is there and belongs to this epoch. The server asks before each
    /// request of a session that it has, so that a process that was displaced runs none; make it
    /// cheap. A request that arrives while another process takes the session over may still run in
    /// both.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] and [`StoreError::Gone`], as for [`save`](Self::save). After any
    /// other error the request is served.
    fn check<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()>;

    /// The record of a session, which stays with its owner: the server reads it to learn whether
    /// the request may use the session. `None` is an unknown session (404).
    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>>;

    /// Takes over a session that this process does not know, and returns its record and the epoch
    /// that begins, counted atomically (`INCR`). The epoch keeps the event ids of one process from
    /// those of another. `None` is an unknown session (404); on an error the client must retry
    /// (503). A session is taken over 4095 times at most; then it is removed, and its client opens
    /// a new one.
    fn take_over<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TakenSession>>;

    /// Forgets a session that ended, whatever its epoch (SH-31). It is no error if it is not there.
    /// On an error the client is asked to send the request again later (503).
    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()>;
}

/// Keeps the events of legacy sessions beyond the process that made them.
///
/// Without one each process keeps the last events of its own sessions, in bounded memory. With
/// one, an event is sent only after it was taken: what a client has seen can be replayed anywhere.
///
/// - Streams and sequence numbers are the session's: the store mints nothing.
/// - A handler that sends progress, a log message or a notification waits for the append of that
///   event, and for no other. A question waits for its answer, which comes later still; an
///   answer is the last that its call says, so there only its reader waits.
/// - Appends of one stream may be under way together and finish in any order; a reader stops at
///   the first that has not. The session's task drives them, so that an event is stored though
///   its call is over.
/// - An append that fails is not repeated. The event is sent all the same, and a later replay of
///   its stream from before it fails. After [`StoreError::Conflict`] or [`StoreError::Gone`] the
///   event is not sent, and the session ends in this process.
/// - A store remembers the ids of sessions that it [removed](Self::remove), for as long as sessions
///   may be idle: another process may not have learnt of the end.
/// - The bounds are the store's: it forgets the oldest events of a session, and all of them some
///   time after the last one. Sequence numbers count from 1, without a gap.
///
/// ```
/// use mcp_async::http::{EventStore, StoreError, StoredEvent};
///
/// /// What a server does with a store: what was taken can be replayed anywhere.
/// async fn keep(store: &dyn EventStore) -> Result<(), StoreError> {
///     store.append(StoredEvent::new("session", 1, 1, b"{}")).await?;
///     let replay = store.replay("session", 1, 0).await?.expect("it was just taken");
///     assert_eq!(replay.messages().next(), Some(&b"{}"[..]));
///     Ok(())
/// }
/// # let store = mcp_async::http::MemoryStore::default();
/// # let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
/// # assert!(core::pin::pin!(keep(&store)).poll(&mut cx).is_ready());
/// ```
pub trait EventStore: Send + Sync {
    /// Takes one event.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when a later epoch than the event's has [begun](Self::begin_epoch),
    /// [`StoreError::Gone`] when the session was [removed](Self::remove); nothing is kept then. The
    /// comparison and the write are one atomic step.
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()>;

    /// Returns all events of a stream after number `after`, and whether the stream has ended.
    /// `None` if the stream is unknown, or if the event right after `after` was dropped: a
    /// replay is complete, or does not happen.
    fn replay<'a>(
        &'a self,
        session: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>>;

    /// Begins an epoch, in which this process owns the session: events of earlier epochs are
    /// refused from now on. Returns the number of the last event of the session's own stream, 0
    /// if there is none.
    ///
    /// # Errors
    /// [`StoreError::Conflict`] when a later epoch has begun, [`StoreError::Gone`] when the session
    /// was removed.
    fn begin_epoch<'a>(&'a self, session: &'a str, epoch: u32) -> StoreFuture<'a, u64>;

    /// Forgets the events of a session that ended, and refuses what comes later with
    /// [`StoreError::Gone`].
    fn remove<'a>(&'a self, session: &'a str) -> StoreFuture<'a, ()>;
}

/// What a store returns: its answer, later.
pub type StoreFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A session as it was found in a store.
#[derive(Clone, PartialEq, Eq)]
pub struct TakenSession {
    record: Vec<u8>,
    epoch: u32,
}

/// One event of one stream of one session.
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredEvent<'a> {
    /// The id of the session.
    pub session: &'a str,
    /// The epoch in which the process that made it owns the session.
    pub epoch: u32,
    /// The number of the stream; 0 is the session's own.
    pub stream: u32,
    /// The number of the event in the stream.
    pub sequence: u64,
    /// The message. It may be empty: the event only has a number, or is the end of a stream that
    /// ends without a message.
    pub message: &'a [u8],
    /// Whether the stream ends with it. An end without a message is no event to be replayed, only
    /// something to be known of the stream.
    pub end: bool,
}

/// The events of a stream after a given event.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Replay {
    messages: Vec<Vec<u8>>,
    ended: bool,
}

/// Why a store did not do what it was asked.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The session belongs to a later epoch than the one that the writer named: another process
    /// has taken it over.
    Conflict,
    /// The session has ended, or the store has forgotten it.
    Gone,
    /// The store failed, for this reason. Its text is for the operator: no client sees it.
    Failed(Box<dyn Error + Send + Sync>),
}

impl TakenSession {
    /// A record, and the epoch that begins.
    pub const fn new(record: Vec<u8>, epoch: u32) -> Self {
        Self { record, epoch }
    }

    /// What was saved.
    pub fn record(&self) -> &[u8] {
        &self.record
    }

    /// The epoch that begins: how often the session has been taken, this time included.
    pub const fn epoch(&self) -> u32 {
        self.epoch
    }
}

impl<'a> StoredEvent<'a> {
    /// An event of the first epoch that does not end its stream, to test a store with;
    /// [`epoch`](Self::epoch) and [`end`](Self::end) can be set.
    pub const fn new(session: &'a str, stream: u32, sequence: u64, message: &'a [u8]) -> Self {
        Self {
            session,
            epoch: 0,
            stream,
            sequence,
            message,
            end: false,
        }
    }

    /// Whether this is the end of its stream and nothing else.
    pub const fn is_end_alone(&self) -> bool {
        self.end && self.message.is_empty()
    }
}

impl Replay {
    /// Creates a replay of these events, in their order, of a stream that continues.
    pub const fn new(messages: Vec<Vec<u8>>) -> Self {
        Self {
            messages,
            ended: false,
        }
    }

    /// Marks the stream as ended after them.
    #[must_use]
    pub const fn ended(mut self) -> Self {
        self.ended = true;
        self
    }

    /// The events.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.messages.iter().map(Vec::as_slice)
    }

    /// Returns whether the stream has ended after them.
    pub const fn has_ended(&self) -> bool {
        self.ended
    }
}

impl StoreError {
    /// A failure of whatever keeps the data.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "another process has taken the session over",
            Self::Gone => "the session has ended",
            Self::Failed(_) => "the store failed",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Conflict | Self::Gone => None,
            Self::Failed(cause) => Some(&**cause),
        }
    }
}

impl fmt::Debug for TakenSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TakenSession")
            .field("epoch", &self.epoch)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for StoredEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredEvent")
            .field("epoch", &self.epoch)
            .field("stream", &self.stream)
            .field("sequence", &self.sequence)
            .field("bytes", &self.message.len())
            .field("end", &self.end)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replay")
            .field("events", &self.messages.len())
            .field("ended", &self.ended)
            .finish()
    }
}
