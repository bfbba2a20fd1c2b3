//! Processes without affinity: requests reach the owner of a session through the store.

use core::sync::atomic::Ordering;
use core::task::{Context as Task, Poll, Waker};
use core::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use mcp_async::http::{HttpService, Principal};
use mcp_proto::server::ListKind;
use tower_service::Service as _;

use crate::http_server::far::Fault;
use crate::http_server::legacy::{Session, call, last_id};
use crate::http_server::nodes::{epoch, processes};
use crate::http_server::stores::{at, ping};
use crate::http_server::support::{advance, modern, request, send, wait};
use crate::sim::{Sim, settle};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_request_is_answered_by_the_owner_of_its_session() {
    let [first, second, third] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    for process in [&second, &third, &first, &second] {
        let there = at(&process.service, &here);
        let answer = there.post(ping());
        assert_eq!(answer.header("content-type"), "application/json");
        assert_eq!(answer.whole(), r#"{"jsonrpc":"2.0","id":9,"result":{}}"#);
        assert!(there.post(&call(1, "echo")).whole().contains("done"));
        let notified =
            there.post(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
        assert_eq!(
            (notified.status.as_u16(), notified.whole().as_str()),
            (202, "")
        );
        assert_eq!(there.post("{").status, 400);
    }
    assert_eq!(epoch(&first, &here), 0, "no process has taken it over");
    let unknown = Session {
        id: "0".repeat(32),
        ..at(&second.service, &here)
    };
    assert_eq!(unknown.post(ping()).status, 404);
}

#[test]
fn an_event_stream_passes_through_another_process() {
    let [first, second, third] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let mut reply = at(&second.service, &here).post(&call(1, "slow"));
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#), "{seen}");
    drop(reply);
    advance(SECOND);
    let there = at(&third.service, &here);
    let rest = there.get(Some(&last_id(&seen))).whole();
    assert!(
        rest.contains(r#""progress":2"#) && rest.contains("at last"),
        "{rest}"
    );
    assert!(!rest.contains(r#""progress":1"#));
    let ended = there.get(Some(&last_id(&rest)));
    assert_eq!(
        (ended.status.as_u16(), ended.header("allow")),
        (405, "GET, POST, DELETE")
    );
}

#[test]
fn a_question_is_answered_through_another_process() {
    let [first, second, third] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let mut asked = at(&second.service, &here).post(&call(1, "ask"));
    let question = asked.text();
    assert!(question.contains("roots/list"), "{question}");
    let (_, id) = question.split_once(r#""id":"#).unwrap();
    let id = id.split([',', '}']).next().unwrap();
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#);
    assert_eq!(at(&third.service, &here).post(&answer).status, 202);
    assert!(asked.whole().contains("roots"));
    // Cancellation and the log level reach the owner, too.
    let mut never = here.post(&call(7, "never"));
    never.text();
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;
    assert_eq!(at(&second.service, &here).post(cancel).status, 202);
    assert!(never.has_ended());
}

#[test]
fn a_session_that_ends_at_one_process_is_gone_at_all() {
    let [first, second, third] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let mut running = here.post(&call(1, "never"));
    running.text();
    assert_eq!(at(&second.service, &here).delete().status, 204);
    assert!(running.has_ended());
    for process in [&first, &second, &third] {
        let there = at(&process.service, &here);
        assert_eq!(there.post(ping()).status, 404);
        assert_eq!(there.get(None).status, 404);
        assert_eq!(there.delete().status, 404);
    }
}

#[test]
fn a_dead_owner_is_followed_by_another_process() {
    let [first, second, third] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    let mut reply = there.post(&call(1, "slow"));
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#), "{seen}");
    first.node.kill();
    // The next heartbeat of the second process ends the stream.
    assert!(!reply.has_ended());
    advance(5 * SECOND);
    assert!(reply.has_ended());
    let mut resumed = there.get(Some(&last_id(&seen)));
    assert_eq!(resumed.status, 200);
    assert!(!resumed.text().contains("progress"));
    assert!(there.post(&call(2, "echo")).whole().contains("done"));
    let forwarded = at(&third.service, &here).post(&call(3, "echo"));
    assert!(forwarded.whole().contains("done"));
    assert_eq!(epoch(&second, &here), 1, "taken over once");
}

#[test]
fn a_request_whose_owner_dies_is_answered() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    // It lives, and reads no messages.
    first.node.set(Fault::Hangs);
    settle();
    let body = ping();
    let mut waiting = wait(&second.service, posted(&here, body));
    first.node.kill();
    advance(5 * SECOND);
    let reply = waiting.reply().expect("an answer");
    assert_eq!(
        (reply.status.as_u16(), reply.header("retry-after")),
        (503, "5")
    );
    assert_eq!(there.post(body).status, 200, "the client has sent it again");
}

fn posted<'b>(session: &Session, body: &'b str) -> Request<&'b str> {
    Request::post("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-session-id", &session.id)
        .header("mcp-protocol-version", session.revision)
        .body(body)
        .unwrap()
}

#[test]
fn an_owner_that_is_silent_is_waited_for_in_bounded_time() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    first.node.set(Fault::Hangs);
    let mut waiting = wait(&second.service, posted(&here, ping()));
    for _ in 0..29 {
        advance(SECOND);
        assert!(waiting.reply().is_none());
    }
    advance(SECOND);
    assert_eq!(waiting.reply().unwrap().status, 503);
}

#[test]
fn a_relay_that_fails_is_an_error_until_it_works_again() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    for broken in [&second, &first] {
        broken.node.set(Fault::Fails);
        assert_eq!(eventually(&second.service, posted(&here, ping())), 503);
        broken.node.set(Fault::None);
        advance(5 * SECOND);
        assert_eq!(there.post(ping()).status, 200);
    }
}

/// The status of a response that may begin later.
fn eventually(service: &HttpService<Sim>, request: Request<&str>) -> u16 {
    let request = request.map(|body| Full::<Bytes>::from(body.to_owned()));
    let mut response = Box::pin(service.clone().call(request));
    for _ in 0..600 {
        settle();
        let cx = &mut Task::from_waker(Waker::noop());
        if let Poll::Ready(Ok(response)) = response.as_mut().poll(cx) {
            return response.status().as_u16();
        }
        advance(SECOND / 10);
    }
    panic!("it has no answer")
}

#[test]
fn a_message_that_arrives_twice_counts_once() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    for process in [&first, &second] {
        process.node.set(Fault::Doubles);
    }
    let there = at(&second.service, &here);
    let mut reply = there.post(&call(1, "slow"));
    let mut text = reply.text();
    advance(SECOND);
    text += &reply.whole();
    for once in [r#""progress":1"#, r#""progress":2"#, "at last"] {
        assert_eq!(text.matches(once).count(), 1, "{text}");
    }
}

#[test]
fn a_part_that_is_lost_ends_the_response() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    let mut reply = there.post(&call(1, "slow"));
    let seen = reply.text();
    assert!(seen.contains(r#""progress":1"#), "{seen}");
    // The next part, and nothing after it.
    let sent = first.node.sent.load(Ordering::SeqCst);
    first.node.set(Fault::Loses(sent));
    advance(SECOND);
    assert!(!reply.text().contains("at last"));
    first.node.set(Fault::None);
    for _ in 0..10 {
        advance(5 * SECOND);
    }
    assert!(reply.has_ended());
    let rest = there.get(Some(&last_id(&seen))).whole();
    assert!(
        rest.contains(r#""progress":2"#) && rest.contains("at last"),
        "{rest}"
    );
}

#[test]
fn a_late_store_only_takes_longer() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    for process in [&first, &second] {
        process.node.set(Fault::Late(300));
    }
    assert_eq!(eventually(&second.service, posted(&here, ping())), 200);
    assert_eq!(epoch(&first, &here), 0);
}

#[test]
fn a_client_that_does_not_read_holds_the_owner_back() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let whole = here.post(&call(1, "much")).whole();
    let reply = at(&second.service, &here).post(&call(1, "much"));
    settle();
    let parts = first.node.sent.load(Ordering::SeqCst);
    assert!(parts <= 32, "{parts}");
    assert_eq!(reply.whole(), whole);
    assert!(first.node.sent.load(Ordering::SeqCst) > parts);
}

#[test]
fn an_owner_whose_client_is_gone_stops() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let mut reply = at(&second.service, &here).get(None);
    assert_eq!(reply.status, 200);
    reply.text();
    drop(reply);
    settle();
    let sent = first.node.sent.load(Ordering::SeqCst);
    for _ in 0..60 {
        advance(SECOND);
    }
    assert_eq!(
        first.node.sent.load(Ordering::SeqCst),
        sent,
        "no comment keeps it alive"
    );
    // The same for a client whose process is gone.
    let mut reply = at(&second.service, &here).get(None);
    reply.text();
    second.node.kill();
    advance(20 * SECOND);
    let sent = first.node.sent.load(Ordering::SeqCst);
    for _ in 0..60 {
        advance(SECOND);
    }
    assert_eq!(first.node.sent.load(Ordering::SeqCst), sent);
}

/// SH-43
#[test]
fn the_owner_knows_the_principal() {
    let [first, second] = processes();
    let ada = Some(Principal::new("ada"));
    let here = Session::open_as(&first.service, "2025-11-25", ada);
    let there = at(&second.service, &here);
    assert_eq!(there.post(ping()).status, 200);
    for principal in [None, Some(Principal::new("eve"))] {
        let stranger = Session {
            principal,
            ..at(&second.service, &here)
        };
        assert_eq!(stranger.post(ping()).status, 404);
        assert_eq!(stranger.delete().status, 404);
    }
    assert_eq!(there.post(ping()).status, 200);
}

#[test]
fn changes_reach_the_clients_of_all_processes() {
    let [first, second] = processes();
    let legacy = Session::open(&first.service, "2025-11-25");
    let mut own = legacy.get(None);
    own.text();
    let listen = request(
        1,
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true}"#,
    );
    let mut listening = send(&first.service, modern(&listen));
    assert!(listening.text().contains("acknowledged"));
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

#[test]
fn a_process_that_is_shut_down_hands_its_sessions_on() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    assert_eq!(there.post(ping()).status, 200);
    first.service.shutdown();
    for _ in 0..6 {
        advance(SECOND);
    }
    assert_eq!(there.post(ping()).status, 200);
    assert_eq!(epoch(&second, &here), 1);
}

#[test]
fn the_tasks_of_an_endpoint_end_with_it() {
    let before = settle();
    let [process] = processes();
    assert!(settle() > before);
    drop(process);
    advance(20 * SECOND);
    advance(20 * SECOND);
    assert_eq!(settle(), before);
}
