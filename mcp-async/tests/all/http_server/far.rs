//! A store that takes a while, or has other faults, as one process sees it.

use core::future::{pending, poll_fn};
use core::ops::Deref;
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Poll, Waker};
use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use mcp_async::http::{
    Announced, Claim, MemoryStore, MemorySubscription, Owner, Replay, SessionStore, StoreError,
    StoreSubscription, StoredEvent, TakenSession,
};
use mcp_async::runtime::Runtime as _;

use crate::http_server::versions::{Kind, Version};
use crate::sim::{Sim, done, sleep};

/// The fault of a store, as one process sees it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Every call fails.
    Fails,
    /// Every call fails after so many milliseconds.
    FailsLate(u64),
    /// No call has an end.
    Hangs,
    /// Every call reaches the store after so many milliseconds.
    Late(u64),
    /// Every answer leaves the store, and takes so many milliseconds.
    LateAnswer(u64),
    /// Every call is done, and its answer is lost.
    Unanswered,
    /// Every call is done twice.
    Twice,
    /// There is no room for records and events.
    Full,
}

impl Fault {
    /// Delays a call, or fails it, before it reaches the store.
    async fn on_the_way(self) -> Result<(), StoreError> {
        match self {
            Self::Fails => return Err(StoreError::new("out of order")),
            Self::FailsLate(time) => {
                sleep(Duration::from_millis(time)).await;
                return Err(StoreError::new("out of order"));
            }
            Self::Hangs => pending().await,
            Self::Late(time) => sleep(Duration::from_millis(time)).await,
            Self::None | Self::LateAnswer(_) | Self::Unanswered | Self::Twice | Self::Full => {}
        }
        Ok(())
    }

    /// Delays the answer, or loses it.
    async fn on_the_way_back(self) -> Result<(), StoreError> {
        match self {
            Self::LateAnswer(time) => sleep(Duration::from_millis(time)).await,
            Self::Unanswered => return Err(StoreError::new("no answer")),
            _ => {}
        }
        Ok(())
    }
}

/// A rule that processes do not keep, because the store hides what they need for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mutant {
    /// A process that does not reach the store takes its lease for renewed.
    Lease,
    /// A process does not see that its lease has another number.
    Number,
    /// Writes count for the epoch that the session has.
    Epoch,
}

/// The store that all processes see.
pub(crate) struct Common {
    store: Mutex<MemoryStore>,
    /// How often it has begun anew.
    flushes: AtomicUsize,
    /// The processes that have taken sessions, and the epochs of these, by their ids.
    owners: Mutex<BTreeMap<String, (String, u32)>>,
    /// Of the processes that are started.
    version: Mutex<Version>,
    mutant: Mutex<Option<Mutant>>,
}

/// One process's view of it.
#[derive(Clone)]
pub(crate) struct Far(Arc<View>);

pub(crate) struct View {
    pub(crate) common: Arc<Common>,
    pub(crate) saves: AtomicUsize,
    /// Calls that look up the owner of a session.
    pub(crate) claims: AtomicUsize,
    /// Announcements of the process.
    pub(crate) announcements: AtomicUsize,
    /// The lease that was announced last.
    pub(crate) lease: Mutex<Duration>,
    /// The process, since the store has answered it.
    owner: Mutex<Option<Owner>>,
    link: Arc<Link>,
    /// Faults of single calls while there is no lasting one.
    pub(crate) script: Mutex<VecDeque<Fault>>,
    version: Version,
    /// The last writes, by the ids of their sessions.
    writes: Mutex<BTreeMap<String, Writes>>,
}

/// The last writes of a process to a session: the record, and an event by its stream
/// and number, each with its epoch.
#[derive(Default)]
struct Writes {
    record: Option<(u32, Vec<u8>)>,
    event: Option<(u32, u32, u64)>,
}

/// The way to the store.
#[derive(Default)]
struct Link {
    fault: Mutex<Fault>,
    readers: Mutex<Vec<Waker>>,
}

impl Common {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            store: Mutex::new(empty()),
            flushes: AtomicUsize::default(),
            owners: Mutex::default(),
            version: Mutex::default(),
            mutant: Mutex::default(),
        })
    }

    /// The processes that are started from now on have this version.
    pub(crate) fn set_version(&self, version: Version) {
        *self.version.lock().unwrap() = version;
    }

    /// From now on processes do not keep this rule.
    pub(crate) fn set_mutant(&self, mutant: Option<Mutant>) {
        *self.mutant.lock().unwrap() = mutant;
    }

    fn is(&self, mutant: Mutant) -> bool {
        *self.mutant.lock().unwrap() == Some(mutant)
    }

    /// The epoch for which a write of this epoch counts.
    fn counts_for(&self, session: &str, epoch: u32) -> u32 {
        let owners = self.owners.lock().unwrap();
        let now = owners.get(session).filter(|_| self.is(Mutant::Epoch));
        now.map_or(epoch, |(_, now)| *now)
    }

    pub(crate) fn store(&self) -> MemoryStore {
        self.store.lock().unwrap().clone()
    }

    /// The store loses all that it has.
    pub(crate) fn flush(&self) {
        self.flushes.fetch_add(1, Ordering::SeqCst);
        *self.store.lock().unwrap() = empty();
    }

    pub(crate) fn flushes(&self) -> usize {
        self.flushes.load(Ordering::SeqCst)
    }

    /// The record of a session.
    pub(crate) fn record(&self, session: &str) -> Option<String> {
        let record = done(self.store().load(session)).unwrap()?;
        Some(String::from_utf8(record).unwrap())
    }
}

fn empty() -> MemoryStore {
    MemoryStore::default().clock(|| Sim.now())
}

impl Deref for Far {
    type Target = View;

    fn deref(&self) -> &View {
        &self.0
    }
}

impl Far {
    pub(crate) fn of(common: &Arc<Common>) -> Self {
        Self(Arc::new(View {
            common: Arc::clone(common),
            saves: AtomicUsize::default(),
            claims: AtomicUsize::default(),
            announcements: AtomicUsize::default(),
            lease: Mutex::default(),
            owner: Mutex::default(),
            link: Arc::default(),
            script: Mutex::default(),
            version: *common.version.lock().unwrap(),
            writes: Mutex::default(),
        }))
    }

    pub(crate) fn set(&self, fault: Fault) {
        *self.link.fault.lock().unwrap() = fault;
        let readers = core::mem::take(&mut *self.link.readers.lock().unwrap());
        readers.into_iter().for_each(Waker::wake);
    }

    fn fault(&self) -> Fault {
        *self.link.fault.lock().unwrap()
    }

    /// The process in its lease.
    pub(crate) fn owner(&self) -> Owner {
        self.owner.lock().unwrap().clone().expect("no lease yet")
    }

    /// Whether no other process has taken a session since this one has.
    pub(crate) fn has_last_taken(&self, session: &str) -> bool {
        let owners = self.common.owners.lock().unwrap();
        owners
            .get(session)
            .is_some_and(|(owner, _)| **owner == *self.owner().process)
    }

    /// Repeats the writes of this process to sessions that belong to others now.
    pub(crate) fn write_late(&self) {
        let store = self.common.store();
        let owners = self.common.owners.lock().unwrap().clone();
        for (id, writes) in &*self.writes.lock().unwrap() {
            let is_over = |epoch: &u32| owners.get(id).is_some_and(|(_, now)| epoch < now);
            if let Some((epoch, record)) = writes.record.as_ref().filter(|it| is_over(&it.0)) {
                let before = self.common.record(id);
                let epoch = self.common.counts_for(id, *epoch);
                let _ = done(store.save(id, epoch, record, Duration::MAX));
                assert_eq!(
                    self.common.record(id),
                    before,
                    "a displaced process has saved"
                );
            }
            let event = writes.event.as_ref().filter(|it| is_over(&it.0));
            if let Some((epoch, stream, sequence)) = event {
                // One more than there were when it was displaced.
                let mut event = StoredEvent::new(id, *stream, sequence + 1, b"late");
                event.epoch = self.common.counts_for(id, *epoch);
                let added = || done(store.replay(id, *stream, *sequence)).unwrap();
                let before = added().map(|it| it.messages().len());
                let _ = done(store.append(event));
                let after = added().map(|it| it.messages().len());
                assert_eq!(after, before, "a displaced process has written an event");
            }
        }
    }

    fn writes(&self, session: &str, note: impl FnOnce(&mut Writes)) {
        let mut writes = self.writes.lock().unwrap();
        note(writes.entry(session.to_owned()).or_default());
    }

    /// Does this in the store, unless there is a fault.
    async fn call<T: Send>(
        &self,
        work: impl Fn(&MemoryStore) -> Result<T, StoreError> + Send,
    ) -> Result<T, StoreError> {
        let fault = self.next_fault();
        fault.on_the_way().await?;
        if fault == Fault::Twice {
            drop(work(&self.common.store()));
        }
        let done = work(&self.common.store());
        fault.on_the_way_back().await?;
        done
    }

    /// Returns the fault that the next call meets.
    fn next_fault(&self) -> Fault {
        let scripted = self.script.lock().unwrap().pop_front();
        match self.fault() {
            Fault::None => scripted.unwrap_or_default(),
            lasting => lasting,
        }
    }

    /// Writes this to the store, unless there is a fault or no room.
    async fn write(
        &self,
        work: impl Fn(&MemoryStore) -> Result<(), StoreError> + Send,
    ) -> Result<(), StoreError> {
        match self.fault() {
            Fault::Full => Err(StoreError::new("full")),
            _ => self.call(work).await,
        }
    }

    /// This process is the last one that has taken the session.
    fn note(&self, session: &str, owner: &Owner, epoch: u32) {
        let mut owners = self.common.owners.lock().unwrap();
        owners.insert(session.to_owned(), (owner.process.to_string(), epoch));
    }
}

impl SessionStore for Far {
    type Subscription = FarSubscription;

    async fn announce(
        &self,
        process: &str,
        last: u64,
        announcement: &[u8],
        lease: Duration,
    ) -> Result<Announced, StoreError> {
        self.announcements.fetch_add(1, Ordering::SeqCst);
        *self.lease.lock().unwrap() = lease;
        let announcement = self.version.write(Kind::Introduction, announcement);
        if self.common.is(Mutant::Lease) && self.fault() == Fault::Fails {
            let (lease, processes) = (last, Vec::new());
            return Ok(Announced { lease, processes });
        }
        self.call(move |store| {
            let mut announced = done(store.announce(process, last, &announcement, lease))?;
            if self.common.is(Mutant::Number) && last != 0 {
                announced.lease = last;
            }
            *self.owner.lock().unwrap() = Some(Owner::new(process, announced.lease));
            for live in &mut announced.processes {
                let said = core::mem::take(&mut live.announcement);
                live.announcement = self.version.read(Kind::Introduction, said);
            }
            Ok(announced)
        })
        .await
    }

    async fn withdraw(&self, owner: &Owner) -> Result<(), StoreError> {
        self.call(move |store| done(store.withdraw(owner))).await
    }

    async fn create(
        &self,
        id: &str,
        owner: &Owner,
        record: &[u8],
        keep: Duration,
    ) -> Result<(), StoreError> {
        self.saves.fetch_add(1, Ordering::SeqCst);
        let record = self.version.write(Kind::Record, record);
        self.write(move |store| {
            self.note(id, owner, 0);
            done(store.create(id, owner, &record, keep))
        })
        .await
    }

    async fn claim(&self, id: &str, owner: &Owner, displaces: bool) -> Result<Claim, StoreError> {
        self.claims.fetch_add(1, Ordering::SeqCst);
        self.call(move |store| done(store.claim(id, owner, displaces)))
            .await
    }

    async fn load(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        self.call(move |store| {
            let record = done(store.load(id))?;
            Ok(record.map(|record| self.version.read(Kind::Record, record)))
        })
        .await
    }

    async fn take_over(&self, id: &str, owner: &Owner) -> Result<Option<TakenSession>, StoreError> {
        self.call(move |store| {
            let mut taken = done(store.take_over(id, owner))?;
            if let Some(taken) = &mut taken {
                self.note(id, owner, taken.epoch);
                let record = core::mem::take(&mut taken.record);
                taken.record = self.version.read(Kind::Record, record);
            }
            Ok(taken)
        })
        .await
    }

    async fn save(
        &self,
        id: &str,
        epoch: u32,
        record: &[u8],
        keep: Duration,
    ) -> Result<(), StoreError> {
        self.saves.fetch_add(1, Ordering::SeqCst);
        let record = self.version.write(Kind::Record, record);
        self.writes(id, |it| it.record = Some((epoch, record.clone())));
        let epoch = self.common.counts_for(id, epoch);
        self.write(move |store| done(store.save(id, epoch, &record, keep)))
            .await
    }

    async fn release(&self, id: &str, owner: &Owner) -> Result<(), StoreError> {
        self.call(move |store| done(store.release(id, owner))).await
    }

    async fn remove(&self, id: &str, epoch: u32) -> Result<(), StoreError> {
        self.call(move |store| done(store.remove(id, epoch))).await
    }

    async fn append(&self, mut event: StoredEvent<'_>) -> Result<(), StoreError> {
        self.writes(event.session, |it| {
            it.event = Some((event.epoch, event.stream, event.sequence));
        });
        event.epoch = self.common.counts_for(event.session, event.epoch);
        self.write(move |store| done(store.append(event))).await
    }

    async fn replay(
        &self,
        id: &str,
        stream: u32,
        after: u64,
    ) -> Result<Option<Replay>, StoreError> {
        self.call(move |store| done(store.replay(id, stream, after)))
            .await
    }

    async fn publish(&self, message: &[u8]) -> Result<(), StoreError> {
        let message = self.version.write(Kind::Change, message);
        self.call(move |store| done(store.publish(&message))).await
    }

    async fn subscribe(&self) -> Result<FarSubscription, StoreError> {
        self.call(move |store| {
            Ok(FarSubscription {
                common: Arc::clone(&self.common),
                link: Arc::clone(&self.link),
                since: self.common.flushes(),
                version: self.version,
                messages: done(store.subscribe())?,
            })
        })
        .await
    }
}

/// A subscription that ends with the way to the store, or with what the store has.
pub(crate) struct FarSubscription {
    common: Arc<Common>,
    link: Arc<Link>,
    since: usize,
    version: Version,
    messages: MemorySubscription,
}

impl StoreSubscription for FarSubscription {
    async fn next(&mut self) -> Result<Vec<u8>, StoreError> {
        let Self {
            common,
            link,
            since,
            version,
            messages,
        } = self;
        let mut next = pin!(messages.next());
        poll_fn(move |cx| {
            let fault = *link.fault.lock().unwrap();
            match fault {
                Fault::Fails => return Poll::Ready(Err(StoreError::new("out of order"))),
                _ if common.flushes() != *since => {
                    return Poll::Ready(Err(StoreError::new("the store began anew")));
                }
                Fault::Hangs => {}
                _ => {
                    if let Poll::Ready(next) = next.as_mut().poll(cx) {
                        let read = |it| version.read(Kind::Change, it);
                        return Poll::Ready(next.map(read));
                    }
                }
            }
            link.readers.lock().unwrap().push(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}
