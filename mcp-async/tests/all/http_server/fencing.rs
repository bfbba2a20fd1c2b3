//! Sessions that several processes know: who may write them, and when they end for all.

use core::future::Future;
use core::pin::Pin;
use core::sync::atomic::Ordering;
use core::task::{Context as Task, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use http::{Method, Request, StatusCode};
use mcp_async::http::{HttpService, SessionStore};
use tower_service::Service as _;

use crate::http_server::far::{Far, Fault};
use crate::http_server::legacy::{Session, call};
use crate::http_server::stores::{at, ping, process};
use crate::http_server::support::{advance, now};
use crate::sim::{Sim, settle};

const LEVEL: &str =
    r#"{"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"error"}}"#;

/// A request of this session that has not begun.
fn begin(
    session: &Session,
    method: Method,
    body: &str,
) -> Pin<Box<dyn Future<Output = StatusCode>>> {
    let mut service: HttpService<Sim> = session.service.clone();
    let request = Request::builder()
        .method(method)
        .uri("/mcp")
        .header("host", "localhost:8000")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json")
        .header("mcp-session-id", &session.id)
        .body(body.to_owned())
        .unwrap();
    let response = service.call(request);
    Box::pin(async {
        let Ok(response) = response.await;
        response.status()
    })
}

fn record(store: &Far, session: &Session) -> Option<String> {
    let record = now(store.load(&session.id)).unwrap()?;
    Some(String::from_utf8(record).unwrap())
}

/// SH-61
#[test]
fn a_session_that_ended_elsewhere_does_not_come_back() {
    let store = Far::new();
    let [(_, first), (_, second), (_, third)] = core::array::from_fn(|_| process(&store));
    let here = Session::open(&first, "2025-11-25");
    // The first process still knows it, and has something to save and to append.
    let mut running = here.post(&call(1, "slow"));
    running.text();
    assert_eq!(at(&second, &here).delete().status, 204);
    assert_eq!(here.post(LEVEL).status, 404);
    advance(Duration::from_secs(60));
    assert!(!running.text().contains("at last"));
    assert!(running.has_ended());
    assert_eq!(at(&third, &here).post(ping()).status, 404);
    assert_eq!(record(&store, &here), None);
}

/// SH-61
#[test]
fn a_displaced_process_learns_of_it_before_it_runs_anything() {
    let store = Far::new();
    let [(_, first), (_, second)] = core::array::from_fn(|_| process(&store));
    let here = Session::open(&first, "2025-11-25");
    let there = at(&second, &here);
    assert_eq!(there.post(LEVEL).status, 200);
    // What was agreed on there counts here.
    let answer = here.post(&call(1, "echo"));
    assert!(answer.whole().contains("done"));
    let taken = now(store.take_over(&here.id)).unwrap().unwrap();
    assert_eq!(taken.epoch(), 3, "there, here, and by this test");
    let record = record(&store, &here).unwrap();
    assert!(record.contains(r#""log_level":"error""#), "{record}");
}

#[test]
fn whoever_ends_a_session_ends_it_everywhere() {
    let store = Far::new();
    let [(_, first), (_, second)] = core::array::from_fn(|_| process(&store));
    let here = Session::open(&first, "2025-11-25");
    let there = at(&second, &here);
    assert_eq!(there.post(ping()).status, 200);
    // The first process has to save what is new, and learns then that it was displaced.
    let mut requests = [
        begin(&here, Method::POST, LEVEL),
        begin(&here, Method::DELETE, ""),
    ];
    let mut statuses = Vec::new();
    for _ in 0..10 {
        for request in &mut requests {
            let cx = &mut Task::from_waker(Waker::noop());
            if let Poll::Ready(status) = request.as_mut().poll(cx) {
                statuses.push(status.as_u16());
                *request = Box::pin(core::future::pending());
            }
        }
        settle();
    }
    assert_eq!(statuses.len(), 2);
    assert!(statuses.contains(&204), "{statuses:?}");
    assert_eq!(record(&store, &here), None);
    assert_eq!(there.post(ping()).status, 404);
}

#[test]
fn an_end_that_the_store_did_not_take_is_not_confirmed() {
    let store = Far::new();
    let (_, service) = process(&store);
    let session = Session::open(&service, "2025-11-25");
    store.set(Fault::Fails);
    assert_eq!(session.delete().status, 503);
    store.set(Fault::None);
    assert!(record(&store, &session).is_some());
    assert_eq!(session.delete().status, 204);
    assert_eq!(record(&store, &session), None);
}

#[test]
fn a_save_that_failed_is_repeated() {
    let store = Far::new();
    let (_, service) = process(&store);
    let session = Session::open(&service, "2025-11-25");
    store.set(Fault::Fails);
    session.post(LEVEL);
    let saves = || store.saves.load(Ordering::SeqCst);
    let before = saves();
    for _ in 0..300 {
        advance(Duration::from_secs(1));
    }
    let tries = saves() - before;
    assert!((2..=20).contains(&tries), "{tries}");
    store.set(Fault::None);
    advance(Duration::from_secs(60));
    let saved = record(&store, &session).unwrap();
    assert!(saved.contains(r#""log_level":"error""#), "{saved}");
    let after = saves();
    advance(Duration::from_secs(300));
    assert_eq!(saves(), after);
}

#[test]
fn a_session_that_was_taken_over_too_often_is_over() {
    let store = Far::new();
    let (_, first) = process(&store);
    let session = Session::open(&first, "2025-11-25");
    for _ in 0..4095 {
        now(store.take_over(&session.id)).unwrap();
    }
    let (_, second) = process(&store);
    let there = at(&second, &session);
    assert_eq!(there.post(ping()).status, 404, "the client opens a new one");
    assert_eq!(record(&store, &session), None);
}

/// A waker that counts its clones.
struct Counted;

impl std::task::Wake for Counted {
    fn wake(self: Arc<Self>) {}
}

/// hyper polls a service whenever its connection has something to read.
#[test]
fn whoever_waits_is_remembered_once() {
    let store = Far::new();
    let [(_, first), (_, second)] = core::array::from_fn(|_| process(&store));
    let here = Session::open(&first, "2025-11-25");
    let there = at(&second, &here);
    store.set(Fault::Late(100));
    let counted = Arc::new(Counted);
    let waker = Waker::from(Arc::clone(&counted));
    let check = |mut response: Pin<Box<dyn Future<Output = StatusCode>>>| {
        for _ in 0..100 {
            settle();
            let polled = response.as_mut().poll(&mut Task::from_waker(&waker));
            assert!(polled.is_pending());
        }
        let clones = Arc::strong_count(&counted);
        assert!(clones < 10, "{clones}");
    };
    // The second takeover waits for the first.
    let mut takes = begin(&there, Method::POST, ping());
    let polled = takes.as_mut().poll(&mut Task::from_waker(Waker::noop()));
    assert!(polled.is_pending());
    check(begin(&there, Method::POST, ping()));
    drop(takes);
    check(begin(&here, Method::DELETE, ""));
}
