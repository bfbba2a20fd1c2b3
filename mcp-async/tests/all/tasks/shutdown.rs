//! The end of tasks with their server.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::Server;
use mcp_async::tasks::server::Tasks;
use mcp_async::tasks::store::{MemoryTaskStore, TaskStore};
use mcp_proto::Revision;

use super::stores::{Fault, Hostile};
use super::support::{BOTH, Running, about, create, pass, server, status};
use crate::scripted::{LineClient, Serve, declaring, member, modern, send, text};
use crate::sim::{self};
use crate::texts::{SHUTTING_DOWN, has};

type Built = Server<Running>;

fn start(store: impl TaskStore + 'static) -> (Built, LineClient, Running) {
    let (server, running) = server(Tasks::new().store(store));
    let server = server.shutdown_timeout(Duration::from_secs(1)).build();
    let server = server.unwrap();
    let wire = LineClient::declaring(&server, Revision::V2026_07_28, BOTH);
    (server, wire, running)
}

/// TK-60: what runs has the time of a shutdown, and fails then, whatever it does.
#[test]
fn a_shutdown_lets_tasks_end_in_its_time_and_fails_the_others() {
    let store = MemoryTaskStore::new();
    let (server, mut wire, running) = start(store.clone());
    let quick = create(&mut wire, "job", r#"{"steps":5}"#);
    let slow = create(&mut wire, "job", r#"{"steps":1000}"#);
    let asks = create(&mut wire, "job", r#"{"ask":1}"#);
    pass(0);
    server.registry().shutdown();
    (0..5).for_each(|_| pass(100));
    let (_other, mut there, _) = start(store);
    assert_eq!(status(&mut there, &quick), "completed");
    pass(499);
    assert_eq!(status(&mut there, &slow), "working");
    assert_eq!(status(&mut there, &asks), "input_required");
    assert_eq!(running.get(), 2);
    pass(1);
    assert_eq!(running.get(), 0);
    for id in [slow, asks] {
        let got = about(&mut there, "tasks/get", &id);
        assert_eq!(text(&got, &["result", "status"]), "failed");
        assert_eq!(text(&got, &["result", "statusMessage"]), SHUTTING_DOWN);
        assert_eq!(member(&got, &["result", "error", "code"]), "-32603");
    }
    sim::end();
}

/// A program that reloads itself builds the next server from the same builder.
#[test]
fn the_end_of_one_server_leaves_the_tasks_of_another() {
    let (builder, running) = server(Tasks::new());
    let (old, new) = (builder.clone().build().unwrap(), builder.build().unwrap());
    let mut wire = LineClient::declaring(&new, Revision::V2026_07_28, BOTH);
    let id = create(&mut wire, "job", r#"{"steps":5}"#);
    let slow = create(&mut wire, "job", r#"{"steps":1000}"#);
    old.registry().shutdown();
    drop(old);
    (0..30).for_each(|_| pass(100));
    assert_eq!(status(&mut wire, &id), "completed");
    create(&mut wire, "job", r#"{"steps":5}"#);
    new.registry().shutdown();
    pass(20_000);
    assert_eq!(status(&mut wire, &slow), "failed");
    assert_eq!(running.get(), 0);
    sim::end();
}

/// TK-60
#[test]
fn the_tasks_of_a_dropped_server_end() {
    let store = MemoryTaskStore::new();
    let (server, mut wire, running) = start(store.clone());
    let id = create(&mut wire, "job", r#"{"steps":1000}"#);
    pass(100);
    drop(server);
    pass(100);
    // The connection is served on.
    assert_eq!(status(&mut wire, &id), "working");
    drop(wire);
    pass(0);
    assert_eq!(running.get(), 0);
    let (_other, mut there, _) = start(store);
    let got = about(&mut there, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "statusMessage"]), SHUTTING_DOWN);
    sim::end();
}

/// TK-60
#[test]
fn a_store_that_fails_does_not_delay_the_end_of_a_server() {
    for fault in [Fault::Never, Fault::Fails, Fault::Refuses] {
        let store = Hostile::new(fault, usize::MAX / 2);
        let (server, mut wire, running) = start(store.clone());
        create(&mut wire, "job", r#"{"steps":1000}"#);
        pass(100);
        store.fail_after(0);
        drop((server, wire));
        pass(0);
        assert_eq!(running.get(), 0, "{fault:?}");
        (0..40).for_each(|_| pass(500));
        assert_eq!(sim::settle(), 0, "{fault:?}");
    }
}

/// TK-60: a program that mounts the service waits for the tasks that its end ends, even if the service has
/// not noticed yet that it ends.
#[test]
fn a_mounted_service_is_drained_when_its_tasks_have_ended() {
    let store = MemoryTaskStore::new();
    let (server, running) = server(Tasks::new().store(store.clone()));
    let signal = Arc::<AtomicBool>::default();
    let signalled = Arc::clone(&signal);
    let http = server
        .http()
        .shutdown_timeout(Duration::from_secs(1))
        .with_graceful_shutdown(poll_fn(move |_| match signalled.load(Ordering::SeqCst) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }));
    let service = http.served();
    let called = r#"1 tools/call {"name":"job","arguments":{"steps":1000}}"#;
    let called = declaring(BOTH, called);
    has(&send(&service, modern(&called)).text(), ["taskId"]);
    pass(0);
    let mut cx = Context::from_waker(Waker::noop());
    let mut drained = pin!(service.drain());
    assert!(drained.as_mut().poll(&mut cx).is_pending());
    pass(500);
    // The signal that ended the program's own socket reaches the service later.
    signal.store(true, Ordering::SeqCst);
    service.shutdown();
    pass(499);
    assert!(drained.as_mut().poll(&mut cx).is_pending());
    assert!(pin!(service.drain()).poll(&mut cx).is_pending());
    assert_eq!((running.get(), service.status().tasks), (1, 1));
    pass(1);
    assert!(drained.as_mut().poll(&mut cx).is_ready());
    assert!(pin!(service.drain()).poll(&mut cx).is_ready());
    assert_eq!((running.get(), service.status().tasks), (0, 0));
    let refused = send(&service, modern(&called));
    assert_eq!(refused.status, 503);
    sim::end();
}

#[test]
fn calls_that_a_bound_keeps_in_their_exchange_are_counted() {
    let (server, _) = server(Tasks::new().max_running(1));
    let service = server.http().served();
    let call = |steps: u32| {
        let called = format!(r#"1 tools/call {{"name":"job","arguments":{{"steps":{steps}}}}}"#);
        let answered = send(&service, modern(&declaring(BOTH, &called))).text();
        pass(0);
        (
            answered.contains("taskId"),
            service.status().kept_in_exchange,
        )
    };
    assert_eq!(call(1000), (true, 0));
    assert_eq!([call(0), call(0)], [(false, 1), (false, 2)]);
    sim::end();
}
