//! The two endpoints of 2024-11-05.

use core::time::Duration;

use http::{Method, Request};
use mcp_async::Server;
use mcp_async::http::{Http, HttpService};
use mcp_async::server::{Context, Principal};

use crate::scripted::{
    INITIALIZED, RequestExt, Serve, SseClient, cancelled, get, plain_call, post, send,
};
use crate::server_typed::support::says;
use crate::sim::{advance, settle, sleep};
use crate::texts::has;

fn service() -> HttpService {
    service_with(|http| http)
}

fn service_with(set: impl FnOnce(Http) -> Http) -> HttpService {
    let http = Server::builder("demo", "1.0")
        .tool("echo", "Says it at once", says("done"))
        .tool("slow", "Takes a second", |(): (), _: Context| async {
            sleep(Duration::from_secs(1)).await;
            Ok("at last")
        })
        .tool("never", "Has no end", |(): (), _: Context| async {
            core::future::pending::<Result<String, _>>().await
        })
        .http()
        .legacy_sse("/old/sse", "/old/messages");
    set(http).served()
}

fn open(service: &HttpService) -> SseClient {
    SseClient::open_in(service, "/old", None)
}

const INITIALIZE: &str = r#"0 initialize {"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}}"#;

/// HS-01, HS-02, HS-04, HS-06, HS-11.
#[test]
fn answers_come_on_the_stream() {
    let service = service();
    let mut client = open(&service);
    assert_eq!(client.post(INITIALIZE).status, 202);
    let text = client.stream.text();
    assert!(
        text.starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,"),
        "{text}"
    );
    assert!(text.contains("2024-11-05"));
    client.post(INITIALIZED);
    assert_eq!(client.post(&plain_call(1, "slow")).status, 202);
    assert_eq!(client.post(&plain_call(2, "echo")).status, 202);
    let text = client.stream.text();
    assert!(
        text.contains(r#""id":2,"result""#) && !text.contains("id: "),
        "{text}"
    );
    advance(Duration::from_secs(1));
    has(&client.stream.text(), [r#""id":1,"result""#]);
    assert!(!client.stream.has_ended());
}

/// HS-08, HS-10.
#[test]
fn a_caller_leaves_room_for_the_calls_of_others() {
    let service = service_with(|http| http.max_exchanges(12));
    let open = |name| {
        let client = SseClient::open_in(&service, "/old", Some(Principal::new(name)));
        assert_eq!(client.say(INITIALIZE), 202);
        assert_eq!(client.say(INITIALIZED), 202);
        client
    };
    // As many calls without an end as there may be, at most `most`.
    let long = |client: &SseClient, first: u32, most: u32| {
        let calls = (first..first + most).map(|id| client.say(&plain_call(id, "never")));
        calls.take_while(|status| *status == 202).count()
    };
    let [one, two, other] = ["bob", "bob", "eve"].map(open);
    assert_eq!(long(&one, 1, 4), 4);
    assert_eq!(long(&two, 1, 20), 2);
    assert_eq!(long(&other, 1, 20), 3);
    // What asks for nothing needs no place.
    assert_eq!(one.say(&plain_call(9, "echo")), 503);
    for id in 1..=2 {
        assert_eq!(one.say(&cancelled(id)), 202);
    }
    for id in 10..20 {
        assert_eq!(one.say(&plain_call(id, "echo")), 202);
    }
    drop(two);
    settle();
    assert_eq!(long(&one, 100, 20), 3);
}

#[test]
fn a_session_ends_with_its_stream() {
    let service = service();
    let SseClient { stream, uri, .. } = open(&service);
    let mut other = open(&service);
    assert_ne!(uri, other.uri);
    drop(stream);
    settle();
    assert_eq!(send(&service, post(INITIALIZE).to(&uri)).status, 404);
    assert_eq!(other.post(INITIALIZE).status, 202);
    has(&other.stream.text(), ["2024-11-05"]);
    service.shutdown();
    assert!(other.stream.has_ended());
}

#[track_caller]
fn check(request: Request<String>, status: u16, allow: &str) {
    let reply = send(&service(), request);
    reply.has_head(status, [("allow", allow)]);
}

/// HS-05, HS-08.
#[test]
fn what_is_refused() {
    let service = service();
    let client = open(&service);
    let to = |uri: &str| post(INITIALIZE).to(uri);
    assert_eq!(send(&service, to("/old/messages")).status, 404);
    assert_eq!(send(&service, to("/old/messages?c=1")).status, 404);
    client.post("{").says(400, ["-32700"]);
    // The token is no session id of the other transport.
    let (_, token) = client.uri.split_once("c=").unwrap();
    let request = post(INITIALIZE).with("mcp-session-id", token);
    assert_eq!(send(&service, request.with("accept", "*/*")).status, 404);

    let to_client = || to(&client.uri);
    check(to_client().with("content-type", "text/plain"), 415, "");
    check(to_client().with("origin", "https://evil.example"), 403, "");
    check(to("/old/sse").with("host", "evil.example"), 403, "");
    check(to("/old/sse"), 405, "GET");
    check(get(None).to("/old/messages"), 405, "POST");
    check(
        get(None).to("/old/sse").with("accept", "application/json"),
        406,
        "",
    );
    let preflight = to("/old/messages").with_method(Method::OPTIONS);
    check(preflight.with("origin", "http://localhost"), 204, "");
}

/// A client cannot choose the id of its session.
#[test]
fn a_header_names_no_session_of_2024_11_05() {
    let http = Server::builder("demo", "1.0")
        .tool("whose", "", |(): (), cx: Context| async move {
            Ok(format!("of {:?}", cx.session_id()).replace('"', "'"))
        })
        .http()
        .legacy_sse("/old/sse", "/old/messages");
    let service = http.served();
    let mut client = open(&service);
    client.post(INITIALIZE);
    client.post(INITIALIZED);
    let _ = client.stream.text();
    let request = post(&plain_call(1, "whose")).to(&client.uri);
    send(&service, request.with("mcp-session-id", "anothers"));
    let text = client.stream.text();
    assert!(
        text.contains("of Some") && !text.contains("anothers"),
        "{text}"
    );
}
