//! Clients that hang up in the middle of anything.

use core::convert::Infallible;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use mcp_async::Server;
use mcp_async::http::HttpService;
use tower_service::Service as _;

use crate::scripted::{
    HttpClient, RequestExt, Serve, cancelled, delete, get, initialize, modern, plain_call, post,
    send,
};
use crate::server_typed::support::never;
use crate::sim::{advance, settle};

/// One session, one exchange, one stream: whatever is left behind is in the way of the next.
fn service() -> HttpService {
    Server::builder("demo", "1.0")
        .tool("never", "Has no end", never)
        .http()
        .legacy_sse("/sse", "/messages")
        .max_sessions(1)
        .max_exchanges(1)
        .max_total_body_bytes(100_000)
        .served()
}

/// A body that comes a piece for each poll.
struct Drip {
    text: Bytes,
    piece: usize,
    paused: bool,
}

impl Drip {
    fn new(text: String, piece: usize) -> Self {
        Self {
            text: text.into(),
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

#[test]
fn whoever_hangs_up_at_any_moment_leaves_nothing() {
    let service = service();
    let tasks = settle();
    let listen = r#"1 subscriptions/listen {"notifications":{}}"#;
    let never = &plain_call(7, "never");
    for polls in 0..24 {
        let abandon = |request: Request<String>| {
            let piece = request.body().len() / 4 + 1;
            abandon(&service, request.map(|text| Drip::new(text, piece)), polls)
        };
        // Exchanges that stand for themselves.
        for body in [listen, never] {
            abandon(modern(body));
            assert_eq!(settle(), tasks);
        }
        assert_eq!(send(&service, modern(listen)).status, 200);

        // A handshake: with or without a session behind it, which is idle then.
        abandon(post(&initialize("2025-11-25")));
        abandon(get(None).to("/sse"));
        settle();
        advance(Duration::from_secs(31 * 60));
        assert_eq!(settle(), tasks, "after {polls} polls");

        // What belongs to a session.
        let session = HttpClient::open(&service, "2025-11-25");
        let within = |request: Request<String>| request.with("mcp-session-id", &session.id);
        abandon(within(post(never)));
        assert_eq!(session.post(&cancelled(7)).status, 202);
        abandon(within(get(None)));
        abandon(within(post(&cancelled(7))));
        // It has neither a request nor a reader, so it is idle.
        advance(Duration::from_secs(31 * 60));
        assert_eq!(settle(), tasks, "after {polls} polls");

        let session = HttpClient::open(&service, "2025-11-25");
        abandon(delete().with("mcp-session-id", &session.id));
        assert!(matches!(session.delete().status.as_u16(), 204 | 404));
        assert_eq!(settle(), tasks);
    }
}

/// Long bodies that never end keep out others that are long, for as long as they may take, and
/// nobody else.
#[test]
fn bodies_on_their_way_are_bounded() {
    let service = service();
    let long = format!(r#"1 tools/list {{"x":"{}"}}"#, "x".repeat(50_000));
    let short = format!(r#"1 tools/list {{"x":"{}"}}"#, "x".repeat(10_000));
    let cx = &mut Context::from_waker(Waker::noop());
    let mut begun = Vec::new();
    let mut statuses = Vec::new();
    for _ in 0..5 {
        // All of it comes but its end.
        let piece = modern(&long).body().len();
        let request = modern(&long).map(|text| Drip::new(text, piece));
        let mut future = service.clone().call(request);
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
