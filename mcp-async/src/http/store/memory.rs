//! Both stores in the memory of one process.

use core::fmt;
use core::future::ready;
use core::time::Duration;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::inboxes::Inboxes;
use super::{
    Claim, EventStore, Relay, Replay, SessionStore, StoreError, StoreFuture, StoredEvent,
    TakenSession,
};

/// Sessions, events and messages in memory: a model of a shared store, for tests and for endpoints
/// that are several in one process.
///
/// It forgets the session that was not used for longest when there are too many, which ends that
/// session, and the oldest events of a session. It remembers as many ids of sessions that ended. It
/// has no clock: how long a record is to be kept does not matter to it, and a lease lasts until it is
/// [withdrawn](Relay::withdraw).
pub struct MemoryStore {
    max_sessions: usize,
    max_events: usize,
    max_bytes: usize,
    sessions: Mutex<Sessions>,
    inboxes: Inboxes,
}

#[derive(Default)]
struct Sessions {
    by_id: HashMap<String, Session>,
    /// The sessions in the order of their last use, oldest first.
    used: BTreeMap<u64, String>,
    clock: u64,
    /// Sessions that were removed: nothing of them is written any more.
    removed: HashSet<String>,
    /// The same in the order of their ends.
    ends: VecDeque<String>,
}

#[derive(Default)]
struct Session {
    used: u64,
    record: Option<Vec<u8>>,
    /// Of the owner; what earlier ones write is refused.
    epoch: u32,
    /// The process that claimed it.
    owner: Option<String>,
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
    /// A store for so many sessions, with so many events in each, that take so many bytes
    /// together.
    pub fn new(max_sessions: usize, max_events: usize, max_bytes: usize) -> Self {
        Self {
            max_sessions: max_sessions.max(1),
            max_events,
            max_bytes,
            sessions: Mutex::default(),
            inboxes: Inboxes::default(),
        }
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// 10 000 sessions, and in each 1 000 events of together 4 MiB.
impl Default for MemoryStore {
    fn default() -> Self {
        Self::new(10_000, 1_000, 4 << 20)
    }
}

impl SessionStore for MemoryStore {
    fn create<'a>(&'a self, id: &'a str, record: &'a [u8], _keep: Duration) -> StoreFuture<'a, ()> {
        let mut sessions = self.sessions();
        let owned = sessions.owned(id, 0, self.max_sessions);
        let created = owned.map(|session| session.record = Some(record.to_vec()));
        Box::pin(ready(created))
    }

    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        _keep: Duration,
    ) -> StoreFuture<'a, ()> {
        let mut sessions = self.sessions();
        let saved = sessions.recorded(id, epoch).and_then(|()| {
            let session = sessions.owned(id, epoch, self.max_sessions)?;
            session.record = Some(record.to_vec());
            Ok(())
        });
        Box::pin(ready(saved))
    }

    fn check<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()> {
        Box::pin(ready(self.sessions().recorded(id, epoch)))
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        let sessions = self.sessions();
        let known = sessions.by_id.get(id);
        Box::pin(ready(Ok(known.and_then(|session| session.record.clone()))))
    }

    fn take_over<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TakenSession>> {
        let mut sessions = self.sessions();
        let taken = sessions.by_id.get_mut(id).and_then(|session| {
            let record = session.record.clone()?;
            session.epoch = session.epoch.saturating_add(1);
            Some(TakenSession::new(record, session.epoch))
        });
        Box::pin(ready(Ok(taken)))
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        self.sessions().remove(id, self.max_sessions);
        Box::pin(ready(Ok(())))
    }
}

impl EventStore for MemoryStore {
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()> {
        let mut sessions = self.sessions();
        let owned = sessions.owned(event.session, event.epoch, self.max_sessions);
        let appended = owned.map(|session| {
            session.append(&event);
            session.trim(self.max_events, self.max_bytes);
        });
        Box::pin(ready(appended))
    }

    fn replay<'a>(
        &'a self,
        session: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>> {
        let sessions = self.sessions();
        let known = sessions.by_id.get(session);
        let stream = known.and_then(|session| session.streams.get(&stream));
        Box::pin(ready(Ok(stream.and_then(|stream| stream.replay(after)))))
    }

    fn begin_epoch<'a>(&'a self, session: &'a str, epoch: u32) -> StoreFuture<'a, u64> {
        let mut sessions = self.sessions();
        let owned = sessions.owned(session, epoch, self.max_sessions);
        let last = owned.map(|session| session.streams.get(&0).map_or(0, |own| own.last));
        Box::pin(ready(last))
    }

    fn remove<'a>(&'a self, session: &'a str) -> StoreFuture<'a, ()> {
        self.sessions().remove(session, self.max_sessions);
        Box::pin(ready(Ok(())))
    }
}

impl Relay for MemoryStore {
    fn announce<'a>(&'a self, process: &'a str, _lease: Duration) -> StoreFuture<'a, Vec<String>> {
        Box::pin(ready(Ok(self.inboxes.announce(process))))
    }

    fn withdraw<'a>(&'a self, process: &'a str) -> StoreFuture<'a, ()> {
        self.inboxes.withdraw(process);
        Box::pin(ready(Ok(())))
    }

    fn claim<'a>(&'a self, session: &'a str, process: &'a str) -> StoreFuture<'a, Claim> {
        let mut sessions = self.sessions();
        let known = sessions.by_id.get_mut(session);
        let claim = match known.filter(|session| session.record.is_some()) {
            None => Claim::Unknown,
            Some(session) => match &session.owner {
                Some(owner) if owner != process && self.inboxes.lives(owner) => {
                    Claim::Other(owner.clone())
                }
                _ => {
                    session.owner = Some(process.to_owned());
                    Claim::Own
                }
            },
        };
        Box::pin(ready(Ok(claim)))
    }

    fn send<'a>(&'a self, process: &'a str, message: &'a [u8]) -> StoreFuture<'a, bool> {
        Box::pin(ready(self.inboxes.send(process, message)))
    }

    fn broadcast<'a>(&'a self, from: &'a str, message: &'a [u8]) -> StoreFuture<'a, ()> {
        self.inboxes.broadcast(from, message);
        Box::pin(ready(Ok(())))
    }

    fn receive<'a>(&'a self, process: &'a str) -> StoreFuture<'a, Vec<Vec<u8>>> {
        self.inboxes.receive(process)
    }
}

impl Sessions {
    /// Whether there is a record, and it is of this epoch.
    fn recorded(&self, id: &str, epoch: u32) -> Result<(), StoreError> {
        match self.by_id.get(id).filter(|known| known.record.is_some()) {
            None => Err(StoreError::Gone),
            Some(known) if known.epoch != epoch => Err(StoreError::Conflict),
            Some(_) => Ok(()),
        }
    }

    /// The session, for the owner of this epoch.
    fn owned(&mut self, id: &str, epoch: u32, max: usize) -> Result<&mut Session, StoreError> {
        if self.removed.contains(id) {
            return Err(StoreError::Gone);
        }
        let known = self.by_id.get(id);
        if known.is_some_and(|session| epoch < session.epoch) {
            return Err(StoreError::Conflict);
        }
        let session = self.touch(id, max);
        session.epoch = epoch;
        Ok(session)
    }

    fn touch(&mut self, id: &str, max: usize) -> &mut Session {
        if !self.by_id.contains_key(id)
            && self.by_id.len() >= max
            && let Some((_, oldest)) = self.used.pop_first()
        {
            self.by_id.remove(&oldest);
        }
        self.clock += 1;
        let session = self.by_id.entry(id.to_owned()).or_default();
        self.used.remove(&session.used);
        session.used = self.clock;
        self.used.insert(self.clock, id.to_owned());
        session
    }

    fn remove(&mut self, id: &str, max: usize) {
        if let Some(session) = self.by_id.remove(id) {
            self.used.remove(&session.used);
        }
        if self.removed.insert(id.to_owned()) {
            self.ends.push_back(id.to_owned());
        }
        if self.ends.len() > max
            && let Some(oldest) = self.ends.pop_front()
        {
            self.removed.remove(&oldest);
        }
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
            .field("sessions", &self.sessions().by_id.len())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use core::task::{Context, Poll, Waker};

    use super::*;
    use crate::http::{check_event_store, check_relay, check_session_store};

    #[track_caller]
    fn now<T>(mut stored: StoreFuture<'_, T>) -> T {
        match stored
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
        {
            Poll::Ready(Ok(value)) => value,
            _ => panic!("it is in memory"),
        }
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
        let checks = async {
            check_session_store(&store, "sessions").await?;
            check_event_store(&store, "events").await?;
            check_relay(&store, &store, "relay").await
        };
        let cx = &mut Context::from_waker(Waker::noop());
        match core::pin::pin!(checks).poll(cx) {
            Poll::Ready(checked) => checked.unwrap(),
            Poll::Pending => panic!("it is in memory"),
        }
    }

    #[test]
    fn replay_is_whole_or_none() {
        let store = MemoryStore::default();
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
        assert_eq!(now(store.begin_epoch("s", 0)), 0);
        append(&store, 0, 1, "own", false);
        assert_eq!(now(store.begin_epoch("s", 0)), 1);
        assert_eq!(now(store.begin_epoch("t", 0)), 0);
        now(EventStore::remove(&store, "s"));
        check(&store, 1, 0, "-");
    }

    #[test]
    fn the_oldest_events_go() {
        let store = MemoryStore::new(10, 3, 100);
        for sequence in 1..=5 {
            append(&store, 0, sequence, "m", false);
        }
        check(&store, 0, 1, "-");
        check(&store, 0, 2, "mmm");
        let store = MemoryStore::new(10, 100, 10);
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
        assert_eq!(now(store.begin_epoch("s", 0)), 2, "it continues from there");
    }

    #[test]
    fn the_session_that_was_not_used_for_longest_goes() {
        let store = MemoryStore::new(2, 10, 100);
        for id in ["a", "b", "a", "c"] {
            now(store.create(id, id.as_bytes(), Duration::ZERO));
        }
        assert_eq!(now(store.take_over("b")), None);
        let taken = now(store.take_over("a")).unwrap();
        assert_eq!((taken.record(), taken.epoch()), (&b"a"[..], 1));
        assert_eq!(now(store.take_over("a")).unwrap().epoch(), 2);
        assert_eq!(now(store.load("a")).unwrap(), b"a");
        now(SessionStore::remove(&store, "a"));
        now(SessionStore::remove(&store, "a"));
        assert_eq!(now(store.take_over("a")), None);
    }

    /// The outcome of a write.
    #[track_caller]
    fn written(mut stored: StoreFuture<'_, ()>) -> &'static str {
        let cx = &mut Context::from_waker(Waker::noop());
        match stored.as_mut().poll(cx) {
            Poll::Ready(Ok(())) => "written",
            Poll::Ready(Err(StoreError::Conflict)) => "conflict",
            Poll::Ready(Err(StoreError::Gone)) => "gone",
            _ => panic!("it is in memory"),
        }
    }

    fn save(store: &MemoryStore, epoch: u32) -> &'static str {
        written(store.save("s", epoch, epoch.to_string().as_bytes(), Duration::ZERO))
    }

    fn append_in(store: &MemoryStore, epoch: u32, sequence: u64) -> &'static str {
        let mut event = StoredEvent::new("s", 1, sequence, b"e");
        event.epoch = epoch;
        written(store.append(event))
    }

    #[test]
    fn earlier_epochs_write_nothing() {
        let store = MemoryStore::default();
        now(store.create("s", b"0", Duration::ZERO));
        assert_eq!(
            (save(&store, 0), append_in(&store, 0, 1)),
            ("written", "written")
        );
        assert_eq!(now(store.take_over("s")).unwrap().epoch(), 1);
        assert_eq!(
            (save(&store, 0), append_in(&store, 0, 2)),
            ("conflict", "conflict")
        );
        assert_eq!(written(store.check("s", 0)), "conflict");
        assert_eq!(
            (save(&store, 1), append_in(&store, 1, 2)),
            ("written", "written")
        );
        assert_eq!(written(store.check("s", 1)), "written");
        assert_eq!(now(store.begin_epoch("s", 3)), 0);
        assert_eq!(
            (save(&store, 1), append_in(&store, 1, 3)),
            ("conflict", "conflict")
        );
        check(&store, 1, 0, "ee");
        assert_eq!(now(store.load("s")).unwrap(), b"1");
    }

    #[test]
    fn what_is_gone_stays_so() {
        let store = MemoryStore::new(2, 10, 100);
        assert_eq!(save(&store, 0), "gone", "nobody has created it");
        for remove in [SessionStore::remove, EventStore::remove] {
            let store = MemoryStore::default();
            now(store.create("s", b"0", Duration::ZERO));
            assert_eq!(append_in(&store, 0, 1), "written");
            now(remove(&store, "s"));
            assert_eq!((save(&store, 0), append_in(&store, 0, 2)), ("gone", "gone"));
            assert_eq!((save(&store, 7), append_in(&store, 7, 2)), ("gone", "gone"));
            assert_eq!(written(store.check("s", 0)), "gone");
            check(&store, 1, 0, "-");
        }
        // What was forgotten for lack of room is gone as well.
        for id in ["s", "t", "u"] {
            now(store.create(id, b"0", Duration::ZERO));
        }
        assert_eq!(save(&store, 0), "gone");
        append(&store, 1, 1, "e", false);
        assert_eq!(save(&store, 0), "gone");
    }
}
