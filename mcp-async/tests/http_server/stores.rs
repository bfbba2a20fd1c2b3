//! Stores: what is sent is stored, and another process goes on where the first one stopped.

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::http::{
    EventStore, HttpService, MemoryStore, Principal, Replay, SessionStore, StoreError, Stored,
    StoredEvent, Taken,
};
use mcp_async::server::Registry;

use crate::legacy::{Session, call, last_id, server};
use crate::sim::Sim;
use crate::support::{advance, sleep};

const SECOND: Duration = Duration::from_secs(1);

/// A store that takes a while, or fails.
#[derive(Debug, Default)]
struct Far {
    store: MemoryStore,
    delay: Duration,
    broken: AtomicBool,
    saves: AtomicUsize,
}

impl Far {
    fn new(delay: Duration) -> Arc<Self> {
        Arc::new(Self {
            delay,
            ..Self::default()
        })
    }

    fn later<'a, T: 'a>(&'a self, work: Stored<'a, T>) -> Stored<'a, T> {
        Box::pin(async move {
            if self.broken.load(Ordering::SeqCst) {
                return Err(StoreError::new("out of order"));
            }
            if !self.delay.is_zero() {
                sleep(self.delay).await;
            }
            work.await
        })
    }
}

impl SessionStore for Far {
    fn save<'a>(&'a self, id: &'a str, record: &'a [u8], keep: Duration) -> Stored<'a, ()> {
        self.saves.fetch_add(1, Ordering::SeqCst);
        self.later(self.store.save(id, record, keep))
    }

    fn take<'a>(&'a self, id: &'a str) -> Stored<'a, Option<Taken>> {
        self.later(self.store.take(id))
    }

    fn remove<'a>(&'a self, id: &'a str) -> Stored<'a, ()> {
        self.later(SessionStore::remove(&self.store, id))
    }
}

impl EventStore for Far {
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> Stored<'a, ()> {
        self.later(self.store.append(event))
    }

    fn replay<'a>(
        &'a self,
        session: &'a str,
        stream: u32,
        after: u64,
    ) -> Stored<'a, Option<Replay>> {
        self.later(self.store.replay(session, stream, after))
    }

    fn last<'a>(&'a self, session: &'a str, stream: u32) -> Stored<'a, u64> {
        self.later(self.store.last(session, stream))
    }

    fn remove<'a>(&'a self, session: &'a str) -> Stored<'a, ()> {
        self.later(EventStore::remove(&self.store, session))
    }
}

/// A process that shares both kinds of things.
fn process(store: &Arc<Far>) -> (Registry, HttpService<Sim>) {
    let server = server();
    let registry = server.registry();
    let service = server
        .http()
        .session_store(Arc::clone(store) as Arc<dyn SessionStore>)
        .event_store(Arc::clone(store) as Arc<dyn EventStore>)
        .into_service();
    (registry, service)
}

/// The same client at another process.
fn at(service: &HttpService<Sim>, session: &Session) -> Session {
    Session {
        service: service.clone(),
        id: session.id.clone(),
        revision: session.revision,
        principal: session.principal.clone(),
    }
}

fn ping() -> &'static str {
    r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#
}

#[test]
fn an_event_is_sent_when_the_store_has_it() {
    let far = Far::new(Duration::from_millis(100));
    let service = server().http().event_store(far).into_service();
    let session = Session::open(&service, "2025-11-25");
    let mut reply = session.post(&call(1, "slow"));
    let primed = reply.text();
    assert!(primed.ends_with("data:\n\n"), "{primed}");
    advance(Duration::from_millis(99));
    assert_eq!(reply.text(), "");
    advance(Duration::from_millis(1));
    assert!(reply.text().contains(r#""progress":1"#));
    advance(SECOND);
    assert_eq!(reply.text(), "");
    advance(Duration::from_millis(100));
    let rest = reply.whole();
    assert!(rest.contains(r#""progress":2"#) && rest.contains("at last"));
    let answer = session.post(ping());
    assert_eq!(
        answer.header("content-type"),
        "application/json",
        "stored nowhere"
    );
}

#[test]
fn a_session_goes_on_in_another_process() {
    let store = Far::new(Duration::ZERO);
    let (_, first) = process(&store);
    let (_, second) = process(&store);
    let here = Session::open(&first, "2025-11-25");
    let mut reply = here.post(&call(1, "slow"));
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#));
    let id = last_id(&seen);
    drop(reply);

    let there = at(&second, &here);
    let answer = there.post(ping());
    assert_eq!(
        (answer.status.as_u16(), answer.whole().as_str()),
        (200, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#)
    );
    let mut resumed = there.get(Some(&id));
    assert_eq!(resumed.status, 200);
    assert_eq!(resumed.text(), "", "nothing more is known there yet");
    assert!(resumed.has_ended());

    advance(SECOND);
    let rest = there.get(Some(&id)).whole();
    assert!(
        rest.contains(r#""progress":2"#) && rest.contains("at last"),
        "{rest}"
    );
    assert!(!rest.contains(r#""progress":1"#));
    let none = there.get(Some(&last_id(&rest))).whole();
    assert_eq!(none, "");

    let new = there.post(&call(2, "slow")).text();
    assert_ne!(
        last_id(&new).split('-').next(),
        id.split('-').next(),
        "numbers do not meet"
    );
    let unknown = there.get(Some("77-1"));
    assert_eq!(unknown.status, 400);
}

#[test]
fn the_sessions_own_stream_goes_on_there() {
    let store = Far::new(Duration::ZERO);
    let (one, first) = process(&store);
    let (two, second) = process(&store);
    let here = Session::open(&first, "2025-11-25");
    let mut get = here.get(None);
    let changed = |registry: &Registry, tool: &str| {
        advance(SECOND);
        assert!(registry.remove_tool(tool));
        advance(SECOND);
    };
    changed(&one, "echo");
    let seen = get.text();
    assert!(seen.contains("tools/list_changed"), "{seen}");
    drop(get);
    changed(&one, "slow");

    let there = at(&second, &here);
    let mut get = there.get(Some(&last_id(&seen)));
    let missed = get.text();
    assert_eq!(missed.matches("list_changed").count(), 1, "{missed}");
    changed(&two, "slow");
    let live = get.text();
    assert_eq!(live.matches("list_changed").count(), 1, "{live}");
    assert_ne!(last_id(&live), last_id(&missed));
}

#[test]
fn what_was_agreed_on_is_known_there() {
    let store = Far::new(Duration::ZERO);
    let (_, first) = process(&store);
    let (_, second) = process(&store);
    let owner = Some(Principal::new("ada"));
    let here = Session::open_as(&first, "2025-06-18", owner);
    let thief = Session {
        principal: Some(Principal::new("eve")),
        ..at(&second, &here)
    };
    assert_eq!(thief.post(ping()).status, 404);
    let there = at(&second, &here);
    let mut asks = there.post(&call(1, "ask"));
    assert!(asks.text().contains("roots/list"), "the client has roots");
    assert_eq!(there.delete().status, 204);
    let (_, third) = process(&store);
    assert_eq!(at(&third, &here).post(ping()).status, 404);
}

#[test]
fn a_broken_store_is_told_or_does_no_harm() {
    let store = Far::new(Duration::ZERO);
    let (_, first) = process(&store);
    let (_, second) = process(&store);
    let session = Session::open(&first, "2025-11-25");
    store.broken.store(true, Ordering::SeqCst);
    let elsewhere = at(&second, &session).post(ping());
    assert_eq!(elsewhere.status, 503);
    assert_ne!(elsewhere.header("retry-after"), "");
    let mut reply = session.post(&call(1, "slow"));
    assert!(
        reply.text().contains(r#""progress":1"#),
        "it is sent all the same"
    );
    advance(SECOND);
    assert!(reply.whole().contains("at last"));
}

#[test]
fn the_record_is_kept_fresh() {
    let store = Far::new(Duration::ZERO);
    let (_, service) = process(&store);
    let session = Session::open(&service, "2025-11-25");
    let saves = || store.saves.load(Ordering::SeqCst);
    let minute = Duration::from_secs(60);
    advance(minute);
    let begun = saves();
    session.post(ping());
    advance(minute);
    assert_eq!(saves(), begun, "nothing is new");
    let level =
        r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"error"}}"#;
    session.post(level);
    advance(minute);
    assert_eq!(saves(), begun + 1);
    let taken = crate::support::now(store.take(&session.id))
        .unwrap()
        .unwrap();
    let record = core::str::from_utf8(taken.record()).unwrap();
    assert!(record.contains(r#""log_level":"error""#), "{record}");

    // What is used is saved again before it fades; what is not used is not.
    session.post(ping());
    advance(16 * minute);
    assert_eq!(saves(), begun + 2);
    advance(10 * minute);
    assert_eq!(saves(), begun + 2);
}
