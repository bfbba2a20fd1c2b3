//! The two endpoints of 2024-11-05.

use core::time::Duration;

use http::{Method, Request};
use mcp_async::Server;
use mcp_async::http::{Http, HttpService};
use mcp_async::server::{Context, Principal};

use crate::scripted::{Reply, send};
use crate::server_typed::support::says;
use crate::sim::{Sim, advance, settle, sleep};

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
    set(http).into_service(Sim).unwrap()
}

fn open(service: &HttpService) -> (Reply, String) {
    open_as(service, None)
}

fn open_as(service: &HttpService, name: Option<&str>) -> (Reply, String) {
    let request = Request::get("/old/sse")
        .header("host", "localhost:8000")
        .header("accept", "text/event-stream");
    let request = by(name, request.body("").unwrap());
    let mut reply = send(service, request);
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("content-type"), "text/event-stream");
    let text = reply.text();
    let data = text.strip_prefix("event: endpoint\ndata: ").expect(&text);
    let reference = data.strip_suffix("\n\n").unwrap();
    assert!(reference.starts_with("messages?c="), "{reference}");
    (reply, format!("/old/{reference}"))
}

/// A request of this user.
fn by<'b>(name: Option<&str>, mut request: Request<&'b str>) -> Request<&'b str> {
    if let Some(name) = name {
        request.extensions_mut().insert(Principal::new(name));
    }
    request
}

fn post<'b>(uri: &str, body: &'b str) -> Request<&'b str> {
    Request::post(uri)
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .body(body)
        .unwrap()
}

fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}}}}}}"#
    )
}

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// HS-01, HS-02, HS-04, HS-06, HS-11.
#[test]
fn answers_come_on_the_stream() {
    let service = service();
    let (mut stream, uri) = open(&service);
    let accepted = send(&service, post(&uri, INITIALIZE));
    assert_eq!(accepted.status, 202);
    let text = stream.text();
    assert!(
        text.starts_with("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,"),
        "{text}"
    );
    assert!(text.contains("2024-11-05"));
    send(&service, post(&uri, INITIALIZED));
    assert_eq!(send(&service, post(&uri, &call(1, "slow"))).status, 202);
    assert_eq!(send(&service, post(&uri, &call(2, "echo"))).status, 202);
    let text = stream.text();
    assert!(
        text.contains(r#""id":2,"result""#) && !text.contains("id: "),
        "{text}"
    );
    advance(Duration::from_secs(1));
    assert!(stream.text().contains(r#""id":1,"result""#));
    assert!(!stream.has_ended());
}

/// HS-08, HS-10.
#[test]
fn a_caller_leaves_room_for_the_calls_of_others() {
    let service = service_with(|http| http.max_exchanges(12));
    let open = |name| {
        let (stream, uri) = open_as(&service, Some(name));
        let send = |body: &str| {
            send(&service, by(Some(name), post(&uri, body)))
                .status
                .as_u16()
        };
        assert_eq!(send(INITIALIZE), 202);
        assert_eq!(send(INITIALIZED), 202);
        (stream, uri)
    };
    let ask = |name, uri: &str, body: &str| {
        let status = send(&service, by(Some(name), post(uri, body))).status;
        settle();
        status.as_u16()
    };
    // As many calls without an end as there may be, at most `most`.
    let long = |name, uri: &str, first: u32, most: u32| {
        let calls = (first..first + most).map(|id| ask(name, uri, &call(id, "never")));
        calls.take_while(|status| *status == 202).count()
    };
    let [one, two, other] = ["bob", "bob", "eve"].map(open);
    assert_eq!(long("bob", &one.1, 1, 4), 4);
    assert_eq!(long("bob", &two.1, 1, 20), 2);
    assert_eq!(long("eve", &other.1, 1, 20), 3);
    // What asks for nothing needs no place.
    assert_eq!(ask("bob", &one.1, &call(9, "echo")), 503);
    for id in 1..=2 {
        let params = format!(r#"{{"requestId":{id}}}"#);
        let cancel =
            format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#);
        assert_eq!(ask("bob", &one.1, &cancel), 202);
    }
    for id in 10..20 {
        assert_eq!(ask("bob", &one.1, &call(id, "echo")), 202);
    }
    drop(two);
    settle();
    assert_eq!(long("bob", &one.1, 100, 20), 3);
}

#[test]
fn a_session_ends_with_its_stream() {
    let service = service();
    let (stream, uri) = open(&service);
    let (mut other, elsewhere) = open(&service);
    assert_ne!(uri, elsewhere);
    drop(stream);
    crate::sim::settle();
    assert_eq!(send(&service, post(&uri, INITIALIZE)).status, 404);
    assert_eq!(send(&service, post(&elsewhere, INITIALIZE)).status, 202);
    assert!(other.text().contains("2024-11-05"));
    service.shutdown();
    assert!(other.has_ended());
}

#[track_caller]
fn check(request: Request<&str>, status: u16, allow: &str) {
    let reply = send(&service(), request);
    assert_eq!(reply.status, status);
    assert_eq!(reply.header("allow"), allow);
}

/// HS-05, HS-08.
#[test]
fn what_is_refused() {
    let service = service();
    let (_stream, uri) = open(&service);
    assert_eq!(
        send(&service, post("/old/messages", INITIALIZE)).status,
        404
    );
    assert_eq!(
        send(&service, post("/old/messages?c=1", INITIALIZE)).status,
        404
    );
    let broken = send(&service, post(&uri, "{"));
    assert_eq!(broken.status, 400);
    assert!(broken.whole().contains("-32700"));
    // The token is no session id of the other transport.
    let (_, token) = uri.split_once("c=").unwrap();
    let mut request = post("/mcp", INITIALIZE);
    request
        .headers_mut()
        .insert("mcp-session-id", token.parse().unwrap());
    request
        .headers_mut()
        .insert("accept", "*/*".parse().unwrap());
    assert_eq!(send(&service, request).status, 404);

    let mut request = post(&uri, INITIALIZE);
    request
        .headers_mut()
        .insert("content-type", "text/plain".parse().unwrap());
    check(request, 415, "");
    let mut request = post(&uri, INITIALIZE);
    request
        .headers_mut()
        .insert("origin", "https://evil.example".parse().unwrap());
    check(request, 403, "");
    let mut request = post("/old/sse", INITIALIZE);
    request
        .headers_mut()
        .insert("host", "evil.example".parse().unwrap());
    check(request, 403, "");
    check(post("/old/sse", INITIALIZE), 405, "GET");
    let mut request = post("/old/messages", "");
    *request.method_mut() = Method::GET;
    check(request, 405, "POST");
    let mut request = post("/old/sse", "");
    *request.method_mut() = Method::GET;
    request
        .headers_mut()
        .insert("accept", "application/json".parse().unwrap());
    check(request, 406, "");
    let mut request = post("/old/messages", "");
    *request.method_mut() = Method::OPTIONS;
    request
        .headers_mut()
        .insert("origin", "http://localhost".parse().unwrap());
    check(request, 204, "");
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
    let service = http.into_service(Sim).unwrap();
    let (mut stream, uri) = open(&service);
    send(&service, post(&uri, INITIALIZE));
    send(&service, post(&uri, INITIALIZED));
    let _ = stream.text();
    let body = call(1, "whose");
    let mut request = post(&uri, &body);
    request
        .headers_mut()
        .insert("mcp-session-id", "anothers".parse().unwrap());
    send(&service, request);
    let text = stream.text();
    assert!(
        text.contains("of Some") && !text.contains("anothers"),
        "{text}"
    );
}
