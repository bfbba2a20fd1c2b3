//! Slow and faulty stores, and values that do not fit.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::ErrorReply;
use mcp_async::server::{Context, HandlerError, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::MemoryTaskStore;
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;

use super::stores::{Fault, Hostile};
use super::support::{
    BOTH, Running, about, accept, client, client_of, create, pass, server, server_at, sleep,
    status, update,
};
use crate::scripted::{LineClient, member, text};
use crate::texts::{SHUTTING_DOWN, UNKNOWN_TASK, has};

/// TK-61
#[test]
fn a_slow_store_does_not_lose_the_process() {
    let shared = MemoryTaskStore::new();
    let slow = Hostile::over(shared.clone(), Fault::Slow(900), usize::MAX / 2);
    let fast = Hostile::over(shared, Fault::Fails, usize::MAX / 2);
    let (first, running) = server(Tasks::new().store(slow.clone()));
    let (second, _) = server(Tasks::new().store(fast));
    let (mut here, mut there) = (client(&first), client(&second));
    let id = create(&mut here, "job", r#"{"steps":1000}"#);
    slow.fail_after(0);
    for turn in 0..200 {
        pass(100);
        assert_eq!(status(&mut there, &id), "working", "turn {turn}");
    }
    assert_eq!(running.get(), 1);
    crate::sim::end();
}

/// TK-61: what the store did not take is offered again as soon as it works, before the next outage.
#[test]
fn a_task_ends_between_outages() {
    // The pauses of the task become longer than the store works then.
    for down in [1700, 3300] {
        let store = Hostile::new(Fault::Fails, usize::MAX / 2);
        let lease = Duration::from_secs(3);
        let (server, running) = server(Tasks::new().store(store.clone()).lease(lease));
        let mut wire = client(&server);
        let id = create(&mut wire, "job", r#"{"steps":1}"#);
        let wait = |millis: u64| (0..millis / 50).for_each(|_| pass(50));
        store.fail_after(0);
        wait(down);
        assert_eq!(running.get(), 0);
        store.heal();
        wait(600);
        store.fail_after(0);
        wait(50);
        store.heal();
        assert_eq!(status(&mut wire, &id), "completed", "{down}");
        drop(wire);
        crate::sim::end();
    }
}

/// TK-61: a host whose monotonic clock stood still for longer than a lease, or whose clock was wrong
/// when its process began.
#[test]
fn a_clock_that_is_set_loses_the_tasks_of_its_process_for_a_moment_only() {
    const MINUTE: u64 = 60_000;
    // The times of day of two processes, later than that of the test, before and after the change.
    for (before, after) in [
        ([0, 0], [MINUTE, MINUTE]),
        ([0, MINUTE], [MINUTE, MINUTE]),
        ([2 * MINUTE, MINUTE], [MINUTE, MINUTE]),
    ] {
        let shared = MemoryTaskStore::new();
        let later = before.map(|millis| Arc::new(AtomicU64::new(millis)));
        let [mut here, mut there] = later.each_ref().map(|later| {
            let later = Arc::clone(later);
            let later = move || Duration::from_millis(later.load(Ordering::SeqCst));
            let store = Hostile::over(shared.clone(), Fault::Fails, usize::MAX / 2);
            client(&server_at(later, Tasks::new().store(store), |server| server).0)
        });
        create(&mut here, "job", r#"{"steps":1000}"#);
        pass(100);
        for (later, after) in later.iter().zip(after) {
            later.store(after, Ordering::SeqCst);
        }
        // It is renewed.
        pass(600);
        create(&mut there, "job", r#"{"steps":1000}"#);
        let id = create(&mut here, "job", r#"{"steps":1000}"#);
        for _ in 0..60 {
            pass(500);
            assert_eq!(status(&mut there, &id), "working", "{before:?}");
        }
        drop((here, there));
        crate::sim::end();
    }
}

/// TK-61: other processes see the end of a process after a lease, although its clock was ahead.
#[test]
fn a_clock_that_is_set_back_does_not_keep_a_process_alive() {
    let shared = MemoryTaskStore::new();
    let later = Arc::new(AtomicU64::new(3_600_000));
    let ahead = Arc::clone(&later);
    let ahead = move || Duration::from_millis(ahead.load(Ordering::SeqCst));
    let store = Hostile::over(shared.clone(), Fault::Never, usize::MAX / 2);
    let first = server_at(ahead, Tasks::new().store(store.clone()), |server| server);
    let (second, _) =
        server(Tasks::new().store(Hostile::over(shared, Fault::Fails, usize::MAX / 2)));
    let (mut here, mut there) = (client(&first.0), client(&second));
    let id = create(&mut here, "job", r#"{"steps":1000}"#);
    // From now on the other process looks after the store, too.
    assert_eq!(status(&mut there, &id), "working");
    later.store(0, Ordering::SeqCst);
    pass(600);
    // The process ends, and the store has nothing of that.
    store.fail_after(0);
    drop((here, first));
    (0..60).for_each(|_| pass(500));
    assert_eq!(status(&mut there, &id), "failed");
    crate::sim::end();
}

/// TK-61: a store that has lost what it had knows no process until each has renewed itself.
#[test]
fn a_store_that_forgets_its_processes_fails_the_tasks_of_dead_ones_alone() {
    let lease = Duration::from_millis(2000);
    for begins_later in [0, 130, 370] {
        let shared = MemoryTaskStore::new();
        let views = [(); 2].map(|()| Hostile::over(shared.clone(), Fault::Never, usize::MAX / 2));
        let forget = || views.iter().for_each(Hostile::forget_processes);
        let start = |view: &Hostile| {
            let wire = client(&server(Tasks::new().lease(lease).store(view.clone())).0);
            pass(begins_later);
            wire
        };
        let mut wires = views.each_ref().map(start);
        let ids = wires
            .each_mut()
            .map(|wire| create(wire, "job", r#"{"steps":100000}"#));
        let look = |wires: &mut [LineClient; 2], expected: [&str; 2]| {
            let [here, there] = wires;
            assert_eq!([status(there, &ids[0]), status(here, &ids[1])], expected);
        };
        for offset in [0, 60, 190, 310, 440] {
            // Both may declare others dead before the store forgets them.
            (0..12).for_each(|_| pass(250));
            pass(offset);
            forget();
            for _ in 0..60 {
                look(&mut wires, ["working"; 2]);
                pass(50);
            }
        }
        // One of them dies, and the store forgets both.
        views[0].fail_after(0);
        pass(90);
        forget();
        let [_, there] = &mut wires;
        for _ in 0..18 {
            assert_eq!(status(there, &ids[0]), "working", "it may live");
            pass(100);
        }
        (0..10).for_each(|_| pass(100));
        assert_eq!(status(there, &ids[0]), "failed");
        assert_eq!(status(there, &ids[1]), "working");
        drop(wires);
        crate::sim::end();
    }
}

/// A process that cannot renew its lease knows that its tasks may have failed, before it hears of it.
#[test]
fn a_task_asks_whether_it_still_counts() {
    for loses_reply in [false, true] {
        task_asks(loses_reply);
    }
}

/// The reply to the first renewal after the outage may be lost.
fn task_asks(loses_reply: bool) {
    let shared = MemoryTaskStore::new();
    let store = Hostile::over(shared.clone(), Fault::Fails, usize::MAX / 2);
    let (server, _) = server(
        Tasks::new()
            .lease(Duration::from_secs(3))
            .store(store.clone()),
    );
    let seen = Arc::new(Mutex::new(String::new()));
    let told = Arc::clone(&seen);
    let look = move |(): (), cx: Context<Running>| {
        let told = Arc::clone(&told);
        async move {
            loop {
                let known = if cx.is_current() { '+' } else { '-' };
                told.lock().unwrap().push(known);
                sleep(1000).await;
            }
            #[expect(unreachable_code, reason = "a handler has a result")]
            Ok(String::new())
        }
    };
    let look = Tool::new("look").task(TaskPolicy::Required).handler(look);
    let mut wire = client(&server.with(look));
    create(&mut wire, "look", "{}");
    (0..50).for_each(|_| pass(100));
    store.fail_after(0);
    (0..50).for_each(|_| pass(100));
    if loses_reply {
        store.lose_reply_to_renewal();
    }
    store.heal();
    (0..50).for_each(|_| pass(100));
    let seen = seen.lock().unwrap();
    assert!(seen.starts_with("+++++") && seen.contains("+--"), "{seen}");
    // The lease in the store was over: the one that it has now is another one.
    assert!(seen.ends_with("-----"), "{seen}");
    crate::sim::end();
}

#[test]
fn a_value_that_is_nested_too_deep_fails_its_task() {
    for (depth, message) in [
        (50, "deep"),
        (127, "limit reached: depth of a task"),
        (128, "limit reached: depth of a task"),
    ] {
        let deep = move |(): (), _| async move {
            let data = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            Err::<String, _>(HandlerError::reply(ErrorReply {
                data: RawBuf::parse(data).ok(),
                ..ErrorReply::new(-32000, "deep")
            }))
        };
        let (server, _) = server(Tasks::new());
        let deep = Tool::new("deep").task(TaskPolicy::Optional).handler(deep);
        let mut wire = client(&server.with(deep));
        let id = create(&mut wire, "deep", "{}");
        pass(0);
        let got = about(&mut wire, "tasks/get", &id);
        assert_eq!(text(&got, &["result", "status"]), "failed", "{got}");
        assert_eq!(text(&got, &["result", "statusMessage"]), message);
        crate::sim::end();
    }
}

/// TK-40
#[test]
fn answers_count_in_the_bytes_of_a_task() {
    let (server, running) = server(Tasks::new().max_bytes(2000));
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    assert_eq!(status(&mut wire, &id), "input_required");
    let refused = update(&mut wire, &id, &accept("q1", &"x".repeat(3000)));
    assert_eq!(member(&refused, &["error", "code"]), "-32603", "{refused}");
    let limit = "limit reached: bytes of a task";
    assert_eq!(text(&refused, &["error", "message"]), limit);
    assert_eq!(status(&mut wire, &id), "input_required");
    update(&mut wire, &id, &accept("q1", "short"));
    assert_eq!(status(&mut wire, &id), "completed");

    let id = create(&mut wire, "job", r#"{"ask":3}"#);
    for key in ["q1", "q2", "q3"] {
        pass(0);
        update(&mut wire, &id, &accept(key, &"x".repeat(800)));
    }
    pass(0);
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "statusMessage"]), limit, "{got}");
    assert_eq!(running.get(), 0);
}

#[test]
fn a_record_that_cannot_be_removed_does_not_keep_others() {
    let shared = MemoryTaskStore::new();
    let stuck = Hostile::over(shared.clone(), Fault::Stuck, usize::MAX / 2);
    let ttl = Some(Duration::from_secs(1));
    let (server, _) = server(Tasks::new().store(stuck).ttl(ttl));
    let mut wire = client(&server);
    for _ in 0..10 {
        create(&mut wire, "job", "{}");
        pass(10);
    }
    (0..9).for_each(|_| pass(500));
    assert!(shared.is_empty());
    crate::sim::end();
}

#[test]
fn a_store_that_keeps_removed_records_is_not_asked_without_a_pause() {
    let kept = Hostile::new(Fault::Keeps, usize::MAX / 2);
    let ttl = Some(Duration::from_secs(1));
    let (server, _) = server(Tasks::new().store(kept).ttl(ttl));
    let mut wire = client(&server);
    for _ in 0..300 {
        create(&mut wire, "job", "{}");
    }
    // It returns.
    (0..10).for_each(|_| pass(500));
    crate::sim::end();
}

/// More seconds than a store may fail until the end of a task without a lifetime is given up.
const LONG: u64 = 31 * 60;

/// Lets so many seconds pass, in steps.
fn wait(seconds: u64) {
    for _ in 0..seconds.div_ceil(2) {
        pass(2000);
    }
}

/// TK-60, TK-61: the handler has ended, and the store never has its end.
#[test]
fn a_store_that_fails_for_good_is_given_up() {
    for fault in [Fault::Fails, Fault::Never, Fault::Refuses] {
        for ttl in [Some(Duration::from_secs(60)), None] {
            let store = Hostile::new(fault, usize::MAX / 2);
            let (server, running) = server(Tasks::new().store(store.clone()).ttl(ttl));
            let mut wire = client(&server);
            create(&mut wire, "job", r#"{"steps":1}"#);
            pass(0);
            store.fail_after(0);
            pass(100);
            assert_eq!(running.get(), 0);
            match ttl {
                Some(_) => wait(140),
                None => wait(LONG),
            }
            // What looks after the shared store is left.
            assert_eq!(crate::sim::settle(), 1, "{fault:?} {ttl:?}");
            crate::sim::end();
        }
    }
}

/// TK-60, TK-61: a task whose end the store did not take fails when the store works again, although
/// its process lives.
#[test]
fn a_task_whose_end_is_lost_fails_later() {
    for (fault, ends, message) in [
        (Fault::Fails, false, "the end of the task was lost"),
        (Fault::Panics, false, "the end of the task was lost"),
        (Fault::Fails, true, SHUTTING_DOWN),
        (Fault::Panics, true, SHUTTING_DOWN),
    ] {
        let store = Hostile::new(fault, usize::MAX / 2);
        let (server, running) = server(Tasks::new().store(store.clone()).ttl(None));
        let server = server.build().unwrap();
        let wire = || LineClient::declaring(&server, Revision::V2026_07_28, BOTH);
        let mut first = wire();
        let id = create(&mut first, "job", r#"{"steps":1}"#);
        pass(0);
        store.fail_after(0);
        match ends {
            true => server.registry().shutdown(),
            false => pass(100),
        }
        wait(LONG);
        assert_eq!(running.get(), 0);
        store.heal();
        pass(500);
        pass(500);
        let (other, _) = super::support::server(Tasks::new().store(store));
        let got = about(&mut client(&other), "tasks/get", &id);
        assert_eq!(text(&got, &["result", "status"]), "failed", "{got}");
        assert_eq!(text(&got, &["result", "statusMessage"]), message);
        crate::sim::end();
    }
}

/// TK-59, TK-61: a store that confuses records.
#[test]
fn the_record_of_another_task_changes_nothing() {
    let shared = MemoryTaskStore::new();
    let store = Hostile::over(shared, Fault::Confuses, usize::MAX / 2);
    let (server, running) = server(Tasks::new().store(store.clone()));
    let (mut ada, mut bob) = (client_of(&server, "ada"), client_of(&server, "bob"));
    let first = create(&mut ada, "job", r#"{"ask":1}"#);
    let second = create(&mut bob, "job", r#"{"ask":1}"#);
    pass(0);
    store.fail_after(0);
    for (wire, id) in [(&mut ada, &first), (&mut bob, &second)] {
        assert_eq!(status(wire, id), UNKNOWN_TASK);
        update(wire, id, &accept("q1", "wrong"));
        about(wire, "tasks/cancel", id);
    }
    (0..10).for_each(|_| pass(500));
    assert_eq!(running.get(), 2);
    store.heal();
    for (wire, id) in [(&mut ada, &first), (&mut bob, &second)] {
        assert_eq!(status(wire, id), "input_required");
        update(wire, id, &accept("q1", "right"));
        // A store that has failed is asked less and less often.
        pass(3500);
        has(&about(wire, "tasks/get", id), ["done right"]);
    }
    crate::sim::end();
}
