//! Requests that another process has forwarded: the side of the owner.

use core::task::{Context, Poll};
use std::sync::Arc;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Method, Response};
use http_body::Body;
use mcp_proto::http::ResponseHead;
use mcp_proto::rpc::OwnedMessages;

use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::body::{Events, HttpBody};
use crate::http::server::processes::ANSWER;
use crate::http::server::processes::message::{
    self, ForwardedAnswer, ForwardedOutcome, ForwardedRequest, NotOwner, StatusLine,
};
use crate::http::server::processes::nonces::Unfit;
use crate::http::server::processes::this_process::Processes;
use crate::observe;
use crate::shares::{CallerId, Share};

impl HttpEndpoint {
    /// Answers a request that another process has forwarded, if the message in its head was verified.
    pub(in crate::http::server) async fn serve_forwarded<B: Body + Send>(
        self: &Arc<Self>,
        processes: &Processes,
        verified: Option<Vec<u8>>,
        parts: Parts,
        body: B,
    ) -> Answer {
        let request = verified
            .as_deref()
            .and_then(message::read::<ForwardedRequest<'_>>);
        let Some(request) = request else {
            observe::forwarded_refused(&"no process of this server has signed it");
            return answer::empty(ResponseHead::of_status(UNSIGNED));
        };
        let body = match self.collect(&parts, None, body).await {
            Ok(body) => body,
            Err(broken) => return self.unread(broken),
        };
        let nonce = request.nonce;
        processes.counters.received.add();
        let without_response = |outcome| {
            let signed = processes.sign_answer(nonce, outcome);
            signed_answer(signed, HeaderMap::new(), HttpBody::empty())
        };
        let (head, places) = match self.judge(processes, &request, parts, &body) {
            Ok(judged) => judged,
            Err(outcome) => return without_response(outcome),
        };
        let body = HttpBody::full(body);
        let Ok(answer) = Arc::clone(self).serve_head(Arc::new(head), body).await;
        if answer.extensions().get::<NotOwner>().is_some() {
            return without_response(ForwardedOutcome::NotOwner);
        }
        let (head, body) = answer.into_parts();
        let body = body.map_events(|events| PlacedEvents {
            events,
            _places: places,
        });
        let outcome = ForwardedOutcome::Head(StatusLine::of(&head, &body));
        let signed = processes.sign_answer(nonce, outcome);
        signed_answer(signed, head.headers, body)
    }

    /// Returns the head and the places of a request that a process of this server has signed, if the request is for
    /// this process, now and once.
    fn judge(
        &self,
        processes: &Processes,
        request: &ForwardedRequest<'_>,
        received: Parts,
        body: &[u8],
    ) -> Result<(Parts, Share<CallerId>), ForwardedOutcome<'static>> {
        let owner = processes.owner();
        let is_here = request.to == &*owner.process && request.lease == owner.lease;
        if !is_here || processes.ended.is_set() {
            return Err(ForwardedOutcome::NotOwner);
        }
        let now = processes.keys.requests.now();
        match processes.nonces.take(request.nonce, request.time, now) {
            Ok(()) if request.digest.0 == message::digest(body) => {}
            Ok(()) => return Err(refused("its body is another one")),
            Err(Unfit::Late) => return Err(refused(LATE)),
            Err(Unfit::Repeated) => {
                observe::forwarded_refused(&"it comes twice");
                return Err(ForwardedOutcome::Repeated);
            }
        }
        let head = request.head.parts(&processes.shared, received);
        let head = head.ok_or_else(|| refused("its head cannot be read"))?;
        let places = self.places(&head, body);
        let places = self.forwarded.take_all(self.caller(&head), places);
        Ok((head, places.ok_or_else(|| refused(CROWDED))?))
    }

    /// Returns the number of places that a request needs: one for each answer that may take time.
    fn places(&self, head: &Parts, body: &[u8]) -> usize {
        match head.method {
            Method::GET => 1,
            Method::POST => self.places_of(&OwnedMessages::parse(body, self.depth)),
            _ => 0,
        }
    }
}

fn refused(reason: &'static str) -> ForwardedOutcome<'static> {
    observe::forwarded_refused(&reason);
    ForwardedOutcome::Refused(reason)
}

/// The events of a response that keep the places of their request.
struct PlacedEvents {
    events: Box<dyn Events>,
    _places: Share<CallerId>,
}

impl Events for PlacedEvents {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.events.poll_text(cx)
    }
}

impl Processes {
    fn sign_answer(&self, nonce: u128, outcome: ForwardedOutcome<'_>) -> String {
        let said = ForwardedAnswer {
            from: self.name(),
            nonce,
            outcome,
        };
        message::seal(&self.keys.answers, &said)
    }
}

/// The response with a signed answer alone in its head, in the memory of these headers.
fn signed_answer(signed: String, mut headers: HeaderMap, body: HttpBody) -> Answer {
    headers.clear();
    if let Ok(signed) = HeaderValue::try_from(signed) {
        headers.insert(ANSWER, signed);
    }
    let mut response = Response::new(body);
    *response.headers_mut() = headers;
    response
}

/// The status of a request that no process of this server has signed: between processes, not of the protocol.
const UNSIGNED: u16 = 403;
const LATE: &str = "it comes too late, or the clocks of the processes differ";
const CROWDED: &str = "its sender has as many under way as there may be";
