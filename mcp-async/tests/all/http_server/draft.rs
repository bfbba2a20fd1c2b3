//! The transports draft of spring 2026, as a server keeps it: sessions and mirrored headers at
//! once. One test for each thing that it says otherwise than its neighbours (DF-01 to DF-05).

use core::time::Duration;

use http::{HeaderMap, Method, Request};
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, ServerBuilder, Tool, ToolCall};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc;

use crate::scripted::{META, Reply, initialize, last_id, modern, post, request, send};
use crate::sim::{Sim, advance};

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
    crate::http_server::legacy::server()
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

/// A session that is held to the draft.
struct Session {
    service: HttpService,
    id: String,
    revision: &'static str,
}

impl Session {
    fn open(revision: &'static str) -> Self {
        let service = server()
            .draft_profile()
            .http()
            .legacy_sse("/sse", "/messages")
            .into_service(Sim)
            .unwrap();
        let mut session = Self {
            service,
            id: String::new(),
            revision,
        };
        let opened = session.post(&initialize(revision));
        assert_eq!(opened.status, 200);
        session.id = opened.header("mcp-session-id").to_owned();
        let agreed = format!(r#""protocolVersion":"{revision}""#);
        assert!(opened.whole().contains(&agreed));
        assert_eq!(session.post(INITIALIZED).status, 202);
        session
    }

    /// What the head of a message repeats is in it.
    fn post(&self, body: &str) -> Reply {
        self.changed(body, |_| ())
    }

    /// The same with another head.
    fn changed(&self, body: &str, change: impl FnOnce(&mut HeaderMap)) -> Reply {
        let mut request = post(body);
        let head = request.headers_mut();
        for (name, value) in modern(body).headers() {
            if name == "mcp-method" || name == "mcp-name" {
                head.insert(name, value.clone());
            }
        }
        self.identify(head);
        change(request.headers_mut());
        send(&self.service, request)
    }

    fn identify(&self, head: &mut HeaderMap) {
        if !self.id.is_empty() {
            head.insert("mcp-session-id", self.id.parse().unwrap());
            head.insert("mcp-protocol-version", self.revision.parse().unwrap());
        }
    }

    /// A request without a body.
    fn ask(&self, method: Method, last_event_id: &str) -> Reply {
        let mut request = Request::new("");
        *request.method_mut() = method;
        *request.uri_mut() = "/mcp".parse().unwrap();
        let head = request.headers_mut();
        head.insert("host", "localhost".parse().unwrap());
        head.insert("accept", "text/event-stream".parse().unwrap());
        if !last_event_id.is_empty() {
            head.insert("last-event-id", last_event_id.parse().unwrap());
        }
        self.identify(head);
        send(&self.service, request)
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
        let found = reply.status;
        let text = reply.whole();
        assert_eq!(found, status, "{body} {fields:?}: {text}");
        assert!(text.contains(part), "{part} in {text}");
    }
}

fn each(check: impl Fn(&Session)) {
    for revision in WAYS {
        check(&Session::open(revision));
    }
}

fn call(arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"route","arguments":{arguments}}}}}"#
    )
}

const ABSENT: &str = "\0";
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const PING: &str = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list"}"#;
const READ: &str =
    r#"{"jsonrpc":"2.0","id":4,"method":"resources/read","params":{"uri":"demo://a"}}"#;
const READ_NAME: &str = "=?base64?ZGVtbzovL2E=?=";
const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
const PONG: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

/// DF-01.
#[test]
fn off_by_default() {
    let service = crate::http_server::legacy::server()
        .http()
        .into_service(Sim)
        .unwrap();
    let offered = send(&service, post(&initialize(NAMED)));
    assert!(
        offered
            .whole()
            .contains(r#""protocolVersion":"2025-11-25""#)
    );
    // Nor is it what a server offers that has it.
    let service = server().draft_profile().http().into_service(Sim).unwrap();
    let body = initialize("2030-01-01");
    let mut request = post(&body);
    let method = "initialize".parse().unwrap();
    request.headers_mut().insert("mcp-method", method);
    let offered = send(&service, request);
    assert!(
        offered
            .whole()
            .contains(r#""protocolVersion":"2025-11-25""#)
    );
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
    let service = server().draft_profile().http().into_service(Sim).unwrap();
    let refused = send(&service, post(&initialize("2025-11-25")));
    assert_eq!(refused.status, 400);
    assert!(refused.whole().contains("-32001"));
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
        let body = request(1, "tools/list", "");
        let mut request = modern(&body);
        request.headers_mut().remove("mcp-method");
        let refused = send(&session.service, request);
        assert_eq!(refused.status, 400);
        assert!(refused.whole().contains(r#""code":-32020"#));
    });
    // And in plain sessions of the same shape nobody looks.
    let plain =
        crate::scripted::Session::open(&crate::http_server::legacy::service(), "2025-11-25");
    let mut request = post(PING);
    let wrong = "wrong".parse().unwrap();
    request.headers_mut().insert("mcp-method", wrong);
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
    let server = crate::http_server::legacy::server().build().unwrap();
    let registry = server.registry();
    let late = registry.add(tool("late", SCHEMA)).unwrap_err();
    assert!(late.to_string().starts_with("tool `late`: a property"));

    let published = server.http().into_service(Sim).unwrap();
    let session = crate::scripted::Session::open(&published, "2025-11-25");
    assert!(!session.post(LIST).whole().contains("route"));

    let server = self::server().draft_profile().build().unwrap();
    let drafted = server.http().into_service(Sim).unwrap();
    assert_eq!(server.registry().add(tool("late", SCHEMA)), Ok(()));
    for service in [published, drafted] {
        let list = send(&service, modern(&request(1, "tools/list", "")));
        let list = list.whole();
        assert!(list.contains("echo") && !list.contains("route") && !list.contains("late"));
        let called = request(1, "tools/call", r#""name":"route","arguments":{}"#);
        let refused = send(&service, modern(&called));
        assert!(refused.whole().contains("Unknown tool: route"));
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
    let error = error.mistakes()[0].to_string();
    assert!(error.contains("no chain of properties"), "{error}");
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
        let mut own = session.ask(Method::GET, "");
        assert_eq!(own.status, 200);
        let start = last_id(&own.text());
        let resumed = session.ask(Method::GET, &start);
        assert_eq!(resumed.status, 200);
        assert_eq!(session.ask(Method::GET, "nowhere-1").status, 400);
        assert_eq!(session.ask(Method::DELETE, "").status, 204);
        assert_eq!(session.post(PING).status, 404);
    });
}

#[test]
fn other_methods_are_refused_with_those_that_are_allowed() {
    each(|session| {
        let refused = session.ask(Method::PUT, "");
        assert_eq!(refused.status, 405);
        assert_eq!(refused.header("allow"), "GET, POST, DELETE");
    });
}

#[test]
fn what_a_request_is_asked_comes_on_its_stream() {
    each(|session| {
        let mut own = session.ask(Method::GET, "");
        own.text();
        let body = call("{}").replace("route", "ask");
        let mut asking = session.post(&body);
        let question = asking.text();
        assert!(question.contains(r#""method":"roots/list""#), "{question}");
        let (_, id) = question.split_once(r#""id":"#).unwrap();
        let id = &id[..id.find([',', '}']).unwrap()];
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#);
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
        let mut own = session.ask(Method::GET, "");
        own.text();
        let body = call("{}").replace("route", "aside");
        session.check(&body, &[], 200, "revision");
        assert_eq!(own.text(), "");
    });
    // A plain session of the same shape does ask there.
    let service = published().http().into_service(Sim).unwrap();
    let session = crate::scripted::Session::open(&service, "2025-11-25");
    let mut own = session.get(None);
    own.text();
    let _asking = session.post(&crate::scripted::call(1, "aside"));
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
    let service = server.http().into_service(Sim).unwrap();
    let mut session = Session {
        service,
        id: String::new(),
        revision: NAMED,
    };
    let opened = session.post(&initialize(NAMED));
    session.id = opened.header("mcp-session-id").to_owned();
    assert_eq!(session.post(INITIALIZED).status, 202);
    let mut own = session.ask(Method::GET, "");
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
        let array = format!("[{PING}]");
        session.check(&array, &[("mcp-method", "ping")], 400, "-32600");
    });
}

#[test]
fn priming_and_polling() {
    each(|session| {
        let mut polled = session.post(&call("{}").replace("route", "poll"));
        let text = polled.text();
        assert!(
            text.starts_with("id: ") && text.contains("\ndata:\n"),
            "{text}"
        );
        assert!(text.contains("retry: 500\n") && polled.has_ended());
        advance(Duration::from_secs(1));
        let mut rest = session.ask(Method::GET, &last_id(&text));
        assert!(rest.text().contains("at last"));
    });
}

/// SH-40.
#[test]
fn proxies_are_asked_not_to_buffer() {
    each(|session| {
        let stream = session.post(&call("{}").replace("route", "never"));
        for stream in [session.ask(Method::GET, ""), stream] {
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
    let service = server()
        .draft_profile()
        .http()
        .stateless()
        .into_service(Sim)
        .unwrap();
    let array = format!("[{PING}]");
    // An array is what no other revision has.
    let mut request = post(&array);
    let method = "ping".parse().unwrap();
    request.headers_mut().insert("mcp-method", method);
    assert_eq!(send(&service, request).status, 200);
}

/// Clients of two endpoints are told by statuses that fit, and theirs have no such headers.
#[test]
fn the_two_endpoints_beside_it() {
    each(|session| {
        let body = initialize("2024-11-05");
        let mut request = post(&body);
        *request.uri_mut() = "/sse".parse().unwrap();
        assert_eq!(send(&session.service, request).status, 405);
        let mut stream = {
            let request = Request::get("/sse")
                .header("host", "localhost")
                .header("accept", "text/event-stream");
            send(&session.service, request.body("").unwrap())
        };
        let text = stream.text();
        let (_, endpoint) = text.split_once("data: ").unwrap();
        let endpoint = format!("/{}", endpoint.trim());
        let mut say = |body: &str| {
            let mut request = post(body);
            *request.uri_mut() = endpoint.parse().unwrap();
            assert_eq!(send(&session.service, request).status, 202);
            stream.text()
        };
        assert!(say(&body).contains(r#""protocolVersion":"2024-11-05""#));
        say(INITIALIZED);
        assert!(say(PING).contains("result"));
    });
}

/// The era after it is served as ever, whatever the draft demands beside it.
#[test]
fn modern_requests_beside_it() {
    each(|session| {
        let told = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":1,{META}}}}}"#
        );
        let mut request = modern(&told);
        request.headers_mut().remove("mcp-method");
        assert_eq!(send(&session.service, request).status, 202);
        let mut request = modern(&told);
        let wrong = "ping".parse().unwrap();
        request.headers_mut().insert("mcp-method", wrong);
        let refused = send(&session.service, request);
        assert_eq!(refused.status, 400);
        assert!(refused.whole().contains("-32020"));
        let body = crate::scripted::request(1, "tools/call", r#""name":"echo","arguments":{}"#);
        assert!(
            send(&session.service, modern(&body))
                .whole()
                .contains("done")
        );
    });
}
