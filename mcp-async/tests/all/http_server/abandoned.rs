//! Clients that hang up in the middle of anything.

use core::convert::Infallible;
use core::future::pending;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body::{Body, Frame};
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server;
use tower_service::Service as _;

use crate::scripted::{modern, request, send};
use crate::sim::{Sim, advance, settle};

/// One session, one exchange, one stream: whatever is left behind is in the way of the next.
fn service() -> HttpService {
    Server::builder("demo", "1.0")
        .tool("never", "Has no end", |(): (), _: server::Context| async {
            pending::<()>().await;
            Ok("")
        })
        .http()
        .legacy_sse("/sse", "/messages")
        .max_sessions(1)
        .max_exchanges(1)
        .max_total_body_bytes(100_000)
        .into_service(Sim)
        .unwrap()
}

/// A body that comes a piece for each poll.
struct Drip {
    text: Bytes,
    piece: usize,
    paused: bool,
}

impl Drip {
    fn new(text: &str, piece: usize) -> Self {
        Self {
            text: Bytes::copy_from_slice(text.as_bytes()),
            piece,
            paused: false,
        }
    }
}

impl Body for Drip {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.paused = !self.paused;
        if self.paused {
            return Poll::Pending;
        }
        let len = self.text.len().min(self.piece);
        if len == 0 {
            return Poll::Ready(None);
        }
        Poll::Ready(Some(Ok(Frame::data(self.text.split_to(len)))))
    }
}

/// Polls a request and then its response, so often together, and hangs up; says whether the
/// response was over before.
fn abandon(service: &HttpService, request: Request<Drip>, polls: usize) -> bool {
    let cx = &mut Context::from_waker(Waker::noop());
    let mut future = service.clone().call(request);
    let mut body = None;
    for _ in 0..polls {
        match &mut body {
            None => {
                if let Poll::Ready(Ok(response)) = future.as_mut().poll(cx) {
                    body = Some(response.into_body());
                }
            }
            Some(body) => {
                if let Poll::Ready(None) = Pin::new(body).poll_frame(cx) {
                    return true;
                }
            }
        }
        settle();
    }
    false
}

fn with<'b>(request: Request<&'b str>, session: &str) -> Request<&'b str> {
    let (mut parts, body) = request.into_parts();
    if !session.is_empty() {
        let session = session.parse().unwrap();
        parts.headers.insert("mcp-session-id", session);
    }
    Request::from_parts(parts, body)
}

fn legacy<'b>(verb: &str, session: &str, body: &'b str) -> Request<&'b str> {
    let request = Request::builder()
        .method(verb)
        .uri("/mcp")
        .header("host", "localhost:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    with(request.body(body).unwrap(), session)
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
const NEVER: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"never","arguments":{}}}"#;
const CANCEL: &str =
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#;

#[test]
fn whoever_hangs_up_at_any_moment_leaves_nothing() {
    let service = service();
    let tasks = settle();
    let listen = request(1, "subscriptions/listen", r#""notifications":{}"#);
    let never = request(2, "tools/call", r#""name":"never","arguments":{}"#);
    for polls in 0..24 {
        let abandon = |request: Request<&str>| {
            let (parts, text) = request.into_parts();
            let piece = text.len() / 4 + 1;
            abandon(
                &service,
                Request::from_parts(parts, Drip::new(text, piece)),
                polls,
            )
        };
        // Exchanges that stand for themselves.
        for body in [&listen, &never] {
            abandon(modern(body));
            assert_eq!(settle(), tasks);
        }
        assert_eq!(send(&service, modern(&listen)).status, 200);

        // A handshake: with or without a session behind it, which is idle then.
        abandon(legacy("POST", "", INITIALIZE));
        let open_sse = Request::get("/sse")
            .header("host", "localhost:8000")
            .header("accept", "text/event-stream");
        abandon(open_sse.body("").unwrap());
        settle();
        advance(Duration::from_secs(31 * 60));
        assert_eq!(settle(), tasks, "after {polls} polls");

        // What belongs to a session.
        let opened = send(&service, legacy("POST", "", INITIALIZE));
        assert_eq!(opened.status, 200, "after {polls} polls");
        let session = opened.header("mcp-session-id");
        abandon(legacy("POST", session, NEVER));
        let cancelled = send(&service, legacy("POST", session, CANCEL));
        assert_eq!(cancelled.status, 202);
        abandon(legacy("GET", session, ""));
        abandon(legacy("POST", session, CANCEL));
        // It has neither a request nor a reader, so it is idle.
        advance(Duration::from_secs(31 * 60));
        assert_eq!(settle(), tasks, "after {polls} polls");

        let opened = send(&service, legacy("POST", "", INITIALIZE));
        let session = opened.header("mcp-session-id");
        abandon(legacy("DELETE", session, ""));
        let ended = send(&service, legacy("DELETE", session, ""));
        assert!(
            [204, 404]
                .map(|it| StatusCode::from_u16(it).unwrap())
                .contains(&ended.status)
        );
        assert_eq!(settle(), tasks);
    }
}

/// Long bodies that never end keep out others that are long, for as long as they may take, and
/// nobody else.
#[test]
fn bodies_on_their_way_are_bounded() {
    let service = service();
    let long = request(1, "tools/list", &format!(r#""x":"{}""#, "x".repeat(50_000)));
    let short = request(1, "tools/list", &format!(r#""x":"{}""#, "x".repeat(10_000)));
    let cx = &mut Context::from_waker(Waker::noop());
    let mut begun = Vec::new();
    let mut statuses = Vec::new();
    for _ in 0..5 {
        let (parts, text) = modern(&long).into_parts();
        // All of it comes but its end.
        let body = Drip::new(text, text.len());
        let mut future = service.clone().call(Request::from_parts(parts, body));
        let mut status = None;
        for _ in 0..2 {
            if let Poll::Ready(Ok(response)) = future.as_mut().poll(cx) {
                status = Some(response.status().as_u16());
                break;
            }
        }
        statuses.push(status);
        if status.is_none() {
            begun.push(future);
        }
    }
    assert_eq!(statuses, [None, None, Some(503), Some(503), Some(503)]);
    assert_eq!(send(&service, modern(&long)).status, 503);
    assert!(
        !send(&service, modern(&long))
            .header("retry-after")
            .is_empty()
    );
    assert_eq!(send(&service, modern(&short)).status, 200);
    begun.pop();
    assert_eq!(send(&service, modern(&long)).status, 200);
    assert_eq!(
        send(&service, modern(&long)).status,
        200,
        "it is given back"
    );
}
