//! The hook that verifies who sends a request, among the other checks.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use mcp_async::Server;
use mcp_async::http::{AccessError, Http, HttpService, Principal};
use mcp_async::server::Context;

use crate::scripted::{
    Reply, Session, call, initialize, modern, post, request, send, signed, wait,
};
use crate::sim::{Sim, advance, sleep};

fn http() -> Http {
    let server = Server::builder("demo", "1.0").tool(
        "who",
        "Says who asks",
        |(): (), cx: Context| async move {
            Ok(cx.principal().map_or("a guest", Principal::name).to_owned())
        },
    );
    server
        .http()
        .legacy_sse("/sse", "/messages")
        .authenticate(by_token)
}

/// `Bearer NAME` is a user of this name.
fn by_token(head: &Parts) -> impl Future<Output = Result<Option<Principal>, AccessError>> + use<> {
    let sent = head.headers.get(AUTHORIZATION).cloned();
    async move {
        let sent = sent.as_ref().map(HeaderValue::to_str).transpose()?;
        match sent.and_then(|sent| sent.strip_prefix("Bearer ")) {
            Some("guest") => Ok(None),
            Some("slow") => {
                sleep(Duration::from_secs(1)).await;
                Ok(Some(Principal::new("slow")))
            }
            Some("blocked") => Err(AccessError::forbidden()),
            Some("hasty") => Err(AccessError::new(
                StatusCode::TOO_MANY_REQUESTS,
                "too many attempts",
            )
            .header(RETRY_AFTER, HeaderValue::from_static("60"))),
            Some("broken") => Err("the database is down")?,
            Some(name) => Ok(Some(Principal::new(name))),
            None => {
                let challenge = HeaderValue::from_static(r#"Bearer realm="notes""#);
                Err(AccessError::unauthorized(challenge))
            }
        }
    }
}

fn service() -> HttpService {
    http().into_service(Sim).unwrap()
}

fn who(token: &str) -> Reply {
    let body = request(1, "tools/call", r#""name":"who","arguments":{}"#);
    send(&service(), signed(modern(&body), token))
}

#[test]
fn a_handler_knows_whom_the_hook_has_verified() {
    for (token, expected) in [("ada", "ada"), ("guest", "a guest")] {
        let reply = who(token);
        assert_eq!(reply.status, 200);
        let text = reply.whole();
        assert!(text.contains(expected), "{text}");
    }
}

/// What stands in front of the service does not decide who it is.
#[test]
fn the_hook_takes_the_place_of_middleware() {
    let body = request(1, "tools/call", r#""name":"who","arguments":{}"#);
    for (token, expected) in [("ada", "ada"), ("guest", "a guest")] {
        let mut request = signed(modern(&body), token);
        request.extensions_mut().insert(Principal::new("eve"));
        let text = send(&service(), request).whole();
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn refusals_have_their_status_and_headers() {
    let check = |token: &str, status: u16, header: (&str, &str), text: &str| {
        let reply = who(token);
        assert_eq!(reply.status, status, "{token}");
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.header(header.0), header.1, "{token}");
        let body = reply.whole();
        assert_eq!(body, text, "{token}");
    };
    check(
        "blocked",
        403,
        ("www-authenticate", ""),
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"the request is not permitted"}}"#,
    );
    check(
        "hasty",
        429,
        ("retry-after", "60"),
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"too many attempts"}}"#,
    );
    check(
        "broken",
        500,
        ("www-authenticate", ""),
        r#"{"jsonrpc":"2.0","error":{"code":-32603,"message":"the sender could not be verified"}}"#,
    );
    let body = request(1, "tools/list", "");
    let reply = send(&service(), modern(&body));
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("www-authenticate"), r#"Bearer realm="notes""#);
}

/// A page may read why its request is refused, and a browser asks without credentials.
#[test]
fn browsers_read_refusals_and_need_no_credentials_to_ask() {
    for path in ["/mcp", "/sse", "/messages"] {
        let from_page = |method: Method| {
            let mut request = modern("{}");
            *request.method_mut() = method;
            *request.uri_mut() = path.parse().unwrap();
            let origin = HeaderValue::from_static("http://localhost:5173");
            request.headers_mut().insert("origin", origin);
            send(&service(), request)
        };
        let preflight = from_page(Method::OPTIONS);
        assert_eq!(preflight.status, 204, "{path}");
        assert_eq!(
            preflight.header("access-control-allow-origin"),
            "http://localhost:5173"
        );
        let refused = from_page(Method::POST);
        assert_eq!(refused.status, 401, "{path}");
        assert_eq!(
            refused.header("access-control-allow-origin"),
            "http://localhost:5173"
        );
        let exposed = refused.header("access-control-expose-headers");
        assert!(exposed.contains("WWW-Authenticate"), "{exposed}");
        assert_ne!(refused.header("www-authenticate"), "");
    }
}

/// SH-51, SH-03. The hook is not asked about what is refused in any case.
#[test]
fn host_and_origin_are_checked_before() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let service = http()
        .authenticate(move |_: &Parts| {
            counted.fetch_add(1, Ordering::Relaxed);
            async { Err::<Principal, _>(AccessError::forbidden()) }
        })
        .into_service(Sim)
        .unwrap();
    let refused = |change: &dyn Fn(&mut Request<&str>), status: u16| {
        let mut request = modern("{}");
        change(&mut request);
        assert_eq!(send(&service, request).status, status);
    };
    let set = |name: &'static str, value: &'static str| {
        move |request: &mut Request<&str>| {
            let value = HeaderValue::from_static(value);
            request.headers_mut().insert(name, value);
        }
    };
    refused(&set("host", "attacker.example"), 403);
    refused(&set("origin", "https://attacker.example"), 403);
    refused(
        &|request| *request.uri_mut() = "/other".parse().unwrap(),
        404,
    );
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    // Of everything else a stranger learns nothing.
    refused(&|request| *request.method_mut() = Method::PUT, 403);
    refused(&set("content-type", "text/plain"), 403);
    refused(&set("mcp-session-id", "none"), 403);
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

/// SH-43, SH-58.
#[test]
fn a_session_belongs_to_whom_the_hook_has_verified() {
    let service = service();
    let body = initialize("2025-11-25");
    assert_eq!(send(&service, post(&body)).status, 401);
    let opened = send(&service, signed(post(&body), "ada"));
    assert_eq!(opened.status, 200);
    let session = Session {
        service: service.clone(),
        id: opened.header("mcp-session-id").to_owned(),
        revision: "2025-11-25",
        principal: None,
    };
    let body = call(1, "who");
    assert_eq!(session.send(post(&body)).status, 401);
    for stranger in ["eve", "guest"] {
        assert_eq!(session.send(signed(post(&body), stranger)).status, 404);
    }
    assert!(
        session
            .send(signed(post(&body), "ada"))
            .whole()
            .contains("ada")
    );
    assert_eq!(session.delete().status, 401);
}

#[test]
fn the_hook_may_wait() {
    let body = request(1, "tools/call", r#""name":"who","arguments":{}"#);
    let service = service();
    let mut waiting = wait(&service, signed(modern(&body), "slow"));
    advance(Duration::from_secs(1));
    let reply = waiting.reply().expect("the hook is done");
    assert!(reply.whole().contains("slow"));
}
