//! The streams of a legacy session: what goes on which, and what outlives an exchange.

use core::future::pending;
use core::time::Duration;

use mcp_async::http::HttpService;
use mcp_async::server::{Context, Registry};
use mcp_proto::json::RawBuf;
use mcp_proto::model::LoggingLevel;
use mcp_proto::server::ListKind;

use crate::http_server::legacy::{asked_session, server, service};
use crate::scripted::{HttpClient, Serve, array, call, cancelled, last_id, request_id};
use crate::sim::{advance, settle};
use crate::texts::has;

/// SH-12, SH-14.
#[test]
fn streams_of_posts_begin_with_an_id_where_that_is_known() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let mut reply = session.post(&call(1, "slow"));
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let text = reply.text();
    // An event that is there at once has an id itself.
    assert!(text.starts_with("id: "), "{text}");
    assert!(text.contains("notifications/progress"), "{text}");
    let mut never = session.post(&call(2, "never"));
    let text = never.text();
    assert!(
        text.starts_with("id: ") && text.ends_with("\ndata:\n\n"),
        "{text}"
    );
    advance(Duration::from_secs(1));
    let text = reply.text();
    assert!(text.contains(r#""id":1,"result""#), "{text}");
    assert!(reply.has_ended() && !never.has_ended());

    let session = HttpClient::open(&service(), "2025-06-18");
    assert_eq!(session.post(&call(2, "never")).text(), "");
}

/// SH-10, SH-18, SH-22, SH-26, SH-53.
#[test]
fn a_handler_outlives_its_post() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let mut reply = session.post(&call(1, "slow"));
    let id = last_id(&reply.text());
    drop(reply);
    advance(Duration::from_secs(1));
    let mut again = session.get(Some(&id));
    assert_eq!(again.status, 200);
    let text = again.text();
    has(&text, [r#""progress":2"#, "at last"]);
    assert!(again.has_ended());
    // Nothing is lost by coming twice, and nothing of another stream is seen.
    has(
        &session.get(Some(&id)).text(),
        [r#""progress":2"#, "at last"],
    );
    for unknown in ["99-1", "x", &format!("{id}9")] {
        assert_eq!(session.get(Some(unknown)).status, 400, "{unknown}");
    }
}

/// SH-20: clients resume a call that they cancelled. An empty stream, or one without an id, would
/// have them come back for ever.
#[test]
fn a_stream_that_has_ended_is_resumed_only_for_what_is_left() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let session = HttpClient::open(&service(), revision);
        let mut reply = session.post(&call(1, "slow"));
        let id = last_id(&reply.text());
        let cancel = &cancelled(1);
        assert_eq!(session.post(cancel).status, 202);
        assert!(reply.has_ended());
        let ended = session.get(Some(&id));
        ended.has_head(405, [("allow", "GET, POST, DELETE")]);
        assert!(ended.whole().contains("-32600"));

        let answered = last_id(&session.post(&call(2, "slow")).text());
        advance(Duration::from_secs(1));
        let rest = session.get(Some(&answered)).whole();
        assert!(rest.contains("at last"), "{rest}");
        assert_eq!(session.get(Some(&last_id(&rest))).status, 405);
    }
}

#[test]
fn a_resumed_stream_that_is_quiet_gives_an_id() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let first = last_id(&session.post(&call(1, "never")).text());
    let mut again = session.get(Some(&first));
    let text = again.text();
    assert!(
        text.starts_with("id: ") && text.ends_with("\ndata:\n\n"),
        "{text}"
    );
    let second = last_id(&text);
    assert_ne!(first, second);
    assert_eq!(session.post(&cancelled(1)).status, 202);
    assert!(again.has_ended());
    assert_eq!(session.get(Some(&second)).status, 405);
}

/// SH-11, SH-13.
#[test]
fn a_client_may_be_told_to_poll() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let mut reply = session.post(&call(1, "poll"));
    let text = reply.text();
    assert!(
        text.starts_with("id: ") && text.contains("data:\n\n"),
        "{text}"
    );
    assert!(text.ends_with("retry: 500\n\n"), "{text}");
    assert!(reply.has_ended());
    let id = last_id(&text);
    let mut again = session.get(Some(&id));
    assert!(!again.has_ended());
    advance(Duration::from_secs(1));
    assert!(again.text().contains("at last"));
    assert!(again.has_ended());

    // Before that revision the stream stays.
    let session = HttpClient::open(&service(), "2025-06-18");
    let mut reply = session.post(&call(1, "poll"));
    assert!(!reply.has_ended());
    advance(Duration::from_secs(1));
    assert!(reply.text().contains("at last"));
}

/// SH-15, SH-59.
#[test]
fn a_question_goes_with_the_call_that_it_is_asked_for() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let mut other = session.get(None);
    let mut reply = session.post(&call(7, "ask"));
    let text = reply.text();
    assert!(text.contains(r#""method":"roots/list""#), "{text}");
    assert!(!other.text().contains("roots/list"));
    let id = request_id(&text);
    let answer = format!(r#"{id} = {{"roots":[]}}"#);
    assert_eq!(session.post(&answer).status, 202);
    has(&reply.text(), [r#""id":7,"result""#, "roots"]);
    assert!(reply.has_ended());
}

/// SH-21, SH-59.
#[test]
fn questions_without_a_call_are_asked_again() {
    let session = asked_session();
    let mut stream = session.get(None);
    assert!(stream.text().contains("roots/list"));
    drop(stream);
    let mut stream = session.get(None);
    let text = stream.text();
    assert!(text.contains("roots/list"), "{text}");
    let id = request_id(&text);
    session.post(&format!(r#"{id} = {{"roots":[]}}"#));
    drop(stream);
    assert!(!session.get(None).text().contains("roots/list"));
}

/// SH-20, SH-21, SH-60.
#[test]
fn the_sessions_own_stream_tells_of_changes() {
    let server = server().change_notifications().build().unwrap();
    let registry = server.registry();
    let service = server.http().served();
    let session = HttpClient::open(&service, "2025-11-25");
    let other = HttpClient::open(&service, "2025-11-25");
    let mut first = session.get(None);
    first.text();
    let mut second = session.get(None);
    // The later reader wins, and the earlier one does not come back at once.
    assert_eq!(first.text(), "retry: 5000\n\n");
    assert!(first.has_ended());
    second.text();
    registry.remove_tool("echo");
    let text = second.text();
    assert_eq!(
        text.matches("notifications/tools/list_changed").count(),
        1,
        "{text}"
    );
    // It is kept for whoever comes later, and each session has its own.
    let text = other.get(None).text();
    assert_eq!(
        text.matches("notifications/tools/list_changed").count(),
        1,
        "{text}"
    );
}

#[test]
fn a_cancelled_call_ends_its_stream() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let mut reply = session.post(&call(1, "never"));
    assert!(!reply.has_ended());
    assert_eq!(session.post(&cancelled(1)).status, 202);
    assert!(reply.has_ended());
}

/// More than may wait to be read.
fn much() -> String {
    "x".repeat(300_000)
}

/// An endpoint with a tool whose one report fills its stream, and which has no end.
fn filling() -> (HttpService, Registry) {
    let server = server()
        .change_notifications()
        .tool("fills", "", |(): (), cx: Context| async move {
            cx.progress(1.0).message(&much()).await;
            pending::<()>().await;
            Ok("")
        })
        .build()
        .unwrap();
    let registry = server.registry();
    (server.http().served(), registry)
}

const CANCEL: &str = r#"- notifications/cancelled {"requestId":1}"#;

#[test]
fn the_end_of_a_full_stream_follows_when_it_is_read() {
    let session = HttpClient::open(&filling().0, "2025-11-25");
    let mut reply = session.post(&call(1, "fills"));
    assert_eq!(session.post(CANCEL).status, 202);
    assert!(reply.text().contains("xxx"));
    assert!(reply.has_ended());
}

#[test]
fn the_answers_of_an_array_follow_when_its_full_stream_is_read() {
    let session = HttpClient::open(&filling().0, "2025-03-26");
    let mut reply = session.post(&array(&[call(2, "echo"), call(1, "fills")]));
    assert_eq!(session.post(CANCEL).status, 202);
    has(
        &reply.text(),
        ["xxx", r#"[{"jsonrpc":"2.0","id":2,"result""#],
    );
    assert!(reply.has_ended());
}

#[test]
fn a_change_follows_when_the_full_stream_of_a_session_is_read() {
    let (service, registry) = filling();
    let session = HttpClient::open(&service, "2025-11-25");
    let mut own = session.get(None);
    own.text();
    let peer = registry.peers().pop().unwrap();
    crate::sim::spawn(Box::pin(async move {
        let data = RawBuf::parse(format!("\"{}\"", much())).unwrap();
        let logged = peer.log(LoggingLevel::Error, None, &data);
        logged.await.unwrap();
    }));
    settle();
    registry.list_changed(ListKind::Tools);
    settle();
    let text = own.text();
    let changes = text.matches("notifications/tools/list_changed").count();
    assert_eq!(changes, 1);
}
