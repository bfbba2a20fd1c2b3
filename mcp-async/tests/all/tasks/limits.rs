//! Times and bounds.

use core::future::{Future, ready};
use core::pin::pin;
use core::task::{self, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;

use mcp_async::server::layers::ConcurrencyLimit;
use mcp_async::server::{Context, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::MemoryTaskStore;
use mcp_proto::Revision;

use super::stores::{Fault, Hostile};
use super::support::{
    Running, about, accept, call, client, client_of, create, pass, server, server_with, status,
    update,
};
use crate::scripted::{LineClient, member, text};
use crate::texts::{UNKNOWN_TASK, has};

/// TK-51, TK-60
#[test]
fn an_expired_task_fails_and_is_forgotten() {
    let store = MemoryTaskStore::new();
    let tasks = Tasks::new().ttl(Some(Duration::from_secs(1)));
    let (server, running) = server(tasks.store(store.clone()));
    let mut wire = client(&server);
    let works = create(&mut wire, "job", r#"{"steps":1000}"#);
    let asks = create(&mut wire, "job", r#"{"ask":1}"#);
    let ends = create(&mut wire, "job", "{}");
    pass(0);
    pass(999);
    assert_eq!(status(&mut wire, &works), "working");
    assert_eq!(status(&mut wire, &asks), "input_required");
    pass(1);
    assert_eq!(running.get(), 0);
    for id in [&works, &asks] {
        let got = about(&mut wire, "tasks/get", id);
        assert_eq!(text(&got, &["result", "status"]), "failed");
        assert_eq!(
            text(&got, &["result", "statusMessage"]),
            "the task has expired"
        );
    }
    assert_eq!(status(&mut wire, &ends), "completed");
    (0..10).for_each(|_| pass(500));
    for id in [&works, &asks, &ends] {
        assert_eq!(status(&mut wire, id), UNKNOWN_TASK);
    }
    assert!(store.is_empty());
    assert_eq!(crate::sim::settle(), 0, "nothing runs without a task");
}

/// TK-51, TK-60: after a pause of the machine the time of a task is over at once.
#[test]
fn a_clock_that_jumps_ends_tasks() {
    let store = MemoryTaskStore::new();
    let (server, running) = server(Tasks::new().store(store.clone()));
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    assert_eq!(status(&mut wire, &id), "input_required");
    pass(10 * 86_400_000);
    assert_eq!(running.get(), 0);
    assert_eq!(status(&mut wire, &id), UNKNOWN_TASK);
    (0..3).for_each(|_| pass(500));
    assert!(store.is_empty());
    assert_eq!(crate::sim::settle(), 0);
}

#[test]
fn a_task_without_time_is_created_and_expires_at_once() {
    let (server, running) = server(Tasks::new().ttl(Some(Duration::ZERO)));
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":5}"#);
    assert_eq!(status(&mut wire, &id), "failed");
    assert_eq!(running.get(), 0);
}

/// TK-60
#[test]
fn a_task_without_limit_stays_until_its_place_is_needed() {
    let store = MemoryTaskStore::new();
    let (server, _) = server(Tasks::new().store(store.clone()).ttl(None).max(1));
    let mut wire = client(&server);
    let id = create(&mut wire, "job", "{}");
    pass(1_000_000_000);
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "status"]), "completed");
    assert_eq!(member(&got, &["result", "ttlMs"]), "null");
    let next = create(&mut wire, "job_only", r#"{"steps":1}"#);
    assert_eq!(status(&mut wire, &id), UNKNOWN_TASK);
    assert_eq!(store.len(), 1);
    // It has not ended.
    let refused = call(&mut wire, "job_only", "{}");
    assert_eq!(member(&refused, &["error", "code"]), "-32603");
    assert_eq!(
        text(&refused, &["error", "message"]),
        "limit reached: tasks"
    );
    pass(100);
    assert_eq!(status(&mut wire, &next), "completed");
}

/// TK-60
#[test]
fn at_a_bound_the_oldest_ended_task_of_the_same_owner_is_forgotten() {
    let (server, _) = server(Tasks::new().max(4).max_per_owner(3));
    let mut ada = client_of(&server, "ada");
    let mut bob = client_of(&server, "bob");
    let others = create(&mut bob, "job", "{}");
    pass(0);
    let works = create(&mut ada, "job", r#"{"steps":1000}"#);
    let first = create(&mut ada, "job", "{}");
    pass(0);
    let second = create(&mut ada, "job", "{}");
    pass(0);
    // The bound of one owner, and then that of all.
    for (gone, kept) in [(&first, &second), (&second, &works)] {
        create(&mut ada, "job", "{}");
        pass(0);
        assert_eq!(status(&mut ada, gone), UNKNOWN_TASK);
        assert_ne!(status(&mut ada, kept), UNKNOWN_TASK);
        assert_eq!(status(&mut bob, &others), "completed");
    }
    // A principal without an ended task takes the oldest of all.
    let mut eve = client_of(&server, "eve");
    create(&mut eve, "job", "{}");
    assert_eq!(status(&mut bob, &others), UNKNOWN_TASK);
    assert_eq!(status(&mut ada, &works), "working");
    crate::sim::end();
}

#[test]
fn tasks_that_run_have_a_bound_of_their_own() {
    let (server, running) = server(Tasks::new().max_running(2));
    let mut wire = client(&server);
    for _ in 0..3 {
        create(&mut wire, "job", r#"{"steps":1}"#);
        create(&mut wire, "job", r#"{"steps":1}"#);
        pass(0);
        assert_eq!(running.get(), 2);
        let refused = call(&mut wire, "job_only", "{}");
        assert_eq!(
            text(&refused, &["error", "message"]),
            "limit reached: tasks that run"
        );
        has(&call(&mut wire, "job", "{}"), ["done"]);
        pass(100);
        pass(0);
    }
}

#[test]
fn a_call_that_need_not_be_a_task_runs_in_its_exchange_at_the_bound() {
    let (server, _) = server(Tasks::new().max(1));
    let mut wire = client(&server);
    create(&mut wire, "job", "{}");
    let answer = call(&mut wire, "job", "{}");
    assert!(answer.contains("done"), "{answer}");
    assert_eq!(member(&answer, &["result", "taskId"]), "");
}

#[test]
fn a_call_that_stays_in_its_exchange_is_an_event() {
    let notes = crate::connection::spans::Notes::default();
    notes.watch(|| {
        let (server, _) = server(Tasks::new().max_running(1));
        let mut wire = client(&server);
        create(&mut wire, "job", r#"{"steps":1000}"#);
        pass(0);
        call(&mut wire, "job", "{}");
    });
    let seen = notes.take().join("\n");
    let expected = "limit=limit reached: tasks that run message=a call runs in its exchange";
    has(&seen, ["DEBUG", expected]);
    crate::sim::end();
}

#[test]
fn a_handler_that_need_not_have_a_task_goes_on_in_its_exchange_at_the_bound() {
    let (server, _) = server(Tasks::new().max_running(1));
    let mut wire = client(&server);
    create(&mut wire, "job", r#"{"steps":1000}"#);
    pass(0);
    let sent = wire.send(
        "tools/call",
        r#"{"name":"deferred","arguments":{"steps":1}}"#,
    );
    assert!(wire.answer(sent).is_none());
    pass(100);
    has(&wire.answer(sent).unwrap(), ["false"]);
    crate::sim::end();
}

/// TK-20, TK-60
#[test]
fn a_bound_frees_its_places_when_tasks_are_forgotten() {
    let tasks = Tasks::new().ttl(Some(Duration::from_secs(1))).max(2);
    let (server, _) = server(tasks);
    let mut wire = client(&server);
    for _ in 0..3 {
        create(&mut wire, "job", "{}");
        create(&mut wire, "job", "{}");
        let refused = call(&mut wire, "job_only", "{}");
        assert_eq!(member(&refused, &["error", "code"]), "-32603");
        (0..10).for_each(|_| pass(500));
    }
}

/// TK-20, TK-60
#[test]
fn ended_tasks_have_a_bound_of_their_bytes() {
    let store = MemoryTaskStore::new();
    let tasks = Tasks::new().store(store.clone()).max_total_bytes(3500);
    let (server, _) = server(tasks);
    let (mut ada, mut bob) = (client_of(&server, "ada"), client_of(&server, "bob"));
    let large = |wire: &mut _| {
        let id = create(wire, "job", r#"{"ask":1}"#);
        pass(0);
        update(wire, &id, &accept("q1", &"x".repeat(600)));
        pass(0);
        assert_eq!(status(wire, &id), "completed");
        id
    };
    let works = create(&mut ada, "job", r#"{"steps":1000}"#);
    let of_bob = large(&mut bob);
    let first = large(&mut ada);
    let second = large(&mut ada);
    assert_eq!(store.len(), 4);
    // The oldest of who has the most is removed, at once.
    let third = large(&mut ada);
    assert_eq!(store.len(), 4);
    assert_eq!(status(&mut ada, &first), UNKNOWN_TASK);
    assert_eq!(status(&mut bob, &of_bob), "completed");
    assert_eq!(status(&mut ada, &second), "completed");
    assert_eq!(status(&mut ada, &third), "completed");
    assert_eq!(status(&mut ada, &works), "working");
    // Who has the most gives room to others, who keep what they have.
    let mut eve = client_of(&server, "eve");
    let before = large(&mut eve);
    assert_eq!(status(&mut ada, &second), UNKNOWN_TASK);
    let last = large(&mut eve);
    assert_eq!(status(&mut eve, &before), UNKNOWN_TASK);
    assert_eq!(status(&mut eve, &last), "completed");
    assert_eq!(status(&mut ada, &third), "completed");
    assert_eq!(status(&mut bob, &of_bob), "completed");
    assert_eq!(store.len(), 4);
    crate::sim::end();
}

/// TK-60: the store fails when it is to remove the task that gives its place.
#[test]
fn a_task_that_gave_its_place_is_removed_later() {
    for good in 0..2 {
        let store = MemoryTaskStore::new();
        let failing = Hostile::over(store.clone(), Fault::Fails, usize::MAX / 2);
        let tasks = Tasks::new().store(failing.clone()).ttl(None).max(1);
        let (server, _) = server(tasks);
        let mut wire = client(&server);
        let id = create(&mut wire, "job", "{}");
        pass(0);
        assert_eq!(status(&mut wire, &id), "completed");
        failing.fail_after(good);
        let refused = call(&mut wire, "job_only", "{}");
        assert_eq!(member(&refused, &["error", "code"]), "-32603", "{refused}");
        (0..40).for_each(|_| pass(500));
        failing.heal();
        (0..40).for_each(|_| pass(500));
        assert!(store.is_empty(), "{good}");
        crate::sim::end();
    }
}

/// TK-65
#[test]
fn times_are_integers_that_every_reader_keeps() {
    let (server, _) = server(Tasks::new().ttl(Some(Duration::MAX)));
    let mut wire = client(&server);
    let id = create(&mut wire, "job", "{}");
    pass(1_000_000);
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "status"]), "completed");
    assert_eq!(member(&got, &["result", "ttlMs"]), "9007199254740991");
}

#[test]
fn questions_and_records_have_bounds() {
    let (server, running) = server(Tasks::new().max_questions(2).max_bytes(2000));
    let mut wire = client(&server);
    let many = create(&mut wire, "job", r#"{"ask":3}"#);
    assert_eq!(status(&mut wire, &many), "failed");
    let got = about(&mut wire, "tasks/get", &many);
    assert_eq!(
        text(&got, &["result", "statusMessage"]),
        "limit reached: questions of a task"
    );
    assert_eq!(running.get(), 0);
}

/// A task that waits for its client keeps no ordinary call waiting.
#[test]
fn a_task_takes_no_place_of_a_concurrency_limit() {
    let limit = || ConcurrencyLimit::new(1);
    // Inside of the tasks, and around them.
    let (inside, _) = server_with(Tasks::new(), |server| server.layer(limit()));
    let (around, _) = server(Tasks::new());
    for server in [inside, around.layer(limit())] {
        let mut wire = client(&server);
        for _ in 0..3 {
            let id = create(&mut wire, "job", r#"{"ask":1}"#);
            assert_eq!(status(&mut wire, &id), "input_required");
        }
        let answer = call(&mut wire, "plain", "{}");
        assert!(answer.contains("done"), "{answer}");
        let attached = wire.send(
            "tools/call",
            r#"{"name":"deferred","arguments":{"steps":1}}"#,
        );
        let created = wire.answer(attached).unwrap();
        assert_ne!(text(&created, &["result", "taskId"]), "");
        crate::sim::settle();
        has(&call(&mut wire, "plain", "{}"), ["done"]);
        crate::sim::end();
    }
}

/// Many futures of one task may wait for its end in turn.
#[test]
fn a_dropped_wait_for_the_end_of_a_task_leaves_no_waker() {
    struct Count;
    impl Wake for Count {
        fn wake(self: Arc<Self>) {}
    }
    let waits = |(): (), cx: Context<Running>| async move {
        let count = Arc::new(Count);
        let waker = Waker::from(Arc::clone(&count));
        let before = Arc::strong_count(&count);
        for _ in 0..3 {
            let mut end = pin!(cx.cancelled());
            let cx = &mut task::Context::from_waker(&waker);
            assert!(end.as_mut().poll(cx).is_pending());
            assert!(end.as_mut().poll(cx).is_pending());
        }
        Ok((Arc::strong_count(&count) - before).to_string())
    };
    let (server, _) = server(Tasks::new());
    let waits = Tool::new("waits").task(TaskPolicy::Required).handler(waits);
    let mut wire = client(&server.with(waits));
    let id = create(&mut wire, "waits", "{}");
    pass(0);
    has(&about(&mut wire, "tasks/get", &id), [r#""text":"0""#]);
}

/// What a task keeps travels nowhere.
#[test]
fn what_a_task_keeps_has_no_room_to_fit_into() {
    let keeps = |(): (), cx: Context<Running>| async move {
        let large = "x".repeat(100_000);
        let is_kept = cx.request_state().set("first", &large).is_ok();
        let is_computed = cx.once("second", ready(large)).await.is_ok();
        Ok(format!("{is_kept} {is_computed}"))
    };
    let (server, _) = server(Tasks::new());
    let keeps = Tool::new("keeps").task(TaskPolicy::Optional).handler(keeps);
    let server = server.with(keeps);
    let mut wire = client(&server);
    let id = create(&mut wire, "keeps", "{}");
    pass(0);
    has(
        &about(&mut wire, "tasks/get", &id),
        [r#""text":"true true""#],
    );
    let mut plain = LineClient::declaring(&server, Revision::V2026_07_28, "{}");
    has(
        &call(&mut plain, "keeps", "{}"),
        [r#""text":"false false""#],
    );
}
