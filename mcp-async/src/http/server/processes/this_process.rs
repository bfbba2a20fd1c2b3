//! This process, as the others see it, and what it has under way with them.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::task::Waker;
use core::time::Duration;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::inbound::Inbound;
use super::message::Message;
use super::owners::Owners;
use super::serving::Serving;
use crate::http::{Claim, Relay, StoreError};
use crate::observe;
use crate::server::Announcement;

/// This process, as the others see it, and what it has under way with them.
pub(in crate::http::server) struct Processes {
    pub(super) relay: Arc<dyn Relay>,
    pub(super) name: Arc<str>,
    /// How long it is alive after it has said so.
    pub(super) lease: Duration,
    /// It has been announced once.
    announced: AtomicBool,
    pub(super) next: AtomicU64,
    /// Requests that others answer, by their numbers.
    pending: Mutex<HashMap<u64, Arc<Inbound>>>,
    /// Requests of others.
    serving: Mutex<Requests>,
    outbox: Mutex<Outbox>,
    owners: Owners,
}

/// Requests of other processes, by the process and its number.
#[derive(Default)]
struct Requests {
    running: HashMap<(String, u64), Arc<Serving>>,
    /// The last number that each process has used: a request that arrives twice runs once.
    last: HashMap<String, u64>,
}

/// Changes that the other processes do not know yet, each once.
#[derive(Default)]
pub(super) struct Outbox {
    pub(super) changes: BTreeSet<Announcement>,
    pub(super) waker: Option<Waker>,
}

impl Processes {
    pub(in crate::http::server) fn new(
        relay: Arc<dyn Relay>,
        name: Arc<str>,
        lease: Duration,
    ) -> Arc<Self> {
        Arc::new(Self {
            relay,
            name,
            lease,
            announced: AtomicBool::new(false),
            next: AtomicU64::new(1),
            pending: Mutex::default(),
            serving: Mutex::default(),
            outbox: Mutex::default(),
            owners: Owners::default(),
        })
    }

    /// Makes this process the owner of a session, unless another one is; then returns its name.
    pub(in crate::http::server) async fn claim(
        &self,
        session: &str,
    ) -> Result<Option<Arc<str>>, StoreError> {
        if !self.announced.load(Ordering::Acquire) {
            self.announce().await?;
        }
        match self.relay.claim(session, &self.name).await? {
            // A session that the store does not have is looked for once more, and not found.
            Claim::Own | Claim::Unknown => {
                self.owners.remove(session);
                Ok(None)
            }
            Claim::Other(owner) => {
                let owner = Arc::from(owner);
                self.owners.insert(session, &owner);
                Ok(Some(owner))
            }
        }
    }

    /// The process that owned a session when this one was last in touch with it.
    pub(in crate::http::server) fn known_owner(&self, session: &str) -> Option<Arc<str>> {
        self.owners.find(session)
    }

    /// The process that was known as the owner of a session is not, or the session has ended.
    pub(in crate::http::server) fn forget_owner(&self, session: &str) {
        self.owners.remove(session);
    }

    /// Says that this process lives, and ends what is under way with those that do not.
    pub(super) async fn announce(&self) -> Result<(), StoreError> {
        let live = self.relay.announce(&self.name, self.lease).await?;
        self.announced.store(true, Ordering::Release);
        let lives = |name: &str| live.iter().any(|live| live == name);
        self.owners.retain(lives);
        for inbound in self.pending().values() {
            if !lives(inbound.owner()) {
                inbound.fail();
            }
        }
        let mut requests = self.serving();
        requests.last.retain(|process, _| lives(process));
        for ((process, _), serving) in &requests.running {
            if !lives(process) {
                serving.cancel();
            }
        }
        Ok(())
    }

    /// Sends a message; `false` if the process is dead or the message could not be sent.
    pub(super) async fn send(&self, process: &str, message: &Message, body: &[u8]) -> bool {
        match self.relay.send(process, &message.encode(body)).await {
            Ok(sent) => sent,
            Err(error) => {
                observe::store_failed(&error);
                false
            }
        }
    }

    /// Tells the other processes of a change, later: this is called where no runtime may run.
    pub(super) fn report(&self, change: &Announcement) {
        let waker = {
            let mut outbox = self.outbox();
            if outbox.changes.len() >= MAX_CHANGES {
                outbox.changes.pop_first();
            }
            outbox.changes.insert(change.clone());
            outbox.waker.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Registers a request of another process; `None` if it has arrived before.
    pub(super) fn accept(&self, from: &str, number: u64) -> Option<Arc<Serving>> {
        let mut requests = self.serving();
        let last = requests.last.entry(from.to_owned()).or_default();
        // Requests that are sent at the same time may overtake each other.
        if number.saturating_add(REORDERED) <= *last {
            return None;
        }
        *last = number.max(*last);
        match requests.running.entry((from.to_owned(), number)) {
            Entry::Occupied(_) => None,
            Entry::Vacant(place) => Some(Arc::clone(place.insert(Arc::default()))),
        }
    }

    pub(super) fn served(&self, from: &str, number: u64) -> Option<Arc<Serving>> {
        let key = (from.to_owned(), number);
        self.serving().running.get(&key).cloned()
    }

    pub(super) fn forget(&self, from: String, number: u64) {
        self.serving().running.remove(&(from, number));
    }

    pub(super) fn pending(&self) -> MutexGuard<'_, HashMap<u64, Arc<Inbound>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serving(&self) -> MutexGuard<'_, Requests> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Changes that wait to be sent. Beyond that some are dropped.
const MAX_CHANGES: usize = 10_000;

/// How many requests of one process may be under way to this one at a time.
const REORDERED: u64 = 4096;
