//! Protected servers of several processes that share a store: see the table in `pairs`.

#[path = "../../adapter/pairs.rs"]
mod pairs;

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use http::HeaderValue;
use http::request::Parts;
use mcp_async::http::{AuthError, Http, HttpService, MemoryStore, Principal};
use mcp_async::tasks::store::MemoryTaskStore;

use crate::http_server::support::advance;
use crate::protection::support::{Client, protection, server};
use crate::sim::{self, Sim};

fn run(future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    for _ in 0..100_000 {
        sim::settle();
        let cx = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(()) = future.as_mut().poll(cx) {
            return;
        }
    }
    panic!("it waits");
}

/// AU-17, SH-43
#[test]
fn verified_senders_are_known_at_every_process() {
    run(pairs::check::<Sim, _, _>(
        Arc::<MemoryStore>::default(),
        MemoryTaskStore::new(),
    ));
    sim::end();
}

/// Two processes with these settings, which share a store.
pub(super) fn processes(set: impl Fn(Http<Sim>, usize) -> Http<Sim>) -> [HttpService<Sim>; 2] {
    let store = Arc::<MemoryStore>::default();
    core::array::from_fn(|index| {
        let http = server()
            .http()
            .session_store(store.clone())
            .event_store(store.clone())
            .relay(store.clone());
        set(http, index).into_service().unwrap()
    })
}

/// AU-17: also if the stream passes through another process.
#[test]
fn a_forwarded_stream_ends_when_its_token_expires() {
    let [first, second] = processes(|http, _| http.protect(protection()));
    let here = Client::new(&first, "2025-11-25", "ada/mcp/600");
    let mut there = here.with_token("ada/mcp/-30");
    there.service = second;
    let mut stream = there.get(None);
    assert_eq!(stream.status, 200);
    let pass = |seconds| (0..seconds).for_each(|_| advance(Duration::from_secs(1)));
    pass(20);
    assert!(!stream.has_ended());
    pass(11);
    assert!(stream.has_ended());
    assert_eq!(here.call("who").status, 200);
    sim::end();
}

/// A process that does not accept what another one has accepted is a mistake of the operator.
#[cfg(feature = "tracing")]
#[test]
fn a_forwarded_request_that_is_refused_is_a_warning() {
    let notes = crate::connection::spans::Notes::default();
    notes.watch(|| {
        let [first, second] = processes(|http, index| {
            http.authenticate(move |head: &Parts| {
                let sent = head.headers.get("authorization");
                let is_known = sent.is_some_and(|sent| index == 1 || sent != "Bearer new");
                let refusal = || AuthError::unauthorized(HeaderValue::from_static("Bearer"));
                let known = is_known.then(|| Principal::new("ada")).ok_or_else(refusal);
                async move { known }
            })
        });
        let here = Client::new(&first, "2025-11-25", "old");
        let mut there = here.with_token("new");
        notes.take();
        assert_eq!(there.call("who").status, 401);
        let seen = notes.take().join("\n");
        assert!(!seen.contains("WARN"), "a client may be refused: {seen}");
        there.service = second;
        assert_eq!(there.call("who").status, 401);
    });
    let seen = notes.take().join("\n");
    let expected = "message=a request that another process has forwarded was refused status=401";
    assert!(seen.contains("WARN") && seen.contains(expected), "{seen}");
    sim::end();
}
