//! The transports draft of spring 2026, as a server keeps it: sessions and mirrored headers at
//! once. One test for each thing that it says otherwise than its neighbours (DF-01 to DF-05).

use core::time::Duration;

use http::{HeaderMap, Method};
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, ServerBuilder, Tool, ToolCall};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc;

use crate::http_server::legacy;
use crate::scripted::{
    self, HttpClient, INITIALIZED, Reply, RequestExt, Serve, SseClient, array, cancelled, get,
    initialize, last_id, modern, plain_call, post, request_id, send,
};
use crate::sim::advance;
use crate::texts::has;

const NAMED: &str = "DRAFT-2026-v1";

/// The draft in its own name, and switched on for a published revision.
const WAYS: [&str; 2] = [NAMED, "2025-11-25"];

const SCHEMA: &str = r#"{"type":"object","properties":{
    "load":{"type":"number","x-mcp-header":"Load"},
    "zone":{"type":["string","null"],"x-mcp-header":"Zone"},
    "deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Flag"}}}}}"#;

fn tool(name: &str, schema: &str) -> Tool {
    Tool::new(name)
        .input_schema(RawBuf::parse(schema).unwrap())
        .raw(|_: ToolCall, _: Context| async { Ok("served") })
}

fn server() -> ServerBuilder {
    published().with(tool("route", SCHEMA))
}

/// The same without the tool that only the draft has.
fn published() -> ServerBuilder {
    legacy::server()
        .tool(
            "aside",
            "Asks what belongs to no request",
            |(): (), cx: Context| async move {
                let nothing = RawBuf::parse("{}").unwrap();
                let asked = cx
                    .peer()
                    .ask::<RawBuf>(rpc::Method::RootsList, &nothing)
                    .await;
                Ok(asked.map_or_else(|error| error.to_string(), |_| "asked".into()))
            },
        )
        .resource("demo://a", "ok", |_: Context| async { Ok("read") })
}

fn endpoint() -> HttpService {
    let http = server().draft_profile().http();
    let http = http.legacy_sse("/sse", "/messages");
    http.served()
}

/// A session that is held to the draft.
struct Session(HttpClient);

impl Session {
    fn open(service: &HttpService, revision: &'static str) -> Self {
        let mut session = Self(HttpClient::new(service, revision));
        let opened = session.post(&initialize(revision));
        session.0.id = opened.header("mcp-session-id").to_owned();
        opened.says(200, [&format!(r#""protocolVersion":"{revision}""#)]);
        assert_eq!(session.post(INITIALIZED).status, 202);
        session
    }

    /// What the head of a message repeats is in it.
    fn post(&self, text: &str) -> Reply {
        self.changed(text, |_| ())
    }

    /// The same with another head.
    fn changed(&self, text: &str, change: impl FnOnce(&mut HeaderMap)) -> Reply {
        let mut request = self.0.completed(post(text));
        let head = request.headers_mut();
        for (name, value) in modern(text).headers() {
            if name == "mcp-method" || name == "mcp-name" {
                head.insert(name, value.clone());
            }
        }
        change(head);
        send(&self.0.service, request)
    }

    fn get(&self, last_event_id: Option<&str>) -> Reply {
        self.0.get(last_event_id)
    }

    /// What a message with this head is answered with.
    #[track_caller]
    fn check(&self, body: &str, fields: &[(&'static str, &str)], status: u16, part: &str) {
        let reply = self.changed(body, |head| {
            for (name, value) in fields {
                match *value {
                    ABSENT => drop(head.remove(*name)),
                    value => drop(head.insert(*name, value.parse().unwrap())),
                }
            }
        });
        println!("{body} {fields:?}");
        reply.says(status, [part]);
    }
}

fn each(check: impl Fn(&Session)) {
    for revision in WAYS {
        check(&Session::open(&endpoint(), revision));
    }
}

fn call(arguments: &str) -> String {
    format!(r#"1 tools/call {{"name":"route","arguments":{arguments}}}"#)
}

const ABSENT: &str = "\0";
const PING: &str = "2 ping";
const LIST: &str = "3 tools/list";
const READ: &str = r#"4 resources/read {"uri":"demo://a"}"#;
const READ_NAME: &str = "=?base64?ZGVtbzovL2E=?=";
const CHANGED: &str = "- notifications/roots/list_changed";
const PONG: &str = "1 = {}";

/// DF-01.
#[test]
fn off_by_default() {
    let service = legacy::server().http().served();
    let latest = [r#""protocolVersion":"2025-11-25""#];
    send(&service, post(&initialize(NAMED))).says(200, latest);
    // Nor is it what a server offers that has it.
    let request = post(&initialize("2030-01-01")).with("mcp-method", "initialize");
    send(&endpoint(), request).says(200, latest);
}

/// DF-02, DF-03.
#[test]
fn methods_of_requests_and_notifications() {
    each(|session| {
        for body in [PING, LIST] {
            session.check(body, &[], 200, "result");
            session.check(body, &[("mcp-method", ABSENT)], 400, "-32001");
            session.check(body, &[("mcp-method", "Ping")], 400, "-32001");
        }
        session.check(CHANGED, &[], 202, "");
        session.check(CHANGED, &[("mcp-method", ABSENT)], 400, "-32001");
        session.check(CHANGED, &[("mcp-method", "ping")], 400, "-32001");
        // A response has none.
        session.check(PONG, &[("mcp-method", ABSENT)], 202, "");
    });
    send(&endpoint(), post(&initialize("2025-11-25"))).says(400, ["-32001"]);
}

#[test]
fn names_and_their_encoding() {
    each(|session| {
        let plain = call("{}");
        session.check(&plain, &[("mcp-name", "route")], 200, "served");
        session.check(&plain, &[("mcp-name", "=?base64?cm91dGU=?=")], 200, "serv");
        session.check(&plain, &[("mcp-name", "=?base64?cm91dGU?=")], 400, "-32001");
        session.check(&plain, &[("mcp-name", "Route")], 400, "-32001");
        session.check(READ, &[("mcp-name", READ_NAME)], 200, "read");
    });
}

/// Method and name, and not the version: which one rules is the session's knowledge.
#[test]
fn headers_that_are_demanded() {
    each(|session| {
        let version = ("mcp-protocol-version", ABSENT);
        session.check(&call("{}"), &[version], 200, "served");
        session.check(&call("{}"), &[("mcp-name", ABSENT)], 400, "-32001");
        session.check(READ, &[("mcp-name", ABSENT)], 400, "-32001");
        session.check(LIST, &[("mcp-name", ABSENT)], 200, "result");
    });
}

/// DF-03.
#[test]
fn the_code_of_a_mismatch() {
    each(|session| {
        session.check(PING, &[("mcp-method", ABSENT)], 400, r#""code":-32001"#);
        session.check(
            &call(r#"{"zone":"a"}"#),
            &[("mcp-param-zone", "b")],
            400,
            r#""code":-32001"#,
        );
        // Beside it the modern era has its own.
        let mut request = modern("1 tools/list");
        request.headers_mut().remove("mcp-method");
        send(&session.0.service, request).says(400, [r#""code":-32020"#]);
    });
    // And in plain sessions of the same shape nobody looks.
    let plain = HttpClient::open(&legacy::service(), "2025-11-25");
    let request = post(PING).with("mcp-method", "wrong");
    assert_eq!(plain.send(request).status, 200);
}

#[test]
fn the_body_of_a_mismatch() {
    each(|session| {
        let error = r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32001,"message":""#;
        session.check(PING, &[("mcp-method", ABSENT)], 400, error);
        let reply = session.changed(PING, |head| drop(head.remove("mcp-method")));
        assert_eq!(reply.header("content-type"), "application/json");
    });
}

/// DF-05.
#[test]
fn numbers_in_headers() {
    each(|session| {
        let check = |load: &str, header: &str, status, part: &str| {
            let body = call(&format!(r#"{{"load":{load}}}"#));
            session.check(&body, &[("mcp-param-load", header)], status, part);
        };
        check("1.5", "1.5", 200, "served");
        check("1.5", "1.50", 200, "served");
        check("1.5e3", "1500", 200, "served");
        check("42", "42", 200, "served");
        check("1.5", "1.6", 400, "-32001");
        check("1.5", "many", 400, "-32001");
        check("1.5", ABSENT, 400, "-32001");
        check("null", "1", 400, "-32001");
        session.check(LIST, &[], 200, r#""route""#);
    });
}

/// No published revision has them, so they are refused where the draft is not on, and the tool is
/// not there for anybody else. DF-05.
#[test]
fn numbers_elsewhere() {
    let why = "tool `route`: a property with a header is a number, \
               which the draft profile alone allows";
    let error = server().build().unwrap_err();
    assert_eq!(error.mistakes()[0].to_string(), why);
    let server = legacy::server().build().unwrap();
    let registry = server.registry();
    let late = registry.add(tool("late", SCHEMA)).unwrap_err();
    assert!(late.to_string().starts_with("tool `late`: a property"));

    let published = server.http().served();
    let session = HttpClient::open(&published, "2025-11-25");
    assert!(!session.post(LIST).whole().contains("route"));

    let server = self::server().draft_profile().build().unwrap();
    let drafted = server.http().served();
    assert_eq!(server.registry().add(tool("late", SCHEMA)), Ok(()));
    for service in [published, drafted] {
        let list = send(&service, modern("1 tools/list")).whole();
        assert!(list.contains("echo") && !list.contains("route") && !list.contains("late"));
        let refused = send(&service, modern(&plain_call(1, "route"))).whole();
        has(&refused, ["Unknown tool: route"]);
    }
    // What is wrong in any revision, the draft does not mend.
    let doubled = SCHEMA.replace("Zone", "load");
    let server = Server::builder("demo", "1.0").with(tool("wrong", &doubled));
    let error = server.draft_profile().build().unwrap_err();
    let error = error.mistakes()[0].to_string();
    assert!(error.ends_with("two properties have the same header"));
}

#[test]
fn names_of_headers() {
    for (name, fits) in [("a.b~c", true), ("a b", false), ("a:b", false), ("", false)] {
        let schema = SCHEMA.replace("Zone", name);
        let server = Server::builder("demo", "1.0").with(tool("route", &schema));
        assert_eq!(server.draft_profile().build().is_ok(), fits, "{name}");
    }
}

#[test]
fn nesting() {
    each(|session| {
        let deep = call(r#"{"deep":{"flag":true}}"#);
        session.check(&deep, &[("mcp-param-flag", "true")], 200, "served");
        session.check(&deep, &[], 400, "-32001");
    });
    let schema = r#"{"type":"object","properties":{
        "a":{"items":{"type":"number","x-mcp-header":"A"}}}}"#;
    let server = Server::builder("demo", "1.0").with(tool("route", schema));
    let error = server.draft_profile().build().unwrap_err();
    has(&error.mistakes()[0].to_string(), ["no chain of properties"]);
}

#[test]
fn text_that_looks_encoded() {
    each(|session| {
        let body = call(r#"{"zone":"=?base64?literal?="}"#);
        let encoded = "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=";
        session.check(&body, &[("mcp-param-zone", encoded)], 200, "served");
        let literal = "=?base64?literal?=";
        session.check(&body, &[("mcp-param-zone", literal)], 400, "-32001");
    });
}

#[test]
fn sentinels_are_in_lower_case() {
    each(|session| {
        let encoded = call(r#"{"zone":"Hello"}"#);
        let literal = call(r#"{"zone":"=?BASE64?SGVsbG8=?="}"#);
        let upper = ("mcp-param-zone", "=?BASE64?SGVsbG8=?=");
        session.check(&encoded, &[upper], 400, "-32001");
        session.check(&literal, &[upper], 200, "served");
    });
}

#[test]
fn sessions_and_resumption() {
    each(|session| {
        let mut own = session.get(None);
        assert_eq!(own.status, 200);
        let start = last_id(&own.text());
        let resumed = session.get(Some(&start));
        assert_eq!(resumed.status, 200);
        assert_eq!(session.get(Some("nowhere-1")).status, 400);
        assert_eq!(session.0.delete().status, 204);
        assert_eq!(session.post(PING).status, 404);
    });
}

#[test]
fn other_methods_are_refused_with_those_that_are_allowed() {
    each(|session| {
        let refused = session.0.send(get(None).with_method(Method::PUT));
        refused.has_head(405, [("allow", "GET, POST, DELETE")]);
    });
}

#[test]
fn what_a_request_is_asked_comes_on_its_stream() {
    each(|session| {
        let mut own = session.get(None);
        own.text();
        let mut asking = session.post(&plain_call(1, "ask"));
        let question = asking.text();
        assert!(question.contains(r#""method":"roots/list""#), "{question}");
        let id = request_id(&question);
        let answer = format!(r#"{id} = {{"roots":[]}}"#);
        assert_eq!(session.post(&answer).status, 202);
        assert!(asking.text().contains(r#"\"roots\":[]"#));
        assert!(asking.has_ended());
        assert_eq!(own.text(), "");
    });
}

/// The stream of a GET has no questions: those that belong to no request are not asked, and so no
/// client has to refuse them. DF-04.
#[test]
fn nothing_is_asked_on_the_stream_of_a_get() {
    each(|session| {
        let mut own = session.get(None);
        own.text();
        session.check(&plain_call(1, "aside"), &[], 200, "revision");
        assert_eq!(own.text(), "");
    });
    // A plain session of the same shape does ask there.
    let service = published().http().served();
    let session = HttpClient::open(&service, "2025-11-25");
    let mut own = session.get(None);
    own.text();
    let _asking = session.post(&scripted::call(1, "aside"));
    assert!(own.text().contains("roots/list"));
}

/// And it still has what may be there.
#[test]
fn notifications_come_on_the_stream_of_a_get() {
    let server = server()
        .draft_profile()
        .change_notifications()
        .build()
        .unwrap();
    let registry = server.registry();
    let service = server.http().served();
    let session = Session::open(&service, NAMED);
    let mut own = session.get(None);
    own.text();
    registry.remove_tool("echo");
    assert!(own.text().contains("notifications/tools/list_changed"));
}

#[test]
fn bodies_are_single_messages() {
    each(|session| {
        session.check(PING, &[], 200, "result");
        session.check(CHANGED, &[], 202, "");
        session.check(PONG, &[], 202, "");
        let array = array(&[PING]);
        session.check(&array, &[("mcp-method", "ping")], 400, "-32600");
    });
}

#[test]
fn priming_and_polling() {
    each(|session| {
        let mut polled = session.post(&plain_call(1, "poll"));
        let text = polled.text();
        assert!(
            text.starts_with("id: ") && text.contains("\ndata:\n"),
            "{text}"
        );
        assert!(text.contains("retry: 500\n") && polled.has_ended());
        advance(Duration::from_secs(1));
        let mut rest = session.get(Some(&last_id(&text)));
        assert!(rest.text().contains("at last"));
    });
}

/// SH-40.
#[test]
fn proxies_are_asked_not_to_buffer() {
    each(|session| {
        let stream = session.post(&plain_call(1, "never"));
        for stream in [session.get(None), stream] {
            assert_eq!(stream.header("content-type"), "text/event-stream");
            assert_eq!(stream.header("x-accel-buffering"), "no");
        }
    });
}

/// It is the one of 2025-03-26 then, which a session overrules, and an unknown one is refused.
#[test]
fn versions_that_are_missing() {
    each(|session| {
        session.check(PING, &[("mcp-protocol-version", ABSENT)], 200, "result");
        session.check(PING, &[("mcp-protocol-version", "1.0")], 400, "");
    });
    let service = server().draft_profile().http().stateless().served();
    // An array is what no other revision has.
    let request = post(&array(&[PING])).with("mcp-method", "ping");
    assert_eq!(send(&service, request).status, 200);
}

/// Clients of two endpoints are told by statuses that fit, and theirs have no such headers.
#[test]
fn the_two_endpoints_beside_it() {
    each(|session| {
        let body = initialize("2024-11-05");
        let request = post(&body).to("/sse");
        assert_eq!(send(&session.0.service, request).status, 405);
        let mut client = SseClient::open(&session.0.service);
        let mut say = |text: &str| {
            assert_eq!(client.say(text), 202);
            client.stream.text()
        };
        has(&say(&body), [r#""protocolVersion":"2024-11-05""#]);
        say(INITIALIZED);
        has(&say(PING), ["result"]);
    });
}

/// The era after it is served as ever, whatever the draft demands beside it.
#[test]
fn modern_requests_beside_it() {
    each(|session| {
        let service = &session.0.service;
        let mut request = modern(&cancelled(1));
        request.headers_mut().remove("mcp-method");
        assert_eq!(send(service, request).status, 202);
        let request = modern(&cancelled(1)).with("mcp-method", "ping");
        send(service, request).says(400, ["-32020"]);
        send(service, modern(&plain_call(1, "echo"))).says(200, ["done"]);
    });
}
