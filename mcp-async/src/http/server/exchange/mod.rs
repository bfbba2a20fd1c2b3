//! A request without a session: it has its own connection, which ends with its answer.

pub(super) mod caller;
pub(super) mod conversation;
pub(super) mod trusted_proxies;

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;

use bytes::Bytes;
use mcp_proto::Instant;
use mcp_proto::server::http::streams::{StreamRead, StreamReader, StreamResponse};

use self::conversation::ServedConversation;
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::body::{Events, HttpBody};
use crate::shares::{CallerId, Share};

/// One request, until its answer. Dropping it cancels the request (SH-19).
pub(super) struct Exchange {
    pub(super) conversation: ServedConversation,
    reader: StreamReader,
    keep_alive: Duration,
    /// The time at which a comment is due, if nothing else is sent before.
    quiet_until: Instant,
    ended: bool,
    /// Its places among those that take longer.
    places: Option<Share<CallerId>>,
}

impl Exchange {
    pub(super) fn new(
        mut conversation: ServedConversation,
        reader: StreamReader,
        now: Instant,
        keep_alive: Duration,
    ) -> Self {
        conversation.set_refuses(false);
        Self {
            quiet_until: now + keep_alive,
            conversation,
            reader,
            keep_alive,
            ended: false,
            places: None,
        }
    }

    /// Returns the response, if it is decided. Most requests are answered by now; the others take their first turn.
    pub(super) fn begin(&mut self, now: Instant) -> StreamResponse {
        if !self.has_ended() {
            self.conversation.turn(now);
        }
        self.response(false)
    }

    /// Returns true if nothing more comes after what is there.
    pub(super) fn has_ended(&self) -> bool {
        let ended = self
            .conversation
            .streams(|streams| streams.has_ended(&self.reader));
        ended.unwrap_or(true)
    }

    /// Keeps places until the exchange ends.
    pub(super) fn hold(&mut self, places: Share<CallerId>) {
        self.places = Some(places);
    }

    /// Returns the answer, or the stream that it comes on, once one of them is decided.
    ///
    /// The first message decides between them: if that is the answer, it has its own status,
    /// however long it took (SH-46). Proxies see nothing until then, so the answer becomes a stream
    /// as soon as a comment is due.
    pub(super) async fn answer(mut self: Box<Self>) -> Answer {
        match poll_fn(|cx| self.poll_response(cx)).await {
            StreamResponse::Events => self.events(),
            response => decided(response),
        }
    }

    /// Returns the stream that the answer comes on.
    pub(super) fn events(mut self: Box<Self>) -> Answer {
        self.conversation.set_refuses(true);
        answer::events(HttpBody::events(self))
    }

    fn poll_response(&mut self, cx: &mut Context<'_>) -> Poll<StreamResponse> {
        self.conversation.poll(cx, Some(self.quiet_until));
        let begins = self.conversation.now() >= self.quiet_until;
        match self.response(begins) {
            StreamResponse::Pending => Poll::Pending,
            decided => Poll::Ready(decided),
        }
    }

    fn response(&self, begins: bool) -> StreamResponse {
        let response = self
            .conversation
            .streams(|streams| streams.response(&self.reader, begins));
        response.unwrap_or(StreamResponse::Nothing)
    }
}

impl Events for Exchange {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.ended {
            return Poll::Ready(None);
        }
        self.conversation.poll(cx, Some(self.quiet_until));
        let mut text = Vec::new();
        let read = self
            .conversation
            .streams(|streams| streams.read(&self.reader, &mut text));
        self.ended = read.is_none_or(|read| read == StreamRead::End);
        let now = self.conversation.now();
        if text.is_empty() && !self.ended && self.quiet_until <= now {
            text.extend_from_slice(KEEP_ALIVE);
        }
        if !text.is_empty() {
            self.conversation.was_read();
            self.quiet_until = now + self.keep_alive;
            return Poll::Ready(Some(Bytes::from(text)));
        }
        match self.ended {
            true => Poll::Ready(None),
            false => Poll::Pending,
        }
    }
}

/// Returns the answer that an exchange has decided on, unless that is a stream.
pub(super) fn decided(response: StreamResponse) -> Answer {
    answer::decided(response).unwrap_or_else(|| answer::busy(ENDING))
}

/// A comment, which every reader passes over.
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";

/// Nothing but the end of the service gives a request up.
const ENDING: &str = "the server is shutting down: the request may have run";
