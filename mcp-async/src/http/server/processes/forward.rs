//! Requests for sessions of other processes: the side that received them.

use core::future::Future;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use http::{Method, Request, Response, Uri};

use super::message::{
    self, ByteString, ForwardedAnswer, ForwardedOutcome, ForwardedRequest, RequestLine,
};
use super::this_process::Processes;
use super::{ANSWER, REQUEST};
use crate::connection::{Signal, Wait};
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::body::{Events, HttpBody};
use crate::http::{ForwardError, ForwardedBody, Owner};
use crate::observe;
use crate::runtime::{Either, Sleep, race, within};

/// The outcome of a request for a session of another process.
pub(in crate::http::server) enum Forwarding {
    /// The response for the client: that of the owner, or an error if the owner did not answer or did not
    /// take the request.
    Answered(Box<Answer>),
    /// The process does not own the session. Nothing was done.
    NotOwner,
    /// The process cannot be reached. Nothing was done.
    Unreachable,
}

impl Processes {
    /// Lets the owner of a session answer a request. An event stream in the response is kept alive by comments
    /// at these intervals.
    pub(in crate::http::server) async fn forward(
        self: &Arc<Self>,
        owner: &str,
        parts: &Parts,
        body: &[u8],
        keep_alive: Duration,
    ) -> Forwarding {
        let Some(process) = self.find(owner) else {
            return Forwarding::NotOwner;
        };
        let Some(url) = process.url else {
            return Forwarding::Unreachable;
        };
        let nonce = self.numbers.draw();
        let Some(request) = self.request(&process.owner, url, nonce, parts, body) else {
            return Forwarding::Unreachable;
        };
        observe::forwarding(owner);
        self.counters.forwarded.add();
        let sent = within(
            &self.runtime,
            self.lease.saturating_add(HEAD_TIMEOUT),
            self.shared.means.forward.forward(request),
        );
        let response = match race(pin!(sent), process.gone.wait()).await {
            Either::Left(Some(Ok(response))) => response,
            Either::Left(Some(Err(failed))) => return unsent(&failed),
            Either::Left(None) | Either::Right(()) => {
                return Forwarding::Answered(answer::busy(MAY_HAVE_RUN).into());
            }
        };
        self.read(owner, nonce, &process.gone, response, keep_alive)
            .await
    }

    fn request(
        &self,
        to: &Owner,
        url: Uri,
        nonce: u128,
        parts: &Parts,
        body: &[u8],
    ) -> Option<Request<Bytes>> {
        let digest = message::digest(body);
        let forwarded = ForwardedRequest {
            to: &to.process,
            lease: to.lease,
            nonce,
            time: self.keys.requests.now(),
            head: RequestLine::of(parts, &self.shared),
            digest: ByteString(&digest),
        };
        let signed = message::seal(&self.keys.requests, &forwarded);
        let mut request = Request::new(Bytes::copy_from_slice(body));
        (*request.method_mut(), *request.uri_mut()) = (Method::POST, url);
        let fields = request.headers_mut();
        fields.insert(REQUEST, signed.try_into().ok()?);
        let bytes = HeaderValue::from_static("application/octet-stream");
        fields.insert(CONTENT_TYPE, bytes);
        Some(request)
    }

    /// Reads the answer in a response. A response that is not the owner's answer to this request gives an error
    /// for the client.
    async fn read(
        self: &Arc<Self>,
        owner: &str,
        nonce: u128,
        gone: &Arc<Signal>,
        response: Response<ForwardedBody>,
        keep_alive: Duration,
    ) -> Forwarding {
        let (parts, body) = response.into_parts();
        let signed = parts.headers.get(ANSWER).map(HeaderValue::as_bytes);
        let verified = signed.and_then(|it| self.keys.answers.verify(it));
        let said = verified
            .as_deref()
            .and_then(message::read::<ForwardedAnswer<'_>>);
        let Some(said) = said.filter(|said| said.nonce == nonce && said.from == owner) else {
            observe::forward_failed(&"the response is not that of a process of this server");
            return Forwarding::Answered(answer::busy(MAY_HAVE_RUN).into());
        };
        let line = match said.outcome {
            ForwardedOutcome::Head(line) => line,
            ForwardedOutcome::NotOwner => return Forwarding::NotOwner,
            ForwardedOutcome::Repeated => {
                observe::forward_failed(&"the request has arrived before");
                return Forwarding::Answered(answer::busy(MAY_HAVE_RUN).into());
            }
            ForwardedOutcome::Refused(reason) => {
                observe::forward_failed(&reason);
                return Forwarding::Answered(answer::busy(NOT_TAKEN).into());
            }
        };
        let patience = keep_alive.saturating_mul(2).saturating_add(self.lease);
        let mut events = ForwardedEvents {
            body,
            gone: gone.wait_shared(),
            patience,
            silent: Sleep::after(&self.runtime, patience),
        };
        let body = match line.length {
            Some(length) if length <= WHOLE => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                let mut whole = Vec::new();
                while let Some(text) = events.next().await {
                    whole.extend_from_slice(&text);
                    if whole.len() > length {
                        break;
                    }
                }
                if whole.len() != length {
                    return Forwarding::Answered(answer::busy(MAY_HAVE_RUN).into());
                }
                HttpBody::full(whole.into())
            }
            _ => HttpBody::events(Box::new(events)),
        };
        let answer = line.response(parts.headers, body);
        Forwarding::Answered(answer.unwrap_or_else(|| answer::busy(MAY_HAVE_RUN)).into())
    }
}

fn unsent(failed: &ForwardError) -> Forwarding {
    observe::forward_failed(&crate::ErrorChain(failed));
    match failed.is_unsent() {
        true => Forwarding::Unreachable,
        false => Forwarding::Answered(answer::busy(MAY_HAVE_RUN).into()),
    }
}

/// The body of a response that comes from another process. It ends early when that process does.
struct ForwardedEvents {
    body: ForwardedBody,
    /// Set when the owner does not live any more.
    gone: Wait<Arc<Signal>>,
    /// The time without bytes after which the body ends; the owner sends comments more often.
    patience: Duration,
    silent: Sleep,
}

impl ForwardedEvents {
    async fn next(&mut self) -> Option<Bytes> {
        core::future::poll_fn(|cx| self.poll_text(cx)).await
    }
}

impl Events for ForwardedEvents {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        loop {
            let frame = match self.body.as_mut().poll_frame(cx) {
                Poll::Ready(Some(Ok(frame))) => frame,
                Poll::Ready(Some(Err(_)) | None) => return Poll::Ready(None),
                Poll::Pending => break,
            };
            if let Ok(data) = frame.into_data()
                && !data.is_empty()
            {
                self.silent.restart(self.patience);
                return Poll::Ready(Some(data));
            }
        }
        let gone = Pin::new(&mut self.gone).poll(cx);
        let silent = self.silent.poll_done(cx);
        if gone.is_ready() || silent.is_ready() {
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}

/// The time in which a response must begin, in addition to the lease of its process. A request of a session
/// is answered at once, or with an event stream that begins at once.
const HEAD_TIMEOUT: Duration = Duration::from_secs(2);

/// A body that is read whole before the response begins.
const WHOLE: u64 = 64 << 10;

const MAY_HAVE_RUN: &str =
    "the process that has the session did not answer: the request may have run";
const NOT_TAKEN: &str = "the process that has the session did not take the request";
