//! The processes that share the sessions of an endpoint.
//!
//! ```text
//! message      what processes send to each other
//! forward      a request that another process answers: the side that received it
//! forwarded    the same: the side of the owner, which answers it
//! tasks        the lease of this process, its inbox, and its announcements
//! ```
//!
//! Each process has a name and a lease, which it renews three times in the time that it lasts. A session
//! belongs to the process in which it began, until that process is dead; then the next process that a
//! request arrives at claims the session and takes it over from the store, which begins an epoch.
//!
//! While the owner lives, another process sends it the request as one message: head, body, and the name of
//! the principal. The owner serves it like any other request, its own checks included, and sends the
//! response in numbered parts. At most [`WINDOW`] parts are under way; the receiver reports what its client
//! has read. A receiver whose client is gone cancels; a sender whose receiver is dead drops the response. A
//! response that lacks a part, whose owner is dead, or which is silent for too long ends early, and the
//! client resumes it with `Last-Event-ID`. A request that gets no response in time is answered with 503.

mod forward;
mod forwarded;
mod message;
mod tasks;

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use core::task::Waker;
use core::time::Duration;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::forward::Inbound;
use self::forwarded::Serving;
pub(super) use self::message::Forwarded;
use self::message::Message;
pub(super) use self::tasks::start;
use crate::http::{Claim, Relay, StoreError};
use crate::observe;
use crate::server::Announcement;

/// This process, as the others see it, and what it has under way with them.
pub(super) struct Processes {
    relay: Arc<dyn Relay>,
    name: Arc<str>,
    /// It has been announced once.
    announced: AtomicBool,
    next: AtomicU64,
    /// Requests that others answer, by their numbers.
    pending: Mutex<HashMap<u64, Arc<Inbound>>>,
    /// Requests of others.
    serving: Mutex<Requests>,
    outbox: Mutex<Outbox>,
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
struct Outbox {
    changes: BTreeSet<Announcement>,
    waker: Option<Waker>,
}

impl Processes {
    pub(super) fn new(relay: Arc<dyn Relay>, name: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            relay,
            name,
            announced: AtomicBool::new(false),
            next: AtomicU64::new(1),
            pending: Mutex::default(),
            serving: Mutex::default(),
            outbox: Mutex::default(),
        })
    }

    /// Makes this process the owner of a session, unless another one is; then returns its name.
    pub(super) async fn claim(&self, session: &str) -> Result<Option<String>, StoreError> {
        if !self.announced.load(Ordering::Acquire) {
            self.announce().await?;
        }
        match self.relay.claim(session, &self.name).await? {
            // A session that the store does not have is looked for once more, and not found.
            Claim::Own | Claim::Unknown => Ok(None),
            Claim::Other(owner) => Ok(Some(owner)),
        }
    }

    /// Says that this process lives, and ends what is under way with those that do not.
    async fn announce(&self) -> Result<(), StoreError> {
        let live = self.relay.announce(&self.name, LEASE).await?;
        self.announced.store(true, Ordering::Release);
        let lives = |name: &str| live.iter().any(|live| live == name);
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
    async fn send(&self, process: &str, message: &Message, body: &[u8]) -> bool {
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

    fn pending(&self) -> MutexGuard<'_, HashMap<u64, Arc<Inbound>>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serving(&self) -> MutexGuard<'_, Requests> {
        self.serving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn outbox(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How long a process is alive after it has said so.
const LEASE: Duration = Duration::from_secs(15);

/// Parts of one response that are under way at a time.
const WINDOW: u64 = 32;

/// Changes that wait to be sent. Beyond that some are dropped.
const MAX_CHANGES: usize = 10_000;
