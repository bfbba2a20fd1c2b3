//! Stores: what is sent is stored, and another process continues where the first one stopped.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::runtime::Runtime as _;
use mcp_async::server::{Context, Principal, Registry, ServerBuilder};
use mcp_proto::model::LoggingLevel;

use crate::http_server::far::Fault;
use crate::http_server::nodes::{
    at, epoch, pass, ping, processes, processes_of, processes_with, set_level,
};
use crate::scripted::{HttpClient, Waiting, call, delete, last_id, modern, send};
use crate::sim::{Mode, Sim, advance, settle};
use crate::texts::has;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn an_event_is_sent_when_the_store_has_it() {
    let [process] = processes();
    let session = process.open();
    process.node.set(Fault::Late(100));
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
    assert!(reply.text().contains(r#""progress":2"#));
    advance(Duration::from_millis(99));
    assert_eq!(reply.text(), "");
    advance(Duration::from_millis(1));
    assert!(reply.whole().contains("at last"));
    let answer = session.post(ping());
    assert_eq!(
        answer.header("content-type"),
        "application/json",
        "stored nowhere"
    );
}

#[test]
fn the_events_of_a_killed_process_are_replayed() {
    let [first, second] = processes();
    let here = first.open();
    let mut reply = here.post(&call(1, "slow"));
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#));
    let id = last_id(&seen);
    drop(reply);
    advance(SECOND);
    first.kill();
    pass(16);

    let there = at(&second, &here);
    let answer = there.post(ping());
    assert_eq!(
        (answer.status.as_u16(), answer.whole().as_str()),
        (200, r#"{"jsonrpc":"2.0","id":9,"result":{}}"#)
    );
    let rest = there.get(Some(&id)).whole();
    has(&rest, [r#""progress":2"#, "at last"]);
    assert!(!rest.contains(r#""progress":1"#));
    let none = there.get(Some(&last_id(&rest)));
    assert_eq!(none.status, 405, "it has ended");

    let new = there.post(&call(2, "slow")).text();
    assert_ne!(
        last_id(&new).split('-').next(),
        id.split('-').next(),
        "numbers do not meet"
    );
    let unknown = there.get(Some("77-1"));
    assert_eq!(unknown.status, 400);
}

/// SH-43
#[test]
fn a_stranger_does_not_take_a_session_over() {
    let [first, second] = processes();
    let here = HttpClient::open_as(&first.service, "2025-11-25", Some(Principal::new("ada")));
    let thief = at(&second, &here).used_by(Some(Principal::new("eve")));
    for _ in 0..2 {
        assert_eq!(thief.post(ping()).status, 404);
        assert_eq!(thief.delete().status, 404);
        first.kill();
        pass(16);
    }
    assert_eq!(at(&second, &here).post(ping()).status, 200);
    assert_eq!(epoch(&second, &here), 1, "taken over once");
}

#[test]
fn requests_that_come_together_take_a_session_over_once() {
    let [first, second] = processes();
    let here = first.open();
    first.kill();
    pass(16);
    second.node.set(Fault::Late(100));
    let there = at(&second, &here);
    let mut both: Vec<_> = [ping(); 2].map(|ping| there.begin(ping)).into();
    let mut statuses = Vec::new();
    for _ in 0..10 {
        both.retain_mut(|request| {
            let status = request.status();
            statuses.extend(status);
            status.is_none()
        });
        advance(Duration::from_millis(100));
    }
    assert_eq!(statuses, [200, 200]);
    assert_eq!(epoch(&second, &here), 1, "taken over once");
}

#[test]
fn the_sessions_own_stream_goes_on_there() {
    let [first, second] = processes();
    let (one, two) = (&first.registry, &second.registry);
    let here = first.open();
    let mut get = here.get(None);
    let changed = |registry: &Registry, tool: &str| {
        advance(SECOND);
        assert!(registry.remove_tool(tool));
        advance(SECOND);
    };
    changed(one, "echo");
    let seen = get.text();
    assert!(seen.contains("tools/list_changed"), "{seen}");
    drop(get);
    changed(one, "slow");
    first.kill();
    pass(16);

    let there = at(&second, &here);
    let mut get = there.get(Some(&last_id(&seen)));
    let missed = get.text();
    assert_eq!(missed.matches("list_changed").count(), 1, "{missed}");
    changed(two, "slow");
    let live = get.text();
    assert_eq!(live.matches("list_changed").count(), 1, "{live}");
    assert_ne!(last_id(&live), last_id(&missed));
}

#[test]
fn what_was_agreed_on_is_known_there() {
    let [first, second] = processes();
    let owner = Some(Principal::new("ada"));
    let here = HttpClient::open_as(&first.service, "2025-06-18", owner);
    first.kill();
    pass(16);
    let there = at(&second, &here);
    let mut asks = there.post(&call(1, "ask"));
    assert!(asks.text().contains("roots/list"), "the client has roots");
}

/// What the store has not taken is not sent, and is offered until it has.
#[test]
fn events_wait_for_a_store_that_is_away() {
    let [first, second] = processes();
    let here = first.open();
    let mut reply = here.post(&call(1, "slow"));
    assert!(reply.text().contains(r#""progress":1"#));
    for process in [&first, &second] {
        process.node.set(Fault::Fails);
    }
    let elsewhere = at(&second, &here).post(ping());
    assert_eq!(elsewhere.status, 503);
    assert_ne!(elsewhere.header("retry-after"), "");
    assert_eq!(here.post(ping()).status, 200, "the lease is good");
    pass(3);
    assert_eq!(reply.text(), "");
    first.node.set(Fault::None);
    pass(2);
    let text = reply.whole();
    for once in [r#""progress":2"#, "at last"] {
        assert_eq!(text.matches(once).count(), 1, "{text}");
    }
}

/// A client finds its session again, wherever it is by now.
#[test]
fn streams_end_where_the_store_takes_nothing_for_a_lease() {
    let check = |fault: Fault, is_paused: bool, moves: bool| {
        let [first, second] = processes();
        let here = first.open();
        let there = at(if moves { &second } else { &first }, &here);
        let mut own = here.get(None);
        let mut slow = here.post(&call(1, "slow"));
        let seen = [own.text(), slow.text()];
        first.node.set(fault);
        if is_paused {
            first.sim.set(Mode::Paused);
        }
        pass(16);
        assert_eq!(there.post(ping()).status, 200, "{fault:?}");
        first.sim.set(Mode::Runs);
        pass(31);
        assert!(own.has_ended() && slow.has_ended(), "{fault:?}");
        first.node.set(Fault::None);
        pass(2);
        for seen in &seen {
            assert_eq!(there.get(Some(&last_id(seen))).status, 200, "{fault:?}");
        }
        if !moves {
            let rest = there.get(Some(&last_id(&seen[1]))).whole();
            assert_eq!(rest.matches("at last").count(), 1, "{rest}");
        }
    };
    check(Fault::Fails, false, true);
    check(Fault::Hangs, false, true);
    check(Fault::None, true, true);
    check(Fault::Full, false, false);
}

#[test]
fn the_record_is_kept_fresh() {
    let [process] = processes();
    let session = process.open();
    let saves = || process.node.saves.load(Ordering::SeqCst);
    pass(60);
    let begun = saves();
    session.post(ping());
    pass(60);
    assert_eq!(saves(), begun, "nothing is new");
    session.post(&set_level("error"));
    pass(60);
    assert_eq!(saves(), begun + 1);
    has(
        &process.node.common.record(&session.id).unwrap(),
        [r#""log_level":"error""#],
    );

    // What is used is saved again before it fades; what is not used is not.
    session.post(ping());
    pass(16 * 60);
    assert_eq!(saves(), begun + 2);
    pass(10 * 60);
    assert_eq!(saves(), begun + 2);
}

/// A server whose tool tells three things, and when it could go on after each.
fn telling(server: ServerBuilder, steps: &Arc<AtomicUsize>) -> ServerBuilder {
    let steps = Arc::clone(steps);
    let tells = move |(): (), cx: Context| {
        let steps = Arc::clone(&steps);
        async move {
            let begin = Sim.now();
            let mut times = Vec::new();
            let mut told = || {
                steps.fetch_add(1, Ordering::SeqCst);
                times.push(Sim.now().as_millis() - begin.as_millis());
            };
            cx.progress(1.0).await;
            told();
            cx.log(LoggingLevel::Error, "within").await;
            told();
            let peer = cx.peer();
            let _ = peer.log(LoggingLevel::Error, None, "without").await;
            told();
            Ok(format!("{times:?}"))
        }
    };
    server.tool("tells", "Tells three things", tells)
}

#[test]
fn whoever_sends_an_event_waits_until_the_store_has_it() {
    let check = |delay: u64, expected: &str| {
        let [process] = processes_of(|server| telling(server, &Arc::default()), |http| http);
        let session = process.open();
        process.node.set(Fault::Late(delay));
        let mut reply = session.post(&call(1, "tells"));
        let mut text = reply.text();
        for _ in 0..4 * delay {
            advance(Duration::from_millis(1));
            text += &reply.text();
        }
        assert!(text.contains(expected), "{text}");
        assert!(reply.has_ended());
    };
    check(0, "[0, 0, 0]");
    check(100, "[100, 200, 300]");
    let [process] = processes_of(|server| telling(server, &Arc::default()), |http| http);
    process.node.set(Fault::Late(100));
    let body = r#"1 tools/call {"name":"tells","arguments":{}}"#;
    let text = send(&process.service, modern(body)).whole();
    assert!(text.contains("[0, 0, 0]"), "stored nowhere: {text}");
}

#[test]
fn nobody_waits_for_an_event_that_is_stored_nowhere() {
    let steps = Arc::default();
    let told = || AtomicUsize::load(&steps, Ordering::SeqCst);
    let [process] = processes_of(|server| telling(server, &steps), |http| http);
    let session = HttpClient::open(&process.service, "2025-06-18");
    process.node.set(Fault::Late(1000));
    // Nobody has an id to come back with, so the stream is gone before the store heard of it. The
    // session's own stream is not.
    drop(session.post(&call(1, "tells")));
    settle();
    assert_eq!(told(), 2);
    let mut reply = session.post(&call(2, "tells"));
    reply.text();
    assert_eq!(told(), 2, "it is on its way");
    drop(reply);
    settle();
    assert_eq!(told(), 4);
    advance(Duration::from_secs(1));
    assert_eq!(told(), 6);
}

#[test]
fn events_on_their_way_to_the_store_outlive_the_end_of_the_service() {
    let check = |grace: u64, answered: bool| {
        let [process] = processes_with(|http| http.shutdown_timeout(Duration::from_millis(grace)));
        let (service, session) = (&process.service, process.open());
        process.node.set(Fault::Late(100));
        let mut reply = session.post(&call(1, "slow"));
        reply.text();
        for step in [100, 1000, 99] {
            advance(Duration::from_millis(step));
        }
        reply.text();
        service.shutdown();
        advance(Duration::from_millis(1));
        let mut text = reply.text();
        assert!(text.contains(r#""progress":2"#), "{text}");
        for _ in 0..101 {
            advance(Duration::from_millis(1));
            text += &reply.text();
        }
        assert_eq!(text.contains("at last"), answered, "{grace}: {text}");
        assert!(reply.has_ended());
    };
    check(1000, true);
    check(50, false);
}

#[test]
fn what_was_deleted_does_not_come_back() {
    let [process] = processes();
    let store = &process.node;
    let check = |write: &dyn Fn(&HttpClient), gives_up: bool| {
        let session = process.open();
        let is_kept = || store.common.record(&session.id).is_some();
        store.set(Fault::Late(100));
        write(&session);
        let mut deleting = Some(session.begin_sending(delete()));
        assert_eq!(deleting.as_mut().and_then(Waiting::status), None);
        assert!(is_kept());
        // It is over for everybody who asks meanwhile.
        assert_eq!(session.post(ping()).status, 404);
        assert_eq!(session.delete().status, 404);
        if gives_up {
            deleting = None;
        }
        (0..5).for_each(|_| advance(Duration::from_millis(100)));
        assert!(!is_kept());
        if let Some(mut deleting) = deleting {
            assert_eq!(deleting.status(), Some(204));
        }
        store.set(Fault::None);
        assert_eq!(session.post(ping()).status, 404);
    };
    let nothing = |_: &HttpClient| {};
    // What is being saved, and appended, would be there again afterwards.
    let busy = |session: &HttpClient| {
        session.post(&call(1, "slow")).text();
    };
    for gives_up in [false, true] {
        check(&nothing, gives_up);
        check(&busy, gives_up);
    }
}
