//! The steps of an exchange over HTTP, for an observer.

use core::fmt;
use core::pin::Pin;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode, Uri};
use http_body::Body as _;
use http_body_util::Full;

/// A step of an exchange with the MCP server over HTTP, for
/// [`ClientBuilder::on_http`](crate::client::ClientBuilder::on_http).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct HttpEvent<'a> {
    /// The number of the exchange in the client, from 1 on.
    pub exchange: u64,
    /// The step.
    pub step: HttpStep<'a>,
}

/// The steps of an exchange over HTTP. The first is a `Request`, and the last is an `End` or a `Failed`:
/// each exchange has exactly one of each, so what an application keeps for an exchange can be dropped
/// then. `Debug` shows no bodies.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum HttpStep<'a> {
    /// The request is sent. Tokens and the headers of the application are
    /// [sensitive](http::HeaderValue::is_sensitive), `Mcp-Session-Id` is not.
    Request {
        /// The method.
        method: &'a Method,
        /// The URL.
        url: &'a Uri,
        /// The headers, without those that the HTTP client adds.
        headers: &'a HeaderMap,
        /// The body.
        body: &'a [u8],
    },
    /// The head of the response has arrived. No header is sensitive, not even `Set-Cookie`.
    Response {
        /// The status.
        status: StatusCode,
        /// The headers.
        headers: &'a HeaderMap,
    },
    /// A part of the body of the response has arrived.
    Data(&'a [u8]),
    /// The response has arrived whole. No step follows.
    End,
    /// The exchange has ended before its response: there is no connection, the connection was lost, or
    /// the client has dropped the request or the rest of the response. The text is the reason, for a
    /// person. No step follows.
    Failed(&'a str),
}

impl fmt::Debug for HttpStep<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request { method, .. } => write!(f, "Request({method})"),
            Self::Response { status, .. } => write!(f, "Response({status})"),
            Self::Data(data) => write!(f, "Data({} bytes)", data.len()),
            Self::End => f.write_str("End"),
            Self::Failed(reason) => f.debug_tuple("Failed").field(reason).finish(),
        }
    }
}

/// The callback of an application, with the number of the last exchange.
pub(super) struct HttpObserver<F: ?Sized = dyn Fn(HttpEvent<'_>) + Send + Sync> {
    last: AtomicU64,
    callback: F,
}

impl<F: Fn(HttpEvent<'_>)> HttpObserver<F> {
    pub(super) const fn new(callback: F) -> Self {
        Self {
            last: AtomicU64::new(0),
            callback,
        }
    }
}

/// One exchange that is observed. Dropping it before its last step is a failure.
pub(super) struct Observed {
    observer: Arc<HttpObserver>,
    exchange: u64,
    /// No step follows: the last one was noted, or the callback has panicked.
    is_over: bool,
}

impl Observed {
    pub(super) fn begin(observer: &Arc<HttpObserver>, request: &Request<Full<Bytes>>) -> Self {
        let mut this = Self {
            observer: Arc::clone(observer),
            exchange: observer.last.fetch_add(1, Ordering::Relaxed) + 1,
            is_over: false,
        };
        // A full body is ready at once.
        let mut body = request.body().clone();
        let polled = Pin::new(&mut body).poll_frame(&mut Context::from_waker(Waker::noop()));
        let body = match polled {
            Poll::Ready(Some(Ok(frame))) => frame.into_data().unwrap_or_default(),
            _ => Bytes::new(),
        };
        this.note(HttpStep::Request {
            method: request.method(),
            url: request.uri(),
            headers: request.headers(),
            body: &body,
        });
        this
    }

    pub(super) fn note_head<B>(&mut self, response: &Response<B>) {
        self.note(HttpStep::Response {
            status: response.status(),
            headers: response.headers(),
        });
    }

    pub(super) fn note(&mut self, step: HttpStep<'_>) {
        if !core::mem::replace(&mut self.is_over, true) {
            let is_last = matches!(step, HttpStep::End | HttpStep::Failed(_));
            (self.observer.callback)(HttpEvent {
                exchange: self.exchange,
                step,
            });
            self.is_over = is_last;
        }
    }
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.note(HttpStep::Failed("dropped by the client"));
    }
}
