//! Sessions of the legacy revisions: what belongs to them, and what outlives an exchange.

use core::future::pending;
use core::time::Duration;

use http::{Method, Request};
use mcp_async::Server;
use mcp_async::http::{HttpService, Principal};
use mcp_async::server::{Context, HandlerError, NoArguments};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc;

use crate::sim::Sim;
use crate::support::{Reply, advance, send, sleep};

pub(crate) fn server() -> Server<Sim> {
    Server::<Sim>::new("demo", "1.0")
        .logging()
        .tool(
            "echo",
            "Says it at once",
            |_: NoArguments, _: Context| async { Ok("done") },
        )
        .tool(
            "slow",
            "Takes a second",
            |_: NoArguments, cx: Context| async move {
                cx.progress(1.0).await;
                sleep(Duration::from_secs(1)).await;
                cx.progress(2.0).await;
                Ok("at last")
            },
        )
        .tool(
            "poll",
            "Lets the client poll",
            |_: NoArguments, cx: Context| async move {
                cx.close_stream(Duration::from_millis(500)).await;
                sleep(Duration::from_secs(1)).await;
                Ok("at last")
            },
        )
        .tool(
            "ask",
            "Asks for the roots",
            |_: NoArguments, cx: Context| async move {
                let nothing = RawBuf::parse("{}").unwrap();
                let answer = cx.ask::<RawBuf>(rpc::Method::RootsList, &nothing).await;
                match answer {
                    Ok(roots) => Ok(roots.as_raw().as_str().to_owned()),
                    Err(error) => Err(HandlerError::told(error.to_string())),
                }
            },
        )
        .tool("never", "Has no end", |_: NoArguments, _: Context| async {
            pending::<()>().await;
            Ok("")
        })
}

fn service() -> HttpService<Sim> {
    server().http().into_service()
}

/// A client's session.
pub(crate) struct Session {
    pub(crate) service: HttpService<Sim>,
    pub(crate) id: String,
    pub(crate) revision: &'static str,
    pub(crate) principal: Option<Principal>,
}

fn post(body: &str) -> Request<&str> {
    Request::post("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .body(body)
        .unwrap()
}

fn initialize(revision: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{revision}","capabilities":{{"roots":{{}}}},"clientInfo":{{"name":"test","version":"1"}}}}}}"#
    )
}

pub(crate) fn call(id: u32, tool: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{}},"_meta":{{"progressToken":{id}}}}}}}"#
    )
}

impl Session {
    pub(crate) fn open(service: &HttpService<Sim>, revision: &'static str) -> Self {
        Self::open_as(service, revision, None)
    }

    pub(crate) fn open_as(
        service: &HttpService<Sim>,
        revision: &'static str,
        principal: Option<Principal>,
    ) -> Self {
        let body = initialize(revision);
        let mut request = post(&body);
        if let Some(principal) = &principal {
            request.extensions_mut().insert(principal.clone());
        }
        let reply = send(service, request);
        assert_eq!(reply.status, 200);
        let id = reply.header("mcp-session-id").to_owned();
        assert_eq!(id.len(), 32);
        let session = Self {
            service: service.clone(),
            id,
            revision,
            principal,
        };
        let text = reply.whole();
        assert!(
            text.contains(&format!(r#""protocolVersion":"{revision}""#)),
            "{text}"
        );
        let ready = session.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        assert_eq!(ready.status, 202);
        assert_eq!(ready.whole(), "");
        session
    }

    fn send(&self, mut request: Request<&str>) -> Reply {
        let headers = request.headers_mut();
        headers.insert("mcp-session-id", self.id.parse().unwrap());
        if self.revision != "2025-03-26" {
            headers.insert("mcp-protocol-version", self.revision.parse().unwrap());
        }
        if let Some(principal) = &self.principal {
            request.extensions_mut().insert(principal.clone());
        }
        send(&self.service, request)
    }

    pub(crate) fn post(&self, body: &str) -> Reply {
        self.send(post(body))
    }

    pub(crate) fn get(&self, last_event_id: Option<&str>) -> Reply {
        let mut request = Request::get("/mcp")
            .header("host", "localhost:8000")
            .header("accept", "text/event-stream");
        if let Some(id) = last_event_id {
            request = request.header("last-event-id", id);
        }
        self.send(request.body("").unwrap())
    }

    pub(crate) fn delete(&self) -> Reply {
        let request = Request::delete("/mcp").header("host", "localhost:8000");
        self.send(request.body("").unwrap())
    }
}

/// The id of the last event in a text.
pub(crate) fn last_id(text: &str) -> String {
    let (_, rest) = text.rsplit_once("id: ").expect("an event with an id");
    rest.lines().next().unwrap().to_owned()
}

#[test]
fn a_session_answers_at_once_what_it_can() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = Session::open(&service(), revision);
        let reply = session.post(&call(1, "echo"));
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), "application/json");
        assert!(reply.whole().contains(r#""id":1,"result""#));
        let reply = session.post(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        assert_eq!(reply.whole(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        let reply = session.post(r#"{"jsonrpc":"2.0","id":3,"method":"nothing/known"}"#);
        assert_eq!(reply.status, 200);
        assert!(reply.whole().contains("-32601"));
    }
}

#[test]
fn ids_of_sessions_differ() {
    let service = service();
    let one = Session::open(&service, "2025-11-25");
    let two = Session::open(&service, "2025-11-25");
    assert_ne!(one.id, two.id);
}

#[test]
fn a_session_is_named_and_ended() {
    let service = service();
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let missing = send(&service, post(ping));
    assert_eq!(missing.status, 400);
    assert!(missing.whole().contains("Mcp-Session-Id is missing"));
    let session = Session::open(&service, "2025-11-25");
    let nobody = Session {
        id: "unknown".into(),
        service: service.clone(),
        revision: "2025-11-25",
        principal: None,
    };
    assert_eq!(nobody.post(ping).status, 404);
    assert_eq!(nobody.get(None).status, 404);
    assert_eq!(nobody.delete().status, 404);
    let without = Request::delete("/mcp")
        .header("host", "localhost")
        .body("")
        .unwrap();
    assert_eq!(send(&service, without).status, 400);

    let mut stream = session.get(None);
    assert_eq!(stream.status, 200);
    let mut running = session.post(&call(3, "never"));
    assert!(!stream.has_ended() && !running.has_ended());
    assert_eq!(session.delete().status, 204);
    assert!(stream.has_ended() && running.has_ended());
    assert_eq!(session.post(ping).status, 404);
    assert_eq!(session.delete().status, 404);
}

#[test]
fn versions_of_sessions() {
    let session = Session::open(&service(), "2025-11-25");
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    for (version, status) in [("2025-06-18", 200), ("2099-01-01", 400), ("x", 400)] {
        let other = Session {
            id: session.id.clone(),
            service: session.service.clone(),
            revision: version,
            principal: None,
        };
        assert_eq!(other.post(ping).status, status, "{version}");
    }
}

#[test]
fn bad_bodies() {
    let session = Session::open(&service(), "2025-11-25");
    for (body, status, code) in [
        ("{", 400, "-32700"),
        ("7", 400, "-32600"),
        (
            r#"[{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            400,
            "-32600",
        ),
        (r#"{"jsonrpc":"2.0","id":2}"#, 400, "-32600"),
    ] {
        let reply = session.post(body);
        assert_eq!(reply.status, status, "{body}");
        let text = reply.whole();
        assert!(text.contains(code), "{text}");
    }
    // An answer to nothing is accepted (SH-47).
    assert_eq!(
        session
            .post(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#)
            .status,
        202
    );
}

#[test]
fn streams_of_posts_begin_with_an_id_where_that_is_known() {
    let session = Session::open(&service(), "2025-11-25");
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

    let session = Session::open(&service(), "2025-06-18");
    assert_eq!(session.post(&call(2, "never")).text(), "");
}

#[test]
fn a_handler_outlives_its_post() {
    let session = Session::open(&service(), "2025-11-25");
    let mut reply = session.post(&call(1, "slow"));
    let id = last_id(&reply.text());
    drop(reply);
    advance(Duration::from_secs(1));
    let mut again = session.get(Some(&id));
    assert_eq!(again.status, 200);
    let text = again.text();
    assert!(
        text.contains(r#""progress":2"#) && text.contains("at last"),
        "{text}"
    );
    assert!(again.has_ended());
    // Nothing is lost by coming twice, and nothing of another stream is seen.
    let text = session.get(Some(&id)).text();
    assert!(
        text.contains(r#""progress":2"#) && text.contains("at last"),
        "{text}"
    );
    for unknown in ["99-1", "x", &format!("{id}9")] {
        assert_eq!(session.get(Some(unknown)).status, 400, "{unknown}");
    }
}

#[test]
fn a_client_may_be_told_to_poll() {
    let session = Session::open(&service(), "2025-11-25");
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
    let session = Session::open(&service(), "2025-06-18");
    let mut reply = session.post(&call(1, "poll"));
    assert!(!reply.has_ended());
    advance(Duration::from_secs(1));
    assert!(reply.text().contains("at last"));
}

#[test]
fn a_question_goes_with_the_call_that_it_is_asked_for() {
    let session = Session::open(&service(), "2025-11-25");
    let mut other = session.get(None);
    let mut reply = session.post(&call(7, "ask"));
    let text = reply.text();
    assert!(text.contains(r#""method":"roots/list""#), "{text}");
    assert!(!other.text().contains("roots/list"));
    let (_, rest) = text.split_once(r#""id":"#).unwrap();
    let id = &rest[..rest.find([',', '}']).unwrap()];
    let answer = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#);
    assert_eq!(session.post(&answer).status, 202);
    let text = reply.text();
    assert!(
        text.contains(r#""id":7,"result""#) && text.contains("roots"),
        "{text}"
    );
    assert!(reply.has_ended());
}

#[test]
fn questions_without_a_call_are_asked_again() {
    let server = server();
    let registry = server.registry();
    let session = Session::open(&server.http().into_service(), "2025-11-25");
    let peer = registry.peers().pop().unwrap();
    <Sim as mcp_async::Runtime>::spawn(Box::pin(async move {
        let nothing = RawBuf::parse("{}").unwrap();
        let _ = peer.ask::<RawBuf>(rpc::Method::RootsList, &nothing).await;
    }));
    let mut stream = session.get(None);
    assert!(stream.text().contains("roots/list"));
    drop(stream);
    let mut stream = session.get(None);
    let text = stream.text();
    assert!(text.contains("roots/list"), "{text}");
    let (_, rest) = text.split_once(r#""id":"#).unwrap();
    let id = &rest[..rest.find([',', '}']).unwrap()];
    session.post(&format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"roots":[]}}}}"#
    ));
    drop(stream);
    assert!(!session.get(None).text().contains("roots/list"));
}

#[test]
fn the_sessions_own_stream_tells_of_changes() {
    let server = server();
    let registry = server.registry();
    let service = server.http().into_service();
    let session = Session::open(&service, "2025-11-25");
    let other = Session::open(&service, "2025-11-25");
    let mut first = session.get(None);
    first.text();
    let mut second = session.get(None);
    assert!(first.has_ended(), "the later reader wins");
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
fn an_id_in_flight_is_refused_and_the_first_is_answered() {
    let session = Session::open(&service(), "2025-11-25");
    let mut first = session.post(&call(1, "slow"));
    let second = session.post(&call(1, "echo"));
    assert!(second.whole().contains("-32600"));
    advance(Duration::from_secs(1));
    assert!(first.text().contains("at last"));
    // Another session has ids of its own.
    let service = service();
    let (one, two) = (
        Session::open(&service, "2025-11-25"),
        Session::open(&service, "2025-11-25"),
    );
    let mut first = one.post(&call(1, "slow"));
    assert!(two.post(&call(1, "echo")).whole().contains("done"));
    advance(Duration::from_secs(1));
    assert!(first.text().contains("at last"));
}

#[test]
fn a_cancelled_call_ends_its_stream() {
    let session = Session::open(&service(), "2025-11-25");
    let mut reply = session.post(&call(1, "never"));
    assert!(!reply.has_ended());
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(session.post(cancel).status, 202);
    assert!(reply.has_ended());
}

#[test]
fn arrays_of_2025_03_26() {
    let session = Session::open(&service(), "2025-03-26");
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let reply = session.post(&format!("[{ping},{}]", call(3, "echo")));
    assert_eq!(reply.status, 200);
    let text = reply.whole();
    assert!(text.starts_with('[') && text.ends_with(']'), "{text}");
    assert!(
        text.contains(r#""id":2"#) && text.contains(r#""id":3"#),
        "{text}"
    );
    let told = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    assert_eq!(session.post(&format!("[{told},{told}]")).status, 202);
    let mut reply = session.post(&format!("[{ping},{}]", call(4, "slow")));
    assert!(reply.text().contains("notifications/progress"));
    advance(Duration::from_secs(1));
    let text = reply.text();
    assert!(
        text.contains(r#"data: [{"jsonrpc""#) && text.contains("at last"),
        "{text}"
    );
    assert!(reply.has_ended());
}

#[test]
fn sessions_are_bounded() {
    let service = server().http().max_sessions(2).into_service();
    let one = Session::open(&service, "2025-11-25");
    let _two = Session::open(&service, "2025-11-25");
    let body = initialize("2025-11-25");
    let refused = send(&service, post(&body));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(one.delete().status, 204);
    crate::sim::settle();
    Session::open(&service, "2025-11-25");
}

#[test]
fn sessions_leave_nothing_behind() {
    let idle = Duration::from_secs(60);
    let service = server().http().idle_timeout(idle).into_service();
    let round = |count: u32| {
        for _ in 0..count {
            let session = Session::open(&service, "2025-11-25");
            let mut stream = session.get(None);
            stream.text();
            drop(session.post(&call(1, "slow")));
            drop(stream);
            drop(session.post(&call(2, "echo")));
        }
        for _ in 0..count {
            let session = Session::open(&service, "2025-11-25");
            let mut running = session.post(&call(1, "never"));
            running.text();
            assert_eq!(session.delete().status, 204);
            assert!(running.has_ended());
        }
        advance(Duration::from_secs(1));
        advance(idle);
    };
    round(20);
    let used = allocation_counter::measure(|| round(100));
    // What the clock of the tests keeps of a timer, and room in tables. A session is thousands.
    assert!(
        used.bytes_current < 200 * 300,
        "{} bytes",
        used.bytes_current
    );
}

#[test]
fn streams_are_bounded() {
    let service = server().http().max_streams(2).into_service();
    let session = Session::open(&service, "2025-11-25");
    let _one = session.post(&call(1, "never"));
    let _two = session.post(&call(2, "never"));
    let refused = session.post(&call(3, "echo"));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), "5");
}

#[test]
fn idle_sessions_end() {
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let service = server()
        .http()
        .idle_timeout(Duration::from_secs(60))
        .into_service();
    let session = Session::open(&service, "2025-11-25");
    advance(Duration::from_secs(40));
    assert_eq!(session.post(ping).status, 200);
    advance(Duration::from_secs(40));
    assert_eq!(session.post(ping).status, 200);
    // An open stream and a running request are use.
    let mut stream = session.get(None);
    advance(Duration::from_secs(100));
    assert_eq!(session.post(ping).status, 200);
    stream.text();
    drop(stream);
    let running = session.post(&call(5, "never"));
    drop(running);
    advance(Duration::from_secs(100));
    assert_eq!(session.post(ping).status, 200);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    assert_eq!(session.post(cancel).status, 202);
    advance(Duration::from_secs(61));
    assert_eq!(session.post(ping).status, 404);
}

#[test]
fn a_session_is_its_openers() {
    let service = service();
    let ada = Session::open_as(&service, "2025-11-25", Some(Principal::new("ada")));
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(ada.post(ping).status, 200);
    for principal in [None, Some(Principal::new("bob"))] {
        let thief = Session {
            service: service.clone(),
            id: ada.id.clone(),
            revision: "2025-11-25",
            principal,
        };
        assert_eq!(thief.post(ping).status, 404);
        assert_eq!(thief.get(None).status, 404);
        assert_eq!(thief.delete().status, 404);
    }
    assert_eq!(ada.post(ping).status, 200);
}

#[test]
fn the_end_of_the_service_lets_sessions_finish() {
    let service = server().http().grace(Duration::from_secs(5)).into_service();
    let session = Session::open(&service, "2025-11-25");
    let mut stream = session.get(None);
    let mut running = session.post(&call(1, "slow"));
    let mut never = session.post(&call(2, "never"));
    service.shutdown();
    assert_eq!(session.post(&call(3, "echo")).status, 503);
    advance(Duration::from_secs(1));
    assert!(running.text().contains("at last"));
    assert!(running.has_ended());
    assert!(!never.has_ended());
    advance(Duration::from_secs(5));
    assert!(never.has_ended() && stream.has_ended());
}

#[test]
fn servers_without_sessions() {
    let service = server().http().stateless().into_service();
    let body = initialize("2025-06-18");
    let reply = send(&service, post(&body));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("mcp-session-id"), "");
    let body = call(1, "echo");
    let mut request = post(&body);
    let version = "2025-06-18".parse().unwrap();
    request
        .headers_mut()
        .insert("mcp-protocol-version", version);
    let reply = send(&service, request);
    assert_eq!(reply.status, 200);
    assert!(reply.whole().contains("done"));
}

#[test]
fn the_draft_profile_wants_headers() {
    let service = server().http().draft_profile().into_service();
    let body = initialize("2025-11-25");
    let opened = |method: Option<&str>| {
        let mut request = post(&body);
        if let Some(method) = method {
            request
                .headers_mut()
                .insert("mcp-method", method.parse().unwrap());
        }
        send(&service, request)
    };
    let session = Session {
        id: opened(Some("initialize"))
            .header("mcp-session-id")
            .to_owned(),
        service: service.clone(),
        revision: "2025-11-25",
        principal: None,
    };
    let body = call(1, "echo");
    let reply = session.post(&body);
    assert_eq!(reply.status, 400);
    assert!(reply.whole().contains("-32001"));
    let mut request = post(&body);
    request
        .headers_mut()
        .insert("mcp-method", "tools/call".parse().unwrap());
    request
        .headers_mut()
        .insert("mcp-name", "echo".parse().unwrap());
    let reply = session.send(request);
    assert_eq!(reply.status, 200);
    assert!(reply.whole().contains("done"));
    // Elsewhere nobody looks at them.
    let session = Session::open(&self::service(), "2025-11-25");
    let mut request = post(&body);
    request
        .headers_mut()
        .insert("mcp-method", "wrong".parse().unwrap());
    assert_eq!(session.send(request).status, 200);
}

#[test]
fn the_other_era_is_served_beside() {
    let service = service();
    let session = Session::open(&service, "2025-11-25");
    let body = crate::support::request(1, "tools/list", "");
    let mut request = crate::support::modern(&body);
    // Ignored there (SH-41).
    request
        .headers_mut()
        .insert("mcp-session-id", session.id.parse().unwrap());
    let reply = send(&service, request);
    assert_eq!(reply.status, 200);
    assert!(reply.whole().contains(r#""resultType":"complete""#));
    let mut put = post("");
    *put.method_mut() = Method::PUT;
    let refused = send(&service, put);
    assert_eq!(refused.header("allow"), "GET, POST, DELETE");
}
