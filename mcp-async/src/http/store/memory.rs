//! A store in the memory of one process.

use core::fmt;
use core::time::Duration;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, MutexGuard};

use mcp_proto::Instant;

use super::published::{MemorySubscription, Published};
use super::{
    Announced, Claim, LiveProcess, Owner, Replay, SessionStore, StoreError, StoredEvent,
    TakenSession,
};
use crate::leases::Leases;
use crate::runtime::monotonic;
use crate::sync::Lock;

/// Sessions, events and messages in memory: a model of a shared store, for tests and for endpoints that
/// are several in one process.
///
/// It forgets the session that was not used for longest when there are too many, which ends that
/// session, and the oldest events of a session. It ignores the time for which a record is to be
/// kept. Clones are one store.
#[derive(Clone)]
pub struct MemoryStore {
    max_sessions: usize,
    max_events: usize,
    max_bytes: usize,
    now: Arc<dyn Fn() -> Instant + Send + Sync>,
    tables: Arc<Lock<Tables>>,
    published: Arc<Published>,
}

#[derive(Default)]
struct Tables {
    leases: Leases,
    /// The announcements of the processes that live.
    announcements: BTreeMap<Arc<str>, Vec<u8>>,
    by_id: HashMap<String, Session>,
    /// The sessions in the order of their last use, oldest first.
    used: BTreeMap<u64, String>,
    uses: u64,
}

#[derive(Default)]
struct Session {
    used: u64,
    record: Vec<u8>,
    epoch: u32,
    owner: Option<Owner>,
    streams: HashMap<u32, Stream>,
    /// The events in the order of their coming, for the oldest to go.
    order: VecDeque<(u32, u64)>,
    bytes: usize,
}

#[derive(Default)]
struct Stream {
    /// Appends may finish in any order.
    events: BTreeMap<u64, Vec<u8>>,
    last: u64,
    ended: bool,
}

impl MemoryStore {
    /// A store for so many sessions, with so many events in each, that take so many bytes together.
    pub fn new(max_sessions: usize, max_events: usize, max_bytes: usize) -> Self {
        Self {
            max_sessions: max_sessions.max(1),
            max_events,
            max_bytes,
            now: Arc::new(monotonic::now),
            tables: Arc::default(),
            published: Arc::default(),
        }
    }

    /// Lets leases end by this clock instead of that of the system, in tests for instance. Clones that were made before keep
    /// the clock that they had.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.now = Arc::new(now);
        self
    }

    fn tables(&self) -> MutexGuard<'_, Tables> {
        self.tables.lock()
    }
}

/// 10,000 sessions, and in each 1,000 events of together 4 MiB.
impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(10_000, 1_000, 4 << 20)
    }
}

impl SessionStore for MemoryStore {
    type Subscription = MemorySubscription;

    async fn announce(
        &self,
        process: &str,
        last: u64,
        announcement: &[u8],
        lease: Duration,
    ) -> Result<Announced, StoreError> {
        let now = (self.now)();
        let Tables {
            leases,
            announcements,
            ..
        } = &mut *self.tables();
        leases.forget_ended(now);
        let lease = leases.renew(process, last, now, lease);
        announcements.insert(process.into(), announcement.to_vec());
        announcements.retain(|process, _| leases.of(process, now).is_some());
        let live = announcements.iter().filter_map(|(process, announcement)| {
            Some(LiveProcess {
                owner: Owner::new(Arc::clone(process), leases.of(process, now)?),
                announcement: announcement.clone(),
            })
        });
        let processes = live.collect();
        Ok(Announced { lease, processes })
    }

    async fn withdraw(&self, owner: &Owner) -> Result<(), StoreError> {
        self.tables().leases.end(&owner.process, owner.lease);
        Ok(())
    }

    async fn create(
        &self,
        id: &str,
        owner: &Owner,
        record: &[u8],
        _keep: Duration,
    ) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let session = tables.touch(id, self.max_sessions);
        session.record = record.to_vec();
        session.owner = Some(owner.clone());
        Ok(())
    }

    async fn claim(&self, id: &str, owner: &Owner, displaces: bool) -> Result<Claim, StoreError> {
        let now = (self.now)();
        Ok(self.tables().claim(id, owner, displaces, now))
    }

    async fn load(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let tables = self.tables();
        Ok(tables.by_id.get(id).map(|session| session.record.clone()))
    }

    async fn take_over(&self, id: &str, owner: &Owner) -> Result<Option<TakenSession>, StoreError> {
        let mut tables = self.tables();
        match tables.by_id.get_mut(id) {
            None => Ok(None),
            Some(session) if session.owner.as_ref() != Some(owner) => Err(StoreError::Conflict),
            Some(session) => {
                session.epoch = session.epoch.saturating_add(1);
                Ok(Some(TakenSession {
                    record: session.record.clone(),
                    epoch: session.epoch,
                    last_event: session.streams.get(&0).map_or(0, |own| own.last),
                }))
            }
        }
    }

    async fn save(
        &self,
        id: &str,
        epoch: u32,
        record: &[u8],
        _keep: Duration,
    ) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let saved = tables.owned(id, epoch, self.max_sessions);
        saved.map(|session| session.record = record.to_vec())
    }

    async fn release(&self, id: &str, owner: &Owner) -> Result<(), StoreError> {
        if let Some(session) = self.tables().by_id.get_mut(id) {
            session.owner.take_if(|it| it.process == owner.process);
        }
        Ok(())
    }

    async fn remove(&self, id: &str, epoch: u32) -> Result<(), StoreError> {
        self.tables().remove(id, epoch)
    }

    async fn append(&self, event: StoredEvent<'_>) -> Result<(), StoreError> {
        let mut tables = self.tables();
        let owned = tables.owned(event.session, event.epoch, self.max_sessions);
        owned.map(|session| {
            session.append(&event);
            session.trim(self.max_events, self.max_bytes);
        })
    }

    async fn replay(
        &self,
        id: &str,
        stream: u32,
        after: u64,
    ) -> Result<Option<Replay>, StoreError> {
        let tables = self.tables();
        let known = tables.by_id.get(id);
        let stream = known.and_then(|session| session.streams.get(&stream));
        Ok(stream.and_then(|stream| stream.replay(after)))
    }

    async fn publish(&self, message: &[u8]) -> Result<(), StoreError> {
        self.published.publish(message);
        Ok(())
    }

    async fn subscribe(&self) -> Result<MemorySubscription, StoreError> {
        Ok(self.published.subscribe())
    }
}

impl Tables {
    fn claim(&mut self, id: &str, owner: &Owner, displaces: bool, now: Instant) -> Claim {
        if self.leases.of(&owner.process, now) != Some(owner.lease) {
            return Claim::Unannounced;
        }
        let Some(session) = self.by_id.get_mut(id) else {
            return Claim::Unknown;
        };
        if let Some(other) = &session.owner
            && other.process != owner.process
        {
            match self.leases.of(&other.process, now) {
                Some(lease) => {
                    return Claim::Other(Owner::new(Arc::clone(&other.process), lease));
                }
                None if !displaces => return Claim::Dead,
                None => {}
            }
        }
        session.owner = Some(owner.clone());
        Claim::Own(session.epoch)
    }

    /// The session, for the owner of this epoch.
    fn owned(&mut self, id: &str, epoch: u32, max: usize) -> Result<&mut Session, StoreError> {
        match self.by_id.get(id) {
            None => Err(StoreError::Gone),
            Some(session) if session.epoch != epoch => Err(StoreError::Conflict),
            Some(_) => Ok(self.touch(id, max)),
        }
    }

    fn touch(&mut self, id: &str, max: usize) -> &mut Session {
        if !self.by_id.contains_key(id)
            && self.by_id.len() >= max
            && let Some((_, oldest)) = self.used.pop_first()
        {
            self.by_id.remove(&oldest);
        }
        self.uses += 1;
        let session = self.by_id.entry(id.to_owned()).or_default();
        self.used.remove(&session.used);
        session.used = self.uses;
        self.used.insert(self.uses, id.to_owned());
        session
    }

    fn remove(&mut self, id: &str, epoch: u32) -> Result<(), StoreError> {
        match self.by_id.get(id) {
            Some(session) if session.epoch != epoch => return Err(StoreError::Conflict),
            Some(session) => self.used.remove(&session.used),
            None => None,
        };
        self.by_id.remove(id);
        Ok(())
    }
}

impl Session {
    fn append(&mut self, event: &StoredEvent<'_>) {
        if event.is_end_alone() {
            // Nothing was kept, nothing can be replayed: its end does not matter.
            if let Some(stream) = self.streams.get_mut(&event.stream) {
                stream.ended = true;
            }
            return;
        }
        let stream = self.streams.entry(event.stream).or_default();
        stream.ended |= event.end;
        stream.last = stream.last.max(event.sequence);
        let before = stream.events.insert(event.sequence, event.message.to_vec());
        if before.is_none() {
            self.order.push_back((event.stream, event.sequence));
        }
        let freed = before.map_or(0, |message| message.len());
        self.bytes = self.bytes.saturating_sub(freed) + event.message.len();
    }

    fn trim(&mut self, max_events: usize, max_bytes: usize) {
        while self.order.len() > max_events || self.bytes > max_bytes {
            let Some((number, sequence)) = self.order.pop_front() else {
                return;
            };
            let Some(stream) = self.streams.get_mut(&number) else {
                continue;
            };
            let message = stream.events.remove(&sequence).unwrap_or_default();
            self.bytes = self.bytes.saturating_sub(message.len());
            // The session's own stream continues; its position must be known.
            if number != 0 && stream.events.is_empty() {
                self.streams.remove(&number);
            }
        }
    }
}

impl Stream {
    fn replay(&self, after: u64) -> Option<Replay> {
        let mut messages = Vec::new();
        for (sequence, message) in self.events.range(after.checked_add(1)?..) {
            if *sequence != after + 1 + messages.len() as u64 {
                // It is not there yet, and what follows it is not to be seen before it; or it
                // was forgotten.
                break;
            }
            messages.push(message.clone());
        }
        let end = after + messages.len() as u64;
        if after > self.last || (messages.is_empty() && end < self.last) {
            return None;
        }
        let replay = Replay::new(messages);
        Some(match self.ended && end == self.last {
            true => replay.ended(),
            false => replay,
        })
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("sessions", &self.tables().by_id.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::pin::pin;
    use core::task::{Context, Poll, Waker};

    use super::*;
    use crate::http::check_session_store;

    #[track_caller]
    fn now<T>(stored: impl Future<Output = Result<T, StoreError>>) -> T {
        match pin!(stored).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(value)) => value,
            _ => panic!("it is in memory"),
        }
    }

    /// A store with the session `s`.
    fn store(max_sessions: usize, max_events: usize, max_bytes: usize) -> MemoryStore {
        let store = MemoryStore::new(max_sessions, max_events, max_bytes);
        create(&store, "s");
        store
    }

    fn create(store: &MemoryStore, id: &str) {
        now(store.create(id, &Owner::new("a", 1), id.as_bytes(), Duration::ZERO));
    }

    fn append(store: &MemoryStore, stream: u32, sequence: u64, message: &str, end: bool) {
        now(store.append(StoredEvent {
            session: "s",
            epoch: 0,
            stream,
            sequence,
            message: message.as_bytes(),
            end,
        }));
    }

    /// `-` is no replay, `.` at the end a stream that has ended.
    fn check(store: &MemoryStore, stream: u32, after: u64, expected: &str) {
        let seen = match now(store.replay("s", stream, after)) {
            None => "-".to_owned(),
            Some(replay) => {
                let mut text = String::new();
                for message in replay.messages() {
                    text += core::str::from_utf8(message).unwrap();
                }
                text + if replay.has_ended() { "." } else { "" }
            }
        };
        assert_eq!(seen, expected, "stream {stream} after {after}");
    }

    #[test]
    fn it_is_as_every_store_must_be() {
        let store = MemoryStore::default();
        let cx = &mut Context::from_waker(Waker::noop());
        match pin!(check_session_store(&store, "check")).poll(cx) {
            Poll::Ready(checked) => checked.unwrap(),
            Poll::Pending => panic!("it is in memory"),
        }
    }

    #[test]
    fn replay_is_whole_or_none() {
        let store = store(10, 100, 100);
        check(&store, 1, 0, "-");
        append(&store, 1, 1, "a", false);
        append(&store, 2, 1, "x", false);
        append(&store, 1, 3, "c", true);
        check(&store, 1, 0, "a");
        append(&store, 1, 2, "b", false);
        check(&store, 1, 0, "abc.");
        check(&store, 1, 1, "bc.");
        check(&store, 1, 3, ".");
        check(&store, 1, 4, "-");
        check(&store, 1, u64::MAX, "-");
        check(&store, 2, 0, "x");
        append(&store, 2, 2, "", true);
        check(&store, 2, 1, ".");
        now(store.remove("s", 0));
        check(&store, 1, 0, "-");
    }

    #[test]
    fn the_oldest_events_go() {
        let full = store(10, 3, 100);
        for sequence in 1..=5 {
            append(&full, 0, sequence, "m", false);
        }
        check(&full, 0, 1, "-");
        check(&full, 0, 2, "mmm");
        let store = store(10, 100, 10);
        append(&store, 0, 1, "1234567", false);
        append(&store, 1, 1, "89", true);
        append(&store, 1, 1, "89", true);
        append(&store, 0, 2, "ab", false);
        check(&store, 0, 0, "-");
        check(&store, 0, 1, "ab");
        check(&store, 1, 0, "89.");
        append(&store, 2, 1, "0123456789", false);
        check(&store, 1, 0, "-");
        check(&store, 0, 1, "-");
        let taken = now(store.take_over("s", &Owner::new("a", 1))).unwrap();
        assert_eq!(taken.last_event, 2, "it continues from there");
    }

    #[test]
    fn the_session_that_was_not_used_for_longest_goes() {
        let store = MemoryStore::new(2, 10, 100);
        for id in ["a", "b", "a", "c"] {
            create(&store, id);
        }
        assert_eq!(now(store.load("b")), None);
        for id in ["a", "c"] {
            assert_eq!(now(store.load(id)).unwrap(), id.as_bytes());
        }
    }

    #[test]
    fn leases_end_by_its_clock() {
        let time = Arc::new(Lock::new(0));
        let clock = Arc::clone(&time);
        let store = MemoryStore::default().clock(move || Instant::from_millis(*clock.lock()));
        let announce = |process, last| {
            let lease = Duration::from_millis(100);
            let announced = now(store.announce(process, last, process.as_bytes(), lease));
            let live = announced.processes.iter();
            let live = live.map(|live| live.owner.process.to_string());
            (announced.lease, live.collect::<String>())
        };
        assert_eq!(announce("a", 0), (1, "a".into()));
        assert_eq!(announce("b", 0), (2, "ab".into()));
        *time.lock() = 99;
        assert_eq!(announce("a", 1), (1, "ab".into()));
        *time.lock() = 100;
        assert_eq!(announce("a", 1), (1, "a".into()));
        assert_eq!(announce("b", 2), (3, "ab".into()));
        assert_eq!(announce("c", 9), (10, "abc".into()));
        now(store.withdraw(&Owner::new("c", 9)));
        assert_eq!(announce("c", 10), (10, "abc".into()));
        now(store.withdraw(&Owner::new("c", 10)));
        assert_eq!(announce("a", 1), (1, "ab".into()));
    }
}
