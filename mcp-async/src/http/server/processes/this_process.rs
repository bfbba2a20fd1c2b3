//! This process, its lease and its keys, and the other processes that live.

use core::pin::pin;
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use http::Uri;
use mcp_proto::Instant;

use super::announcements::Announcements;
use super::counters::Counters;
use super::message::{self, Introduction};
use super::nonces::{Nonces, Numbers, WINDOW};
use super::outbox::Outbox;
use super::owners::Owners;
use super::sharing::ProcessSettings;
use crate::connection::Signal;
use crate::http::store::DynSessionStore;
use crate::http::{Announced, Owner, StoreError};
use crate::observe;
use crate::runtime::{RuntimeHandle, within};
use crate::server::{Decision, DerivedKeys, Ownership, StateKeys};
use crate::sync::Lock;

/// This process, its lease and its keys, and the other processes that live.
pub(in crate::http::server) struct Processes {
    pub(in crate::http::server) shared: ProcessSettings,
    /// The numbers of the requests that this process forwards.
    pub(in crate::http::server) numbers: Numbers,
    pub(in crate::http::server) lease: Duration,
    pub(in crate::http::server) runtime: RuntimeHandle,
    pub(in crate::http::server) keys: Keys,
    ownership: Lock<Ownership>,
    pub(in crate::http::server) announcements: Announcements,
    /// The other processes that live, by their names.
    live: Lock<HashMap<Arc<str>, Process>>,
    /// The owners of sessions when this process last forwarded a request of them.
    pub(in crate::http::server) owners: Owners,
    pub(in crate::http::server) nonces: Nonces,
    pub(in crate::http::server) outbox: Outbox,
    pub(in crate::http::server) counters: Counters,
    /// The endpoint begins no sessions any more.
    pub(in crate::http::server) closing: Signal,
    /// The process announces itself no more.
    pub(in crate::http::server) ended: Signal,
    /// The lease of the process was withdrawn, or the store did not answer.
    pub(in crate::http::server) left: Signal,
}

/// The keys that sign the messages of processes, one for each kind of message.
pub(in crate::http::server) struct Keys {
    introductions: DerivedKeys,
    pub(in crate::http::server) requests: DerivedKeys,
    pub(in crate::http::server) answers: DerivedKeys,
    pub(in crate::http::server) changes: DerivedKeys,
}

/// Another process that lives.
#[derive(Clone)]
pub(in crate::http::server) struct Process {
    pub(in crate::http::server) owner: Owner,
    /// The URL at which the process is reached; `None` if its announcement is of another version, of another key
    /// or out of date.
    pub(in crate::http::server) url: Option<Uri>,
    /// Set when the process does not live any more.
    pub(in crate::http::server) gone: Arc<Signal>,
}

impl Keys {
    fn of(keys: &StateKeys) -> Self {
        Self {
            introductions: keys.derive(b"mcp process\0"),
            requests: keys.derive(b"mcp forwarded request\0"),
            answers: keys.derive(b"mcp forwarded answer\0"),
            changes: keys.derive(b"mcp change\0"),
        }
    }
}

impl Processes {
    pub(in crate::http::server) fn new(
        shared: ProcessSettings,
        lease: Duration,
        runtime: RuntimeHandle,
    ) -> Arc<Self> {
        Arc::new(Self {
            numbers: Numbers::of(&shared.name),
            keys: Keys::of(&shared.keys),
            shared,
            lease,
            runtime,
            ownership: Lock::new(Ownership::new(lease)),
            announcements: Announcements::default(),
            live: Lock::default(),
            owners: Owners::default(),
            nonces: Nonces::default(),
            outbox: Outbox::default(),
            counters: Counters::default(),
            closing: Signal::default(),
            ended: Signal::default(),
            left: Signal::default(),
        })
    }

    pub(in crate::http::server) const fn store(&self) -> &Arc<dyn DynSessionStore> {
        &self.shared.means.store
    }

    /// The name of this process.
    pub(in crate::http::server) const fn name(&self) -> &Arc<str> {
        &self.shared.name
    }

    /// The duration of a lease.
    pub(in crate::http::server) const fn lease(&self) -> Duration {
        self.lease
    }

    /// This process in its lease.
    pub(in crate::http::server) fn owner(&self) -> Owner {
        Owner::new(Arc::clone(self.name()), self.ownership().number())
    }

    /// Returns the step before a session is served that was last confirmed in lease `confirmed`.
    pub(in crate::http::server) fn decide(&self, confirmed: u64) -> Decision {
        self.ownership().decide(self.now(), confirmed)
    }

    /// Returns true if a session may be taken from a process that the store does not know.
    pub(in crate::http::server) fn may_displace(&self) -> bool {
        self.ownership().may_displace(self.now())
    }

    /// Returns true if the lease is good now.
    pub(in crate::http::server) fn has_lease(&self) -> bool {
        let now = self.now();
        self.ownership().holds(now)
    }

    fn now(&self) -> Instant {
        self.runtime.now()
    }

    /// Waits for a lease, unless it is good.
    pub(in crate::http::server) async fn ensure_lease(&self) -> Result<(), StoreError> {
        let holds = || self.ownership().holds(self.now());
        self.announced_until(holds).await
    }

    /// Waits for another lease than one that the store has lost.
    pub(in crate::http::server) async fn replace_lease(&self, lost: u64) -> Result<(), StoreError> {
        self.announced_until(|| self.ownership().number() != lost)
            .await
    }

    /// Waits for an announcement that begins from now on, unless `holds` returns true already, or after the end
    /// of the announcement that is under way.
    async fn announced_until(&self, holds: impl Fn() -> bool) -> Result<(), StoreError> {
        if holds() {
            return Ok(());
        }
        self.announcements.current().await;
        match holds() {
            true => Ok(()),
            false => self.meet_others().await,
        }
    }

    /// Waits for an announcement that begins from now on; the store answers it with the processes that live.
    pub(in crate::http::server) async fn meet_others(&self) -> Result<(), StoreError> {
        match self.announcements.next().await {
            true => Ok(()),
            false => Err(StoreError::new("the lease was not renewed")),
        }
    }

    /// Announces this process, for all requests that wait for it.
    pub(in crate::http::server) async fn renew(&self) -> Result<(), StoreError> {
        self.announcements.begin();
        let renewed = within(&self.runtime, self.lease, self.announce()).await;
        let renewed = renewed.unwrap_or_else(|| Err(StoreError::new("no lease in time")));
        if renewed.is_err() {
            self.ownership().failed();
        }
        self.announcements.end(renewed.is_ok());
        renewed
    }

    async fn announce(&self) -> Result<(), StoreError> {
        let keys = &self.keys.introductions;
        let introduction = Introduction {
            process: self.name().to_string(),
            url: self.shared.url.to_string(),
            until: (keys.now()).saturating_add(self.lease.as_secs().saturating_mul(2)),
        };
        let signed = message::seal(keys, &introduction);
        let (sent, last) = (self.now(), self.ownership().number());
        let announced = self
            .store()
            .announce(self.name(), last, signed.as_bytes(), self.lease)
            .await?;
        self.counters
            .note_latency(self.now().saturating_since(sent));
        {
            let mut ownership = self.ownership();
            if self.ended.is_set() {
                return Err(StoreError::new("the process has ended its lease"));
            }
            ownership.announced(sent, announced.lease);
        }
        self.meet(announced);
        Ok(())
    }

    /// Notes which processes live.
    fn meet(&self, announced: Announced) {
        let mut by_name = HashMap::new();
        let now = self.keys.introductions.now();
        for live in announced.processes {
            let said = message::open::<Introduction>(&self.keys.introductions, &live.announcement);
            let is_fresh = |until: u64| now <= until.saturating_add(WINDOW);
            let genuine =
                said.filter(|said| *said.process == *live.owner.process && is_fresh(said.until));
            let url = genuine.and_then(|said| said.url.parse().ok());
            let owner = live.owner;
            let gone = Arc::default();
            by_name.insert(Arc::clone(&owner.process), Process { owner, url, gone });
        }
        self.owners.retain(|name| by_name.contains_key(name));
        let gone = {
            let mut live = self.live();
            for (name, process) in &mut by_name {
                if let Some(before) = live.remove(name) {
                    process.gone = before.gone;
                }
            }
            core::mem::replace(&mut *live, by_name)
        };
        gone.values().for_each(|process| process.gone.set());
    }

    /// Returns true if the store's answer to the last announcement of this process listed this owner with its
    /// lease.
    pub(in crate::http::server) fn knows(&self, owner: &Owner) -> bool {
        let known = self.find(&owner.process);
        known.is_some_and(|process| process.owner == *owner)
    }

    /// Returns another process, as it was last announced.
    pub(in crate::http::server) fn find(&self, name: &str) -> Option<Process> {
        self.live().get(name).cloned()
    }

    /// Ends the lease for good. From now on this process serves no session, whatever the store says.
    fn end(&self) {
        self.ended.set();
        self.ownership().end();
        self.announcements.close();
    }

    /// Ends the lease, also in the store if that answers in time.
    pub(in crate::http::server) async fn withdraw(&self) {
        self.end();
        let owner = self.owner();
        let withdrawn = within(&self.runtime, LEAVE, self.store().withdraw(&owner)).await;
        if let Some(Err(error)) = withdrawn {
            observe::store_failed(&error);
        }
        self.left.set();
    }

    /// Ends the lease now, and waits until it is withdrawn.
    pub(in crate::http::server) async fn leave(&self) {
        self.end();
        within(&self.runtime, LEAVE, pin!(self.left.wait())).await;
    }

    /// Waits until the store has every change that was reported here, if it answers in time.
    pub(in crate::http::server) async fn published(&self) {
        within(&self.runtime, LEAVE, pin!(self.outbox.emptied())).await;
    }

    fn ownership(&self) -> MutexGuard<'_, Ownership> {
        self.ownership.lock()
    }

    fn live(&self) -> MutexGuard<'_, HashMap<Arc<str>, Process>> {
        self.live.lock()
    }
}

/// The time that a process that ends waits for the store.
pub(in crate::http::server) const LEAVE: Duration = Duration::from_secs(1);
