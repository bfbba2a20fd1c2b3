//! Requests of 2026-07-28: one exchange each.

use core::future::pending;
use core::time::Duration;

use bytes::Bytes;
use http::HeaderMap;
use http_body_util::Full;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, HandlerError, Principal, RateLimit, RateLimits, ServerBuilder};
use mcp_async::{ErrorReply, Server};
use mcp_proto::rpc::code;
use tower_service::Service as _;

use crate::running::Running;
use crate::scripted::{
    RequestExt, Serve, array, call, cancelled, message, modern, modern_message, plain_call, send,
    wait,
};
use crate::server_typed::support::{never, says};
use crate::sim::{advance, sleep};
use crate::texts::has;

fn service() -> HttpService {
    server().http().served()
}

fn server() -> ServerBuilder {
    Server::builder("demo", "1.0")
        .logging()
        .tool("echo", "Says it at once", says("done"))
        .tool("slow", "Takes a second", |(): (), cx: Context| async move {
            cx.progress(1.0).await;
            sleep(Duration::from_secs(1)).await;
            Ok("at last")
        })
        .tool("who", "Says who asks", |(): (), cx: Context| async move {
            Ok(cx.principal().map_or("nobody", Principal::name).to_owned())
        })
        .tool("broken", "Panics", |(): (), _: Context| async {
            if true {
                panic!("as intended");
            }
            Ok("never")
        })
}

#[track_caller]
fn check(body: &str, status: u16, parts: &[&str]) {
    let reply = send(&service(), modern(body));
    assert_eq!(reply.status, status, "{body}");
    let length = reply.exact_len();
    let text = reply.whole();
    assert_eq!(
        length,
        Some(text.len() as u64),
        "hyper makes `Content-Length` of it"
    );
    for part in parts {
        has(&text, [part]);
    }
}

/// SH-09. DC-02.
#[test]
fn an_answer_that_is_there_at_once_is_json() {
    check(
        &plain_call(1, "echo"),
        200,
        &[r#""id":1"#, "done", r#""resultType":"complete""#],
    );
    check("2 tools/list", 200, &[r#""name":"echo""#, r#""ttlMs":"#]);
    check("3 server/discover", 200, &[r#""supportedVersions":"#]);
}

/// SH-36, SH-48, VR-03, TL-07.
#[test]
fn refusals_have_their_status() {
    check("1 nothing/known", 404, &["-32601", r#""id":1"#]);
    check("1 ping", 404, &["-32601"]);
    check("{", 400, &["-32700"]);
    check("7", 400, &["-32600"]);
    check("1 = {}", 400, &["-32600"]);
    check(&array(&[&plain_call(1, "echo")]), 400, &["-32600"]);
    check("[]", 400, &["-32600"]);
    check(&message("1 tools/list {}"), 400, &["-32602"]);
    check(&future("1 tools/list"), 400, &["-32020"]);
    // What a handler says comes after acceptance.
    check(
        &plain_call(1, "unknown"),
        200,
        &["-32602", "Unknown tool: unknown"],
    );
    check(&plain_call(1, "broken"), 200, &["-32603"]);
}

/// Returns a request of a revision that is not known.
fn future(text: &str) -> String {
    modern_message(text).replace("2026-07-28", "2099-01-01")
}

#[track_caller]
fn check_head(change: impl FnOnce(&mut HeaderMap), status: u16, part: &str) {
    let mut request = modern(&plain_call(1, "echo"));
    change(request.headers_mut());
    send(&service(), request).says(status, [part]);
}

/// SH-38, SH-39.
#[test]
fn heads_say_what_bodies_say() {
    let set = |name: &'static str, value: &str, status: u16, part: &str| {
        let value = value.parse().unwrap();
        check_head(|head| drop(head.insert(name, value)), status, part);
    };
    for name in ["mcp-method", "mcp-name", "mcp-protocol-version"] {
        check_head(|head| drop(head.remove(name)), 400, "-32020");
        let twice = |head: &mut HeaderMap| assert!(head.append(name, "echo".parse().unwrap()));
        check_head(twice, 400, "-32020");
        set(name, "wrong", 400, "-32020");
    }
    set("mcp-name", "=?base64?ZWNobw==?=", 200, "done");
    set("mcp-name", " echo ", 200, "done");
    set("mcp-method", "TOOLS/CALL", 400, "-32020");
    // Of no meaning in this revision (SH-41).
    set("mcp-session-id", "x", 200, "done");
    set("last-event-id", "x", 200, "done");
}

/// SH-35, VR-04.
#[test]
fn an_unsupported_version_is_answered_with_those_that_are() {
    let request = modern(&future(&plain_call(1, "echo")));
    let reply = send(
        &service(),
        request.with("mcp-protocol-version", "2099-01-01"),
    );
    reply.says(400, ["-32022", r#""2026-07-28""#]);
}

/// SH-09, SH-14, SH-16, SH-40, PG-10.
#[test]
fn what_takes_longer_is_told_as_events() {
    let mut reply = send(&service(), modern(&call(5, "slow")));
    reply.has_head(
        200,
        [
            ("content-type", "text/event-stream"),
            ("x-accel-buffering", "no"),
        ],
    );
    assert_eq!(reply.exact_len(), None);
    let first = reply.text();
    assert!(
        first.starts_with(r#"data: {"jsonrpc":"2.0","method":"notifications/progress""#),
        "{first}"
    );
    assert!(first.ends_with("}\n\n"));
    assert_eq!(reply.text(), "");
    advance(Duration::from_secs(1));
    let second = reply.text();
    assert!(
        second.starts_with(r#"data: {"jsonrpc":"2.0","id":5,"result":"#),
        "{second}"
    );
    assert!(reply.has_ended());
}

/// SH-42.
#[test]
fn silence_is_filled_with_comments() {
    let server = Server::builder("demo", "1.0").tool("never", "", never);
    let service = server.http().keep_alive(Duration::from_secs(3)).served();
    let mut waiting = wait(&service, modern(&plain_call(1, "never")));
    advance(Duration::from_millis(2999));
    assert!(waiting.reply().is_none());
    advance(Duration::from_millis(1));
    let mut reply = waiting.reply().expect("there is a stream");
    assert_eq!(reply.header("content-type"), "text/event-stream");
    for _ in 0..3 {
        assert_eq!(reply.text(), ":\n\n");
        assert_eq!(reply.text(), "");
        advance(Duration::from_secs(3));
    }
}

/// SH-46: an answer before which nothing was said has its own status, however late it is.
#[test]
fn late_answers() {
    let check = |code: i64, spoken: bool, status: u16, content_type: &str| {
        let server = server().tool("late", "", move |(): (), cx: Context| async move {
            sleep(Duration::from_secs(1)).await;
            if spoken {
                cx.progress(1.0).await;
            }
            let error = ErrorReply::new(code, "too late");
            Err::<String, _>(HandlerError::reply(error))
        });
        let service = server.http().served();
        let mut waiting = wait(&service, modern(&call(1, "late")));
        advance(Duration::from_secs(1));
        let reply = waiting.reply().expect("it is there");
        assert_eq!(reply.status, status, "{code}");
        assert_eq!(reply.header("content-type"), content_type);
        let text = reply.whole();
        assert!(text.contains(&format!(r#""code":{code}"#)), "{text}");
        assert_eq!(text.contains("notifications/progress"), spoken);
    };
    for code in [code::HEADER_MISMATCH, code::MISSING_CLIENT_CAPABILITY] {
        check(code, false, 400, "application/json");
        // The status has left before it was known.
        check(code, true, 200, "text/event-stream");
    }
    check(code::METHOD_NOT_FOUND, false, 404, "application/json");
    check(code::INTERNAL_ERROR, false, 200, "application/json");
    check(7, false, 200, "application/json");
}

/// SH-19, CN-10.
#[test]
fn whoever_hangs_up_has_cancelled() {
    let running = Running::default();
    let count = running.clone();
    let server = Server::builder("demo", "1.0").tool("never", "", move |(): (), _: Context| {
        let entered = count.enter();
        async move {
            pending::<()>().await;
            drop(entered);
            Ok::<_, HandlerError>("")
        }
    });
    let service = server.http().served();
    let waiting = wait(&service, modern(&plain_call(1, "never")));
    let mut other = wait(&service, modern(&plain_call(1, "never")));
    assert_eq!(running.get(), 2, "equal ids are different requests");
    drop(waiting);
    assert_eq!(running.get(), 1);
    // And once there is a stream.
    advance(Duration::from_secs(15));
    let other = other.reply().expect("there is a stream");
    assert_eq!(running.get(), 1);
    drop(other);
    assert_eq!(running.get(), 0);
}

#[test]
fn equal_ids_of_different_posts_are_all_answered() {
    let service = service();
    let mut replies: Vec<_> = (0..10)
        .map(|_| wait(&service, modern(&plain_call(1, "slow"))))
        .collect();
    advance(Duration::from_secs(1));
    for reply in &mut replies {
        let reply = reply.reply().expect("it is there");
        assert!(reply.whole().contains(r#""id":1,"result""#));
    }
}

/// SH-55.
#[test]
fn requests_under_way_are_bounded() {
    let service = server().http().max_exchanges(2).served();
    let first = wait(&service, modern(&plain_call(1, "slow")));
    let _second = wait(&service, modern(&plain_call(2, "slow")));
    let refused = send(&service, modern(&plain_call(3, "slow")));
    assert_eq!(refused.status, 503);
    assert_ne!(refused.header("retry-after"), "");
    drop(first);
    let _third = wait(&service, modern(&plain_call(3, "slow")));
}

/// SH-07.
#[test]
fn notifications_are_accepted_without_a_word() {
    let reply = send(&service(), modern(&cancelled(1)));
    assert_eq!(reply.status, 202);
    assert_eq!(reply.whole(), "");
}

#[test]
fn exchanges_share_the_limits_of_who_makes_them() {
    let limits = RateLimits {
        calls: Some(RateLimit::new(2, Duration::from_secs(60))),
        ..RateLimits::default()
    };
    let service = server().rate_limits(limits).http().served();
    let body = plain_call(1, "who");
    let asked = |name: Option<&str>| {
        let request = match name {
            Some(name) => modern(&body).by(name),
            None => modern(&body),
        };
        send(&service, request).whole().contains("limit reached")
    };
    for name in [None, Some("ada"), Some("bob")] {
        assert!(!asked(name) && !asked(name) && asked(name), "{name:?}");
    }
    advance(Duration::from_secs(60));
    assert!(!asked(None));
}

#[test]
fn a_handler_knows_who_asks() {
    let service = service();
    let request = modern(&plain_call(1, "who"));
    send(&service, request.clone().by("ada")).says(200, ["ada"]);
    send(&service, request).says(200, ["nobody"]);
}

#[test]
fn the_end_lets_what_runs_finish() {
    let service = server()
        .http()
        .shutdown_timeout(Duration::from_secs(5))
        .served();
    let mut waiting = wait(&service, modern(&plain_call(1, "slow")));
    service.shutdown();
    let refused = send(&service, modern(&plain_call(2, "echo")));
    assert_eq!(refused.status, 503);
    assert_ne!(refused.header("retry-after"), "");
    advance(Duration::from_secs(1));
    let reply = waiting.reply().expect("it is there");
    assert!(reply.whole().contains("at last"));
}

#[test]
fn the_end_comes_after_the_grace() {
    let server = Server::builder("demo", "1.0").tool("never", "", never);
    let end = sleep(Duration::from_secs(10));
    let service = server
        .http()
        .shutdown_timeout(Duration::from_secs(2))
        .with_graceful_shutdown(end)
        .served();
    let mut waiting = wait(&service, modern(&plain_call(1, "never")));
    advance(Duration::from_secs(10));
    assert!(waiting.reply().is_none());
    advance(Duration::from_secs(2));
    let refused = waiting.reply().expect("it was given up");
    assert_ne!(refused.header("retry-after"), "");
    refused.says(503, ["may have run"]);
}

/// SB-08.
#[test]
fn a_listen_hears_of_changes_and_of_the_end() {
    let server = server().change_notifications().build().unwrap();
    let registry = server.registry();
    let service = server.http().served();
    let body = r#"9 subscriptions/listen {"notifications":{"toolsListChanged":true}}"#;
    let mut reply = send(&service, modern(body));
    assert_eq!(reply.status, 200);
    has(&reply.text(), ["notifications/subscriptions/acknowledged"]);
    registry.remove_tool("echo");
    has(&reply.text(), ["notifications/tools/list_changed", ":9"]);
    service.shutdown();
    has(&reply.text(), [r#""id":9,"result""#]);
    assert!(reply.has_ended());
}

/// It is allocated and moved for each request: what few requests need is in boxes of its own.
#[test]
fn the_future_of_a_request_is_small() {
    let request = modern(&plain_call(1, "echo")).map(|body| Full::new(Bytes::from(body)));
    let future = service().call(request);
    let size = size_of_val(&*future);
    assert!(size <= 2 << 10, "{size} bytes");
}
