//! A store that takes a while, or has other faults.

use core::future::pending;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::http::{
    EventStore, MemoryStore, Replay, SessionStore, StoreError, StoreFuture, StoredEvent,
    TakenSession,
};

use crate::http_server::support::sleep;

/// What is wrong with a store, as one process sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Every call fails.
    Fails,
    /// No call has an end.
    Hangs,
    /// Messages are sent twice.
    Doubles,
    /// Messages are lost from this one on.
    Loses(usize),
    /// Every call takes so many milliseconds.
    Late(u64),
}

#[derive(Debug, Default)]
pub(crate) struct Far {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) saves: AtomicUsize,
    fault: Mutex<Fault>,
}

impl Far {
    pub(crate) fn new() -> Arc<Self> {
        Arc::default()
    }

    /// One process's view of a store.
    pub(crate) fn of(store: &Arc<MemoryStore>) -> Arc<Self> {
        Arc::new(Self {
            store: Arc::clone(store),
            ..Self::default()
        })
    }

    /// One whose calls take so many milliseconds.
    pub(crate) fn late(millis: u64) -> Arc<Self> {
        let far = Self::new();
        far.set(Fault::Late(millis));
        far
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.fault.lock().unwrap() = fault;
    }

    pub(crate) fn fault(&self) -> Fault {
        *self.fault.lock().unwrap()
    }

    pub(crate) fn call<'a, T: Send + 'a>(
        &'a self,
        work: impl FnOnce(&'a MemoryStore) -> StoreFuture<'a, T> + Send + 'a,
    ) -> StoreFuture<'a, T> {
        Box::pin(async move {
            match self.fault() {
                Fault::Fails => return Err(StoreError::new("out of order")),
                Fault::Hangs => pending().await,
                Fault::Late(time) => sleep(Duration::from_millis(time)).await,
                _ => {}
            }
            work(&self.store).await
        })
    }
}

impl SessionStore for Far {
    fn create<'a>(&'a self, id: &'a str, record: &'a [u8], keep: Duration) -> StoreFuture<'a, ()> {
        self.saves.fetch_add(1, Ordering::SeqCst);
        self.call(move |store| store.create(id, record, keep))
    }

    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()> {
        self.saves.fetch_add(1, Ordering::SeqCst);
        self.call(move |store| store.save(id, epoch, record, keep))
    }

    /// It is the part that is near.
    fn check<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()> {
        match self.fault() {
            Fault::Late(_) => self.store.check(id, epoch),
            _ => self.call(move |store| store.check(id, epoch)),
        }
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        self.call(move |store| store.load(id))
    }

    fn take_over<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TakenSession>> {
        self.call(move |store| store.take_over(id))
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.call(move |store| SessionStore::remove(store, id))
    }
}

impl EventStore for Far {
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()> {
        self.call(move |store| store.append(event))
    }

    fn replay<'a>(
        &'a self,
        session: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>> {
        self.call(move |store| store.replay(session, stream, after))
    }

    fn begin_epoch<'a>(&'a self, session: &'a str, epoch: u32) -> StoreFuture<'a, u64> {
        self.call(move |store| store.begin_epoch(session, epoch))
    }

    fn remove<'a>(&'a self, session: &'a str) -> StoreFuture<'a, ()> {
        self.call(move |store| EventStore::remove(store, session))
    }
}
