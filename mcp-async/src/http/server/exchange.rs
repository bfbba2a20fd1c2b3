//! One request of 2026-07-28: it has a connection of its own, which ends with its answer.

use core::task::{Context, Poll};
use core::time::Duration;

use bytes::Bytes;
use mcp_proto::Instant;

use super::answer::{self, Answer};
use super::body::{Events, HttpBody};
use super::conversation::Conversation;
use super::exit::{First, Replies};
use crate::clock::Clock;

/// The events of one request, until its answer. Dropping them cancels it (SH-19).
struct Exchange<C: Clock> {
    conversation: Conversation<C>,
    keep_alive: Duration,
    /// When a comment is due, if nothing else is sent before (SH-42).
    quiet_until: Instant,
}

/// What a first turn came to.
pub(super) enum Begun<C: Clock> {
    /// All that there is to say.
    Answered(Answer),
    /// The request is over without an answer.
    Silent,
    /// There is more to come: [`stream`] it.
    Goes(Conversation<C>),
}

/// Takes the first turn of a conversation that has its request.
pub(super) fn begin<C: Clock>(mut conversation: Conversation<C>) -> Begun<C> {
    conversation.turn();
    match conversation.with(|core| core.exit.replies().map(Replies::first)) {
        Some(First::Single(status, message)) => Begun::Answered(answer::message(status, message)),
        Some(First::Several) => Begun::Goes(conversation),
        Some(First::Nothing) | None => Begun::Silent,
    }
}

/// Answers with events until the request is answered.
pub(super) fn stream<C: Clock>(conversation: Conversation<C>, keep_alive: Duration) -> Answer {
    let quiet_until = conversation.now() + keep_alive;
    answer::events(HttpBody::events(Exchange {
        conversation,
        keep_alive,
        quiet_until,
    }))
}

impl<C: Clock> Events for Exchange<C> {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        self.conversation.poll(cx, Some(self.quiet_until));
        let mut text = Vec::new();
        let ended = self.conversation.with(|core| {
            let Some(replies) = core.exit.replies() else {
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
