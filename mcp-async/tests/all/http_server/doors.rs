//! What is refused before it reaches the protocol, and what browsers are told.

use core::convert::Infallible;
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body::{Body, Frame, SizeHint};
use mcp_async::Server;
use mcp_async::http::{AccessError, Http, HttpService};
use mcp_async::server::{Principal, ServerBuilder};

use crate::scripted::{HttpClient, RequestExt, Serve, modern, send, send_body};
use crate::sim::{Sim, advance, now};
use crate::texts::{has, rows};
use tower_service::Service;

fn server() -> ServerBuilder {
    Server::builder("demo", "1.0")
}

#[test]
fn a_program_that_serves_has_the_status() {
    let given = Arc::new(OnceLock::new());
    let made = Arc::clone(&given);
    let http = server().http().with_service(move |service| {
        assert!(made.set(service.clone()).is_ok());
    });
    let service = http.served();
    let sessions = || given.get().map(|given| given.status().sessions);
    assert_eq!(sessions(), Some(0));
    let _session = HttpClient::open(&service, "2025-11-25");
    assert_eq!(sessions(), Some(1));
}

fn discover() -> Request<String> {
    modern("1 server/discover")
}

fn answered(http: Http, request: Request<String>, status: u16, part: &str) -> HeaderMap {
    let reply = send(&http.served(), request);
    let headers = reply.headers.clone();
    reply.says(status, [part]);
    headers
}

/// The answer of an endpoint with the default settings.
fn answer(request: Request<String>, status: u16, part: &str) -> HeaderMap {
    answered(server().http(), request, status, part)
}

/// Checks each row: a field, its value, and what a request with it is answered with.
fn check_fields(configure: impl Fn(Http) -> Http, table: &str) {
    for [name, value, status, part] in rows(table) {
        let request = discover().with(name, value);
        let http = configure(server().http());
        answered(http, request, status.parse().unwrap(), part);
    }
}

/// SH-51.
#[test]
fn hosts() {
    let without = || {
        let mut request = discover();
        request.headers_mut().remove("host");
        request
    };
    check_fields(
        |http| http,
        "
        host | 127.0.0.1:1           | 200 |
        host | [::1]:1               | 200 |
        host | mcp.example.com       | 403 | allow_hosts
        ",
    );
    answer(without(), 400, "must occur once");
    for any in [false, true] {
        let open = |http: Http| if any { http.allow_any_host() } else { http };
        let mut two = discover();
        let second = HeaderValue::from_static("localhost");
        two.headers_mut().append("host", second);
        answered(open(server().http()), two, 400, "must occur once");
        check_fields(open, "host | localhost:eighty | 400 | optional port");
        check_fields(open, "host | localhost:65536 | 400 | optional port");
    }
    check_fields(Http::allow_any_host, "host | mcp.example.com | 200 |");
    check_fields(
        |http| http.allow_hosts(["mcp.example.com"]),
        "
        host | mcp.example.com:443   | 200 |
        host | localhost             | 200 |
        host | other.example.com     | 403 | allow_hosts
        ",
    );
}

/// SH-03, SH-04.
#[test]
fn origins() {
    let page = "http://localhost:5173";
    let headers = answer(discover().with("origin", page), 200, "");
    assert_eq!(headers["access-control-allow-origin"], page);
    let exposed = "Mcp-Session-Id, WWW-Authenticate";
    assert_eq!(headers["access-control-expose-headers"], exposed);
    assert_eq!(headers["vary"], "Origin");
    let foreign = discover().with("origin", "https://evil.example");
    let headers = answer(foreign, 403, "allow_origins");
    assert!(!headers.contains_key("access-control-allow-origin"));
    assert!(!headers.contains_key("access-control-expose-headers"));
    check_fields(
        |http| http.allow_origins(["https://app.example.com"]),
        "
        origin | https://app.example.com | 200 |
        origin | null                    | 403 | allow_origins
        ",
    );
}

/// SH-52.
#[test]
fn preflights() {
    let asked = "content-type, mcp-param-region, mcp-method";
    let ask = |origin| {
        let request = discover().with_method(Method::OPTIONS);
        let request = request.with("origin", origin);
        let request = request.with("access-control-request-method", "POST");
        request.with("access-control-request-headers", asked)
    };
    let headers = answer(ask("http://localhost"), 204, "");
    assert_eq!(headers["access-control-allow-origin"], "http://localhost");
    let methods = headers["access-control-allow-methods"].to_str();
    has(methods.unwrap(), ["POST"]);
    assert_eq!(headers["access-control-allow-headers"], asked);
    let headers = answer(ask("https://evil.example"), 403, "");
    assert!(
        headers
            .keys()
            .all(|name| !name.as_str().starts_with("access-control"))
    );
    let plain = discover().with_method(Method::OPTIONS);
    let headers = answer(plain, 405, "method not allowed");
    assert!(headers["allow"].to_str().unwrap().contains("POST"));
}

/// SH-45, SH-50, SH-54.
#[test]
fn paths_methods_and_types() {
    answer(discover().to("/"), 404, "");
    answered(server().http().path("/"), discover().to("/"), 200, "");
    answered(server().http().any_path(), discover().to("/x"), 200, "");
    let headers = answer(discover().with_method(Method::PUT), 405, "");
    assert!(headers["allow"].to_str().unwrap().contains("POST"));
    check_fields(
        |http| http,
        "
        content-type | text/plain                      | 415 | Content-Type
        content-type | application/json; charset=utf-8 | 200 |
        accept       | application/json                | 406 | Accept
        accept       | */*                             | 200 |
        ",
    );
    let mut request = discover();
    request.headers_mut().remove("accept");
    answer(request, 200, "");
}

/// A body that comes in these pieces, and then breaks off or never ends.
pub(super) struct Pieces(VecDeque<Bytes>, bool);

impl Pieces {
    pub(super) fn new(pieces: &[&[u8]], breaks: bool) -> Self {
        let pieces = pieces.iter().map(|piece| Bytes::copy_from_slice(piece));
        Self(pieces.collect(), breaks)
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if let Some(piece) = self.0.pop_front() {
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if self.1 {
            return Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into())));
        }
        Poll::Pending
    }
}

/// A body in pieces of a mebibyte, and how many of them were taken.
struct Mebibytes {
    left: usize,
    taken: Arc<AtomicUsize>,
}

impl Body for Mebibytes {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        self.taken.fetch_add(1, Ordering::Relaxed);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b'['; 1 << 20])))))
    }
}

/// The answer comes when the client has written everything, unless that is too much.
#[test]
fn the_rest_of_a_body_that_is_too_long_is_discarded() {
    let service: HttpService = server().http().max_body_bytes(3 << 20).served();
    let status_and_taken = |left| {
        let taken = Arc::<AtomicUsize>::default();
        let request = request_of(Mebibytes {
            left,
            taken: Arc::clone(&taken),
        });
        let status = send_body(&service, request).status.as_u16();
        (status, taken.load(Ordering::Relaxed))
    };
    assert_eq!(status_and_taken(4), (413, 4));
    assert_eq!(status_and_taken(19), (413, 19));
    assert_eq!(status_and_taken(1_000), (413, 20));
}

/// Its client may write the body after the head, and would see a reset instead of an answer that closes the connection.
#[test]
fn the_body_of_a_request_that_its_head_refuses_is_discarded() {
    let open: HttpService = server().http().served();
    let closed: HttpService = server()
        .http()
        .authenticate(|_: &Parts| async {
            let challenge = HeaderValue::from_static("Bearer");
            Err::<Option<Principal>, _>(AccessError::unauthorized(challenge))
        })
        .served();
    for (service, accept, status) in [(&open, "text/html", 406), (&closed, "*/*", 401)] {
        let taken = Arc::<AtomicUsize>::default();
        let mut request = request_of(Mebibytes {
            left: 4,
            taken: Arc::clone(&taken),
        });
        let accept = HeaderValue::from_static(accept);
        request.headers_mut().insert("accept", accept);
        assert_eq!(send_body(service, request).status, status);
        assert_eq!(taken.load(Ordering::Relaxed), 4, "{status}");
    }
}

/// A client that says how much is coming may be told before it comes.
#[test]
fn a_body_that_is_announced_as_too_long_is_refused_by_its_head() {
    struct Announced(u64);

    impl Body for Announced {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            panic!("nothing of it is to be read")
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.0)
        }
    }

    let service: HttpService = server().http().max_body_bytes(10).served();
    let huge = request_of(Announced(1 << 30));
    assert_eq!(send_body(&service, huge).status, 413);
    let mut waits = request_of(Announced(11));
    let expect = HeaderValue::from_static("100-continue");
    waits.headers_mut().insert("expect", expect);
    assert_eq!(send_body(&service, waits).status, 413);
}

fn request_of<B>(body: B) -> Request<B> {
    modern("").map(|_| body)
}

/// SH-45.
#[test]
fn bodies_are_bounded() {
    let http = server().http().max_body_bytes(10);
    answered(http, discover(), 413, "longer than 10 bytes");
    let service: HttpService = server().http().max_body_bytes(8).served();
    let pieces = Pieces::new(&[b"[[[[", b"[[[[", b"["], true);
    assert_eq!(send_body(&service, request_of(pieces)).status, 413);
}

#[test]
fn transfer_codings() {
    let part = "Transfer-Encoding other than chunked is not supported";
    for coding in ["gzip, chunked", "chunked, chunked", "identity"] {
        let headers = answer(discover().with("transfer-encoding", coding), 501, part);
        assert_eq!(headers["connection"], "close");
    }
    let once = discover().with("transfer-encoding", "chunked");
    let mut twice = once.clone();
    let second = HeaderValue::from_static("chunked");
    twice.headers_mut().append("transfer-encoding", second);
    answer(twice, 501, part);
    answer(once, 200, "");
}

/// SH-02, SH-41.
#[test]
fn the_modern_revision_has_only_posts() {
    for method in [Method::GET, Method::DELETE] {
        let headers = answer(discover().with_method(method), 405, "no method but POST");
        assert_eq!(headers["allow"], "POST");
    }
}

#[test]
fn half_a_body_is_timed_out() {
    let service = server()
        .http()
        .body_timeout(Duration::from_secs(2))
        .served();
    let pieces = Pieces::new(&[br#"{"jsonrpc":"#], false);
    let mut response = service.clone().call(request_of(pieces));
    let cx = &mut Context::from_waker(core::task::Waker::noop());
    assert!(response.as_mut().poll(cx).is_pending());
    advance(Duration::from_secs(1));
    assert!(response.as_mut().poll(cx).is_pending());
    advance(Duration::from_secs(1));
    let Ok(response) = now(response);
    assert_eq!(response.status(), 408);
}

#[test]
fn a_broken_body_is_no_request() {
    let service = server().http().served();
    let pieces = Pieces::new(&[br#"{"jsonrpc":"#], true);
    assert_eq!(send_body(&service, request_of(pieces)).status, 400);
}

/// A program that binds port 0 finds the address in its log.
#[test]
fn a_server_that_accepts_connections_says_where() {
    let listen = mcp_async::net::HttpListener::bind(Sim, "127.0.0.1:0");
    let address = listen.address().unwrap();
    let notes = crate::connection::spans::Notes::default();
    notes.watch(|| {
        let server = server().build().unwrap();
        let mut serving = core::pin::pin!(server.http().path("/api").serve(listen));
        let cx = &mut Context::from_waker(core::task::Waker::noop());
        assert!(serving.as_mut().poll(cx).is_pending());
    });
    let seen = notes.take().join("\n");
    let expected = format!("message=the server accepts connections url=http://{address}/api");
    has(&seen, ["INFO", &expected]);
}

/// SH-54: an endpoint that no request can reach is a mistake.
#[test]
fn paths_that_no_request_has() {
    for path in ["", "mcp", "/mcp?x", "/mcp#x", "/a b", "/ä", "/{id}", "*"] {
        for (setting, http) in [
            ("path", server().http().path(path)),
            ("legacy_sse", server().http().legacy_sse(path, "/messages")),
            ("legacy_sse", server().http().legacy_sse("/sse", path)),
        ] {
            let error = http.into_service(Sim).unwrap_err();
            let expected = format!("setting `{setting}`: {path:?} is not the path of a URL");
            assert_eq!(error.mistakes()[0].to_string(), expected);
        }
    }
    for path in ["/", "/mcp/", "/a//b", "/%C3%A4", "/~a:b@(c)"] {
        let http = server().http().path(path).legacy_sse(path, path);
        http.served();
    }
}
