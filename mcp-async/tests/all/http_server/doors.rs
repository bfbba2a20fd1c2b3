//! What is refused before it reaches the protocol, and what browsers are told.

use core::convert::Infallible;
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Request};
use http_body::{Body, Frame, SizeHint};
use mcp_async::Server;
use mcp_async::http::{AccessError, Http, HttpService, Principal};
use mcp_async::server::ServerBuilder;

use crate::scripted::{HttpClient, Serve, modern, send, send_body};
use crate::sim::{Sim, advance, now};
use crate::texts::has;
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

fn check(
    configure: impl FnOnce(Http) -> Http,
    change: impl FnOnce(&mut Request<String>),
    status: u16,
    part: &str,
) -> HeaderMap {
    let mut request = modern("1 server/discover");
    change(&mut request);
    answered(configure(server().http()), request, status, part)
}

fn answered(http: Http, request: Request<String>, status: u16, part: &str) -> HeaderMap {
    let reply = send(&http.served(), request);
    let (found, headers) = (reply.status, reply.headers.clone());
    let text = reply.whole();
    assert_eq!(found, status, "{text}");
    assert!(text.contains(part), "{part} in {text}");
    headers
}

fn set(name: &'static str, value: &'static str) -> impl FnOnce(&mut Request<String>) {
    move |request| drop(request.headers_mut().insert(name, value.parse().unwrap()))
}

/// SH-51.
#[test]
fn hosts() {
    check(|http| http, set("host", "127.0.0.1:1"), 200, "");
    check(|http| http, set("host", "[::1]:1"), 200, "");
    check(
        |http| http,
        set("host", "mcp.example.com"),
        403,
        "allow_hosts",
    );
    check(
        |http| http,
        |it| drop(it.headers_mut().remove("host")),
        400,
        "must occur once",
    );
    for any in [false, true] {
        let open = |http: Http| if any { http.allow_any_host() } else { http };
        let two = |it: &mut Request<String>| {
            it.headers_mut()
                .append("host", "localhost".parse().unwrap());
        };
        check(open, two, 400, "must occur once");
        check(open, set("host", "localhost:eighty"), 400, "optional port");
        check(open, set("host", "localhost:65536"), 400, "optional port");
    }
    check(
        |http| http.allow_any_host(),
        set("host", "mcp.example.com"),
        200,
        "",
    );
    let allow = |http: Http| http.allow_hosts(["mcp.example.com"]);
    check(allow, set("host", "mcp.example.com:443"), 200, "");
    check(allow, set("host", "localhost"), 200, "");
    check(allow, set("host", "other.example.com"), 403, "allow_hosts");
}

/// SH-03, SH-04.
#[test]
fn origins() {
    let headers = check(|http| http, set("origin", "http://localhost:5173"), 200, "");
    assert_eq!(
        headers["access-control-allow-origin"],
        "http://localhost:5173"
    );
    assert_eq!(
        headers["access-control-expose-headers"],
        "Mcp-Session-Id, WWW-Authenticate"
    );
    assert_eq!(headers["vary"], "Origin");
    let headers = check(
        |http| http,
        set("origin", "https://evil.example"),
        403,
        "allow_origins",
    );
    assert!(!headers.contains_key("access-control-allow-origin"));
    assert!(!headers.contains_key("access-control-expose-headers"));
    let allow = |http: Http| http.allow_origins(["https://app.example.com"]);
    check(allow, set("origin", "https://app.example.com"), 200, "");
    check(allow, set("origin", "null"), 403, "allow_origins");
}

/// SH-52.
#[test]
fn preflights() {
    let ask = |origin: &'static str| {
        move |request: &mut Request<String>| {
            *request.method_mut() = Method::OPTIONS;
            let headers = request.headers_mut();
            headers.insert("origin", origin.parse().unwrap());
            headers.insert("access-control-request-method", "POST".parse().unwrap());
            let asked = "content-type, mcp-param-region, mcp-method";
            headers.insert("access-control-request-headers", asked.parse().unwrap());
        }
    };
    let headers = check(|http| http, ask("http://localhost"), 204, "");
    assert_eq!(headers["access-control-allow-origin"], "http://localhost");
    assert!(
        headers["access-control-allow-methods"]
            .to_str()
            .unwrap()
            .contains("POST")
    );
    assert_eq!(
        headers["access-control-allow-headers"],
        "content-type, mcp-param-region, mcp-method"
    );
    let headers = check(|http| http, ask("https://evil.example"), 403, "");
    assert!(
        headers
            .keys()
            .all(|name| !name.as_str().starts_with("access-control"))
    );
    let plain = |it: &mut Request<String>| *it.method_mut() = Method::OPTIONS;
    let headers = check(|http| http, plain, 405, "method not allowed");
    assert!(headers["allow"].to_str().unwrap().contains("POST"));
}

/// SH-45, SH-50, SH-54.
#[test]
fn paths_methods_and_types() {
    check(
        |http| http,
        |it| *it.uri_mut() = "/".parse().unwrap(),
        404,
        "",
    );
    check(
        |http| http.path("/"),
        |it| *it.uri_mut() = "/".parse().unwrap(),
        200,
        "",
    );
    check(
        |http| http.any_path(),
        |it| *it.uri_mut() = "/x".parse().unwrap(),
        200,
        "",
    );
    let headers = check(|http| http, |it| *it.method_mut() = Method::PUT, 405, "");
    assert!(headers["allow"].to_str().unwrap().contains("POST"));
    check(
        |http| http,
        set("content-type", "text/plain"),
        415,
        "Content-Type",
    );
    check(
        |http| http,
        set("content-type", "application/json; charset=utf-8"),
        200,
        "",
    );
    check(
        |http| http,
        set("accept", "application/json"),
        406,
        "Accept",
    );
    check(|http| http, set("accept", "*/*"), 200, "");
    check(
        |http| http,
        |it| drop(it.headers_mut().remove("accept")),
        200,
        "",
    );
}

/// A body that comes in these pieces and then never ends.
struct Pieces(Vec<&'static [u8]>, bool);

impl Body for Pieces {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        if !self.0.is_empty() {
            let piece = self.0.remove(0);
            return Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(piece)))));
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
    check(
        |http| http.max_body_bytes(10),
        |_| {},
        413,
        "longer than 10 bytes",
    );
    let service: HttpService = server().http().max_body_bytes(8).served();
    let pieces = Pieces(vec![b"[[[[", b"[[[[", b"["], true);
    assert_eq!(send_body(&service, request_of(pieces)).status, 413);
}

#[test]
fn transfer_codings() {
    let refused = "Transfer-Encoding other than chunked is not supported";
    for coding in ["gzip, chunked", "chunked, chunked", "identity"] {
        let headers = check(|http| http, set("transfer-encoding", coding), 501, refused);
        assert_eq!(headers["connection"], "close");
    }
    let twice = |it: &mut Request<String>| {
        let chunked = HeaderValue::from_static("chunked");
        it.headers_mut()
            .append("transfer-encoding", chunked.clone());
        it.headers_mut().append("transfer-encoding", chunked);
    };
    check(|http| http, twice, 501, refused);
    check(|http| http, set("transfer-encoding", "chunked"), 200, "");
}

/// SH-02, SH-41.
#[test]
fn the_modern_revision_has_only_posts() {
    for method in [Method::GET, Method::DELETE] {
        let change = |it: &mut Request<String>| *it.method_mut() = method;
        let headers = check(|http| http, change, 405, "no method but POST");
        assert_eq!(headers["allow"], "POST");
    }
}

#[test]
fn half_a_body_is_timed_out() {
    let service = server()
        .http()
        .body_timeout(Duration::from_secs(2))
        .served();
    let pieces = Pieces(vec![br#"{"jsonrpc":"#], false);
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
    let pieces = Pieces(vec![br#"{"jsonrpc":"#], true);
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
