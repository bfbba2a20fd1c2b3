//! The hook that verifies who sends a request, among the other checks.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use http::header::{AUTHORIZATION, HeaderValue, RETRY_AFTER};
use http::request::Parts;
use http::{Method, Request, StatusCode};
use mcp_async::Server;
use mcp_async::http::{AccessError, Http, HttpService};
use mcp_async::server::{Context, Principal};

use crate::scripted::{
    HttpClient, Reply, RequestExt, Serve, call, initialize, modern, plain_call, post, send, wait,
};
use crate::sim::{advance, sleep};
use crate::texts::has;

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
    http().served()
}

fn who(token: &str) -> Reply {
    send(&service(), modern(&plain_call(1, "who")).signed(token))
}

#[test]
fn a_handler_knows_whom_the_hook_has_verified() {
    for (token, expected) in [("ada", "ada"), ("guest", "a guest")] {
        who(token).says(200, [expected]);
    }
}

/// What stands in front of the service does not decide who it is.
#[test]
fn the_hook_takes_the_place_of_middleware() {
    for (token, expected) in [("ada", "ada"), ("guest", "a guest")] {
        let request = modern(&plain_call(1, "who")).signed(token).by("eve");
        send(&service(), request).says(200, [expected]);
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
    let reply = send(&service(), modern("1 tools/list"));
    assert_eq!(reply.status, 401);
    assert_eq!(reply.header("www-authenticate"), r#"Bearer realm="notes""#);
}

/// A page may read why its request is refused, and a browser asks without credentials.
#[test]
fn browsers_read_refusals_and_need_no_credentials_to_ask() {
    for path in ["/mcp", "/sse", "/messages"] {
        let from_page = |method: Method| {
            let request = modern("{}").with_method(method).to(path);
            send(&service(), request.with("origin", "http://localhost:5173"))
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
        has(
            refused.header("access-control-expose-headers"),
            ["WWW-Authenticate"],
        );
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
        .served();
    let refused = |request: Request<String>, status: u16| {
        assert_eq!(send(&service, request).status, status);
    };
    let set = |name, value| modern("{}").with(name, value);
    refused(set("host", "attacker.example"), 403);
    refused(set("origin", "https://attacker.example"), 403);
    refused(modern("{}").to("/other"), 404);
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    // Of everything else a stranger learns nothing.
    refused(modern("{}").with_method(Method::PUT), 403);
    refused(set("content-type", "text/plain"), 403);
    refused(set("mcp-session-id", "none"), 403);
    assert_eq!(asked.load(Ordering::Relaxed), 3);
}

/// SH-43, SH-58.
#[test]
fn a_session_belongs_to_whom_the_hook_has_verified() {
    let service = service();
    let opening = initialize("2025-11-25");
    assert_eq!(send(&service, post(&opening)).status, 401);
    let ada = HttpClient::signed(&service, "2025-11-25", "ada");
    let session = ada.with_token("");
    assert_eq!(session.post(&call(1, "who")).status, 401);
    for stranger in ["eve", "guest"] {
        let stranger = ada.with_token(stranger);
        assert_eq!(stranger.post(&call(1, "who")).status, 404);
    }
    ada.post(&call(1, "who")).says(200, ["ada"]);
    assert_eq!(session.delete().status, 401);
}

#[test]
fn the_hook_may_wait() {
    let request = modern(&plain_call(1, "who")).signed("slow");
    let mut waiting = wait(&service(), request);
    advance(Duration::from_secs(1));
    let reply = waiting.reply().expect("the hook is done");
    reply.says(200, ["slow"]);
}
