//! A request without a session: it has its own connection, which ends with its answer.

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use mcp_proto::Instant;

use super::answer::{self, Answer};
use super::body::{Events, HttpBody};
use super::caller::CallerId;
use super::conversation::Conversation;
use super::replies::{First, Replies};
use crate::runtime::Clock;
use crate::shares::Share;

/// One request, until its answer. Dropping it cancels the request (SH-19).
pub(super) struct Exchange<C: Clock> {
    pub(super) conversation: Conversation<C>,
    keep_alive: Duration,
    /// When a comment is due, if nothing else is sent before (SH-42).
    quiet_until: Instant,
    /// Its place among those that take longer.
    place: Option<Share<CallerId>>,
}

impl<C: Clock> Exchange<C> {
    pub(super) fn new(
        mut conversation: Conversation<C>,
        now: Instant,
        keep_alive: Duration,
    ) -> Self {
        conversation.set_refuses(false);
        Self {
            quiet_until: now + keep_alive,
            conversation,
            keep_alive,
            place: None,
        }
    }

    /// Takes the first turn: all that there is to say, if that is all.
    pub(super) fn begin(&mut self, now: Instant) -> Option<Answer> {
        self.conversation.turn(now);
        match self.first() {
            First::Single(status, message) => Some(answer::message(status, message)),
            First::Nothing => Some(answer::empty(StatusCode::ACCEPTED)),
            First::Several | First::Pending => None,
        }
    }

    /// Returns true if nothing more comes after what is there.
    pub(super) fn has_ended(&self) -> bool {
        self.conversation
            .with(|core| Replies::of(core).is_none_or(|replies| replies.has_ended()))
    }

    /// Keeps a place until the exchange ends.
    pub(super) fn hold(&mut self, place: Share<CallerId>) {
        self.place = Some(place);
    }

    /// The answer, or the stream that it comes on.
    ///
    /// Which of them is decided when the first message leaves: if that is the answer, it has its
    /// own status, however long it took (SH-46). Proxies see nothing until then, so the answer
    /// becomes a stream as soon as a comment is due.
    pub(super) async fn answer(mut self) -> Answer {
        match poll_fn(|cx| self.poll_first(cx)).await {
            First::Single(status, message) => answer::message(status, message),
            First::Several | First::Pending => {
                self.conversation.set_refuses(true);
                answer::events(HttpBody::events(self))
            }
            // It was given up, which nothing but the end of the service does.
            First::Nothing => answer::busy("the server is shutting down: the request may have run"),
        }
    }

    fn poll_first(&mut self, cx: &mut Context<'_>) -> Poll<First> {
        self.conversation.poll(cx, Some(self.quiet_until));
        match self.first() {
            First::Pending if self.conversation.now() < self.quiet_until => Poll::Pending,
            first => Poll::Ready(first),
        }
    }

    fn first(&self) -> First {
        let first = self
            .conversation
            .with(|core| Replies::of(core).map(Replies::first));
        first.unwrap_or(First::Nothing)
    }
}

impl<C: Clock> Events for Exchange<C> {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.conversation.poll(cx, Some(self.quiet_until));
        let mut text = Vec::new();
        let ended = self.conversation.with(|core| {
            let Some(replies) = Replies::of(core) else {
                return true;
            };
            replies.read(&mut text);
            replies.has_ended()
        });
        let now = self.conversation.now();
        if text.is_empty() && !ended && self.quiet_until <= now {
            text.extend_from_slice(KEEP_ALIVE);
        }
        if !text.is_empty() {
            self.conversation.was_read();
            self.quiet_until = now + self.keep_alive;
            return Poll::Ready(Some(Bytes::from(text)));
        }
        if ended {
            return Poll::Ready(None);
        }
        Poll::Pending
    }
}

/// A comment, which every reader passes over.
pub(super) const KEEP_ALIVE: &[u8] = b":\n\n";
