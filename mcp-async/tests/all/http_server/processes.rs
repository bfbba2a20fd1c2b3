//! Processes without affinity: requests reach the owner of a session.

use core::future::Future as _;
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{self, Waker};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::server::{Context, Principal, ServerBuilder};
use mcp_proto::model::LoggingLevel;
use mcp_proto::server::ListKind;

use crate::http_server::far::Fault;
use crate::http_server::nodes::{
    Process, at, epoch, pass, ping, processes, processes_of, processes_with, session_of_two,
};
use crate::http_server::wire::Break;
use crate::scripted::{
    HttpClient, Reply, call, cancelled, last_id, modern, plain_call, request_id, send, wait,
};
use crate::sim::{Mode, advance, settle};
use crate::texts::has;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_request_is_answered_by_the_owner_of_its_session() {
    let [first, second, third] = processes();
    let here = first.open();
    for process in [&second, &third, &first, &second] {
        let there = at(process, &here);
        let answer = there.post(ping());
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.whole(), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        assert!(there.post(&call(1, "echo")).whole().contains("done"));
        let notified = there.post("- notifications/roots/list_changed");
        assert_eq!(
            (notified.status.as_u16(), notified.whole().as_str()),
            (202, "")
        );
        assert_eq!(there.post("{").status, 400);
    }
    assert_eq!(epoch(&first, &here), 0, "no process has taken it over");
    let unknown = at(&second, &here).in_session(&"0".repeat(32));
    assert_eq!(unknown.post(ping()).status, 404);
}

#[test]
fn an_event_stream_passes_through_another_process() {
    let [first, second, third] = processes();
    let here = first.open();
    let mut reply = at(&second, &here).post(&call(1, "slow"));
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#), "{seen}");
    drop(reply);
    advance(SECOND);
    let there = at(&third, &here);
    let rest = there.get(Some(&last_id(&seen))).whole();
    has(&rest, [r#""progress":2"#, "at last"]);
    assert!(!rest.contains(r#""progress":1"#));
    let ended = there.get(Some(&last_id(&rest)));
    ended.has_head(405, [("allow", "GET, POST, DELETE")]);
}

#[test]
fn a_question_is_answered_through_another_process() {
    let [first, second, third] = processes();
    let here = first.open();
    let mut asked = at(&second, &here).post(&call(1, "ask"));
    let question = asked.text();
    assert!(question.contains("roots/list"), "{question}");
    let id = request_id(&question);
    let answer = format!(r#"{id} = {{"roots":[]}}"#);
    assert_eq!(at(&third, &here).post(&answer).status, 202);
    assert!(asked.whole().contains("roots"));
    // Cancellation and the log level reach the owner, too.
    let mut never = here.post(&call(7, "never"));
    never.text();
    assert_eq!(at(&second, &here).post(&cancelled(7)).status, 202);
    assert!(never.has_ended());
}

#[test]
fn a_session_that_ends_at_one_process_is_gone_at_all() {
    let [first, second, third] = processes();
    let here = first.open();
    let mut running = here.post(&call(1, "never"));
    running.text();
    assert_eq!(at(&second, &here).delete().status, 204);
    assert!(running.has_ended());
    for process in [&first, &second, &third] {
        let there = at(process, &here);
        assert_eq!(there.post(ping()).status, 404);
        assert_eq!(there.get(None).status, 404);
        assert_eq!(there.delete().status, 404);
    }
}

#[test]
fn a_dead_owner_is_followed_by_another_process() {
    let [first, second, third] = processes();
    let here = first.open();
    let there = at(&second, &here);
    let mut reply = there.post(&call(1, "slow"));
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#), "{seen}");
    first.kill();
    assert!(reply.has_ended());
    pass(16);
    let mut resumed = there.get(Some(&last_id(&seen)));
    assert_eq!(resumed.status, 200);
    assert!(!resumed.text().contains("progress"));
    assert!(there.post(&call(2, "echo")).whole().contains("done"));
    let forwarded = at(&third, &here).post(&call(3, "echo"));
    assert!(forwarded.whole().contains("done"));
    assert_eq!(epoch(&second, &here), 1, "taken over once");
}

#[test]
fn events_that_cannot_be_looked_up_are_not_unknown() {
    let [first, second] = processes();
    let there = at(&second, &first.open());
    let seen = there.post(&call(1, "slow")).text();
    first.kill();
    pass(16);
    assert_eq!(there.post(ping()).status, 200, "it is taken over");
    second.node.set(Fault::Fails);
    assert_eq!(there.get(Some(&last_id(&seen))).status, 503);
    second.node.set(Fault::None);
    assert_eq!(there.get(Some(&last_id(&seen))).status, 200);
}

#[test]
fn a_request_whose_owner_dies_is_answered() {
    let ([first, _second], _here, there) = session_of_two();
    first.sim.set(Mode::Paused);
    let mut waiting = there.begin(ping());
    first.kill();
    let reply = waiting.reply().expect("an answer at once");
    reply.has_head(503, [("retry-after", "5")]);
    assert!(reply.whole().contains("may have run"));
    pass(16);
    assert_eq!(
        there.post(ping()).status,
        200,
        "the client has sent it again"
    );
}

#[test]
fn an_owner_that_is_silent_is_waited_for_until_its_lease_ends() {
    let [first, second] = processes();
    let here = first.open();
    first.sim.set(Mode::Paused);
    let mut waiting = at(&second, &here).begin(ping());
    pass(9);
    assert_eq!(waiting.status(), None);
    pass(11);
    assert_eq!(waiting.status(), Some(503));
}

#[test]
fn a_store_that_fails_is_an_error_until_it_works_again() {
    let ([first, second], _here, there) = session_of_two();
    second.node.set(Fault::Fails);
    assert_eq!(there.begin(ping()).eventually(), 503);
    second.node.set(Fault::None);
    assert_eq!(there.post(ping()).status, 200);
    // The owner and its lease are known from now on.
    for process in [&second, &first] {
        process.node.set(Fault::Fails);
        assert_eq!(there.post(ping()).status, 200);
        process.node.set(Fault::None);
    }
}

#[test]
fn a_stream_whose_connection_breaks_is_resumed() {
    let ([first, _second], here, there) = session_of_two();
    first.wire.push(Break::Body);
    let mut reply = there.post(&call(1, "slow"));
    assert_eq!((reply.status.as_u16(), reply.text().as_str()), (200, ""));
    assert!(reply.has_ended());
    let mut own = there.get(None);
    let seen = own.text();
    advance(SECOND);
    assert!(here.post(&call(2, "echo")).whole().contains("done"));
    assert!(!own.has_ended() && seen.contains("id: "), "{seen}");
}

#[test]
fn a_late_store_only_takes_longer() {
    let ([first, second], here, there) = session_of_two();
    for process in [&first, &second] {
        process.node.set(Fault::Late(300));
    }
    assert_eq!(there.begin(ping()).eventually(), 200);
    assert_eq!(epoch(&first, &here), 0);
}

#[test]
fn a_long_answer_passes_through_another_process() {
    let [first, second] = processes();
    let here = first.open();
    let whole = here.post(&call(1, "much")).whole();
    let reply = at(&second, &here).post(&call(1, "much"));
    settle();
    assert_eq!(reply.whole(), whole);
}

/// What a client does not read is bounded, wherever it has its connection.
#[test]
fn a_client_that_does_not_read_stops_the_handler_in_another_process() {
    const BOUND: usize = 64 << 10;
    const EVENTS: usize = 1000;
    let sent = Arc::<AtomicUsize>::default();
    let counted = Arc::clone(&sent);
    let floods = move |server: ServerBuilder| {
        let sent = Arc::clone(&counted);
        let flood = move |(): (), cx: Context| {
            let sent = Arc::clone(&sent);
            async move {
                for number in 0..EVENTS {
                    let text = format!("{number} {}", "x".repeat(1 << 10));
                    cx.log(LoggingLevel::Info, &text).await;
                    sent.store(number, Ordering::SeqCst);
                }
                Ok("at last")
            }
        };
        server.tool("flood", "Has much to say", flood)
    };
    let [first, second] = processes_of(floods, |http| http.max_unread_bytes(BOUND));
    let there = at(&second, &first.open());
    let mut reply = there.post(&call(1, "flood"));
    // The first frame says that it is an event stream.
    assert!(reply.frame().is_some());
    let held = allocation_counter::measure(|| pass(120));
    let stopped = sent.load(Ordering::SeqCst);
    assert!((BOUND >> 11..=BOUND >> 10).contains(&stopped), "{stopped}");
    // The events that are not read, as many in the store, and what their tables grow by.
    let held = usize::try_from(held.bytes_current).unwrap();
    assert!(held < 3 * BOUND, "{held}");
    // It continues as it is read, and nothing is lost.
    let whole = reply.whole();
    let numbers = whole.split(r#""data":""#).skip(1);
    let numbers = numbers.map(|it| it.split(' ').next().unwrap().parse::<usize>().unwrap());
    assert!(numbers.eq(0..EVENTS));
    assert!(whole.contains("at last"));
}

/// SH-43
#[test]
fn the_owner_knows_the_principal() {
    let [first, second] = processes();
    let ada = Some(Principal::new("ada"));
    let here = HttpClient::open_as(&first.service, "2025-11-25", ada);
    let there = at(&second, &here);
    assert_eq!(there.post(ping()).status, 200);
    for principal in [None, Some(Principal::new("eve"))] {
        let stranger = at(&second, &here).used_by(principal);
        assert_eq!(stranger.post(ping()).status, 404);
        assert_eq!(stranger.delete().status, 404);
    }
    assert_eq!(there.post(ping()).status, 200);
}

/// A stream that tells of changed lists of tools.
fn listen(process: &Process) -> Reply {
    let listen = r#"1 subscriptions/listen {"notifications":{"toolsListChanged":true}}"#;
    let mut listening = send(&process.service, modern(listen));
    assert!(listening.text().contains("acknowledged"));
    listening
}

#[test]
fn changes_reach_the_clients_of_all_processes() {
    let [first, second] = processes();
    let legacy = first.open();
    let mut own = legacy.get(None);
    own.text();
    let mut listening = listen(&first);
    for registry in [&second.registry, &first.registry] {
        registry.list_changed(ListKind::Tools);
        settle();
        advance(SECOND);
        for seen in [own.text(), listening.text()] {
            let count = seen.matches("notifications/tools/list_changed").count();
            assert_eq!(count, 1, "{seen}");
        }
    }
    // Of one user only that user learns.
    second
        .registry
        .for_principal("ada")
        .list_changed(ListKind::Tools);
    advance(SECOND);
    assert!(!own.text().contains("list_changed"));
}

/// The number of changes of which this stream has told since the last look.
fn changes(listening: &mut Reply) -> usize {
    let seen = listening.text();
    seen.matches("notifications/tools/list_changed").count()
}

#[test]
fn a_change_before_the_end_of_a_process_reaches_the_others() {
    for fault in [Fault::None, Fault::Fails] {
        let [first, second] = processes();
        let mut listening = listen(&second);
        first.node.set(fault);
        first.registry.list_changed(ListKind::Tools);
        let mut drained = pin!(first.service.drain());
        let cx = &mut task::Context::from_waker(Waker::noop());
        let mut has_ended = || drained.as_mut().poll(cx).is_ready();
        // Shut down, and then what is still to be done.
        assert!(!has_ended());
        settle();
        if fault != Fault::None {
            assert!(!has_ended());
            first.node.set(Fault::None);
            advance(SECOND / 2);
        }
        assert!(has_ended(), "{fault:?}");
        settle();
        assert_eq!(changes(&mut listening), 1, "{fault:?}");
    }
}

/// It may be reported when no session is left, and the time of a lease has passed.
#[test]
fn a_change_of_a_call_that_ends_last_reaches_the_others() {
    let [first, second] = processes_with(|http| http.lease(SECOND));
    let mut listening = listen(&second);
    let mut work = wait(&first.service, modern(&plain_call(1, "work")));
    first.service.shutdown();
    pass(1);
    advance(SECOND / 4 * 3);
    first.registry.list_changed(ListKind::Tools);
    advance(SECOND / 4);
    has(&work.reply().expect("it has ended").whole(), ["at last"]);
    pass(1);
    assert_eq!(changes(&mut listening), 1);
}

/// A store that takes nothing is left after a while.
#[test]
fn the_end_of_a_process_does_not_wait_for_ever_with_its_changes() {
    for fault in [Fault::Fails, Fault::Hangs] {
        let [first] = processes();
        first.node.set(fault);
        first.registry.list_changed(ListKind::Tools);
        let mut drained = pin!(first.service.drain());
        let cx = &mut task::Context::from_waker(Waker::noop());
        let mut seconds = 0;
        while drained.as_mut().poll(cx).is_pending() {
            pass(1);
            seconds += 1;
        }
        assert!((1..=3).contains(&seconds), "{fault:?} {seconds}");
    }
}

#[test]
fn the_tasks_of_an_endpoint_end_with_it() {
    let before = settle();
    let [process] = processes();
    assert!(settle() > before);
    drop(process);
    pass(40);
    assert_eq!(settle(), before);
}
