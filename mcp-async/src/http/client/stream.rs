//! Reads a response that is an event stream.

use core::future::poll_fn;
use core::task::Poll;
use core::time::Duration;

use bytes::Bytes;
use mcp_proto::client::Failure;
use mcp_proto::client::http::{Exchange, ExchangeOutcome, Oversized};
use mcp_proto::frame::sse::{Events, Piece};
use mcp_proto::rpc::Reason;

use super::carrier::Reply;
use super::link::Link;
use super::send::{deliver, replaced, tell};
use crate::client::UnsentMessage;
use crate::observe;
use crate::runtime::Sleep;

/// Reads the stream to its end and hands on what is in it. `handshake` is what the stream of a
/// server of 2024-11-05 is looked for with: nothing counts before its endpoint (HS-09).
pub(super) async fn read(
    link: &Link,
    exchange: &mut Exchange,
    mut body: Reply,
    mut handshake: Option<&UnsentMessage>,
) -> ExchangeOutcome {
    let sought = handshake.is_some();
    let mut events = Events::new(
        Vec::new(),
        [Vec::new(), Vec::new(), Vec::new()],
        &link.limits,
    );
    let mut received = Vec::new();
    let mut patience = Patience::new(link);
    while let Some(Ok(bytes)) = patience.next(&mut body, exchange.is_answered()).await {
        let mut rest = &*bytes;
        loop {
            // A full store makes room as its events are taken.
            if let Some(spare) = events.spare_mut() {
                let count = spare.len().min(rest.len());
                let (now, later) = rest.split_at_checked(count).unwrap_or_default();
                if let Some(place) = spare.get_mut(..count) {
                    place.copy_from_slice(now);
                }
                rest = later;
                events.filled(count);
            }
            let mut over = false;
            while let Some(piece) = events.next_event() {
                match piece {
                    Piece::Event(event) => {
                        if let Some(message) = handshake {
                            if event.name == b"endpoint" {
                                if !link.move_to(event.data, message) {
                                    return ExchangeOutcome::Done;
                                }
                                handshake = None;
                            }
                            continue;
                        }
                        if !exchange.event(&event) {
                            continue;
                        }
                        let (data, mut instead) = (link.parse(event.data.to_vec()), Vec::new());
                        if link.origin(|origin| exchange.messages(origin, &data, &mut instead)) {
                            received.push(replaced(link, data, instead));
                        }
                    }
                    piece => match link.origin(|origin| exchange.oversized(origin, &piece)) {
                        Oversized::Passing => {}
                        Oversized::Answer(id) if exchange.id() == Some(id) => over = true,
                        Oversized::Answer(id) => link.fail(id, TOO_LONG),
                        Oversized::Lost => observe::oversized(),
                    },
                }
            }
            for messages in received.drain(..) {
                deliver(link, Some(messages)).await;
            }
            // One after the other: a server that asks much here hears the answers as slowly.
            for refusal in exchange.take_refusals() {
                tell(link, refusal).await;
            }
            // The rest of the stream is not awaited.
            if over {
                return ExchangeOutcome::Fail(TOO_LONG);
            }
            if rest.is_empty() {
                break;
            }
        }
    }
    if sought && handshake.is_some() {
        return ExchangeOutcome::Done;
    }
    let (now, jitter) = (link.now(), link.roll());
    link.origin(|origin| {
        let (id, retry) = (events.last_event_id(), events.retry());
        exchange.end(origin, now, id, retry, jitter)
    })
}

/// Reads, and does not wait long for the end of a stream that has said everything.
struct Patience<'l> {
    link: &'l Link,
    end: Option<Sleep>,
}

impl<'l> Patience<'l> {
    const fn new(link: &'l Link) -> Self {
        Self { link, end: None }
    }

    async fn next(
        &mut self,
        body: &mut Reply,
        answered: bool,
    ) -> Option<Result<Bytes, super::carrier::Broken>> {
        if answered && self.end.is_none() {
            self.end = Some(Sleep::after(self.link.runtime(), LINGER));
        }
        poll_fn(|cx| {
            if let Poll::Ready(read) = body.poll_bytes(cx) {
                return Poll::Ready(read);
            }
            match &mut self.end {
                Some(end) => end.poll_done(cx).map(|()| None),
                None => Poll::Pending,
            }
        })
        .await
    }
}

const TOO_LONG: Failure = Failure::Invalid(Reason::TooLong);
/// A stream that ends by itself leaves its connection for the next request.
pub(super) const LINGER: Duration = Duration::from_secs(1);
