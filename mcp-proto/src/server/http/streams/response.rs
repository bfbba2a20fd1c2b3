//! The form of the response to a POST: a body, events, or only a status.

use alloc::vec::Vec;

use super::{Delivery, StreamReader, Streams};
use crate::action::{Channel, Transmit};
use crate::conversation::{Outgoing, Receipt};
use crate::http::{PostStatus, Refusal};
use crate::token::SentToken;

/// The form of the response to a POST.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamResponse {
    /// It is not decided yet. Ask again when the conversation has changed.
    Pending,
    /// A status without a body.
    Status(u16),
    /// One message and its status.
    Message {
        /// The status.
        status: u16,
        /// True if it is an error response.
        is_error: bool,
        /// The message.
        message: Vec<u8>,
    },
    /// A refusal.
    Refused(Refusal),
    /// An event stream, to be [read](Streams::read). In a session of 2025-11-25 or later it is
    /// [primed](Streams::prime) before.
    Events,
    /// None: the conversation is over, or was given up, before there was one.
    Nothing,
}

/// The outcome of the messages of a POST.
#[derive(Clone, Copy, Debug)]
pub(super) enum PostOutcome {
    /// The machine has had them.
    Handled(PostStatus),
    /// The machine has not had them, or what they changed was not kept.
    Refused(Refusal),
}

impl Streams {
    /// Notes that the machine has had all messages of a POST, with what it made of them.
    pub fn handled(&mut self, post: Channel, status: PostStatus) {
        self.set_outcome(post, PostOutcome::Handled(status));
    }

    /// Refuses a POST of which nothing was said yet.
    pub fn refuse(&mut self, post: Channel, refusal: Refusal) {
        self.set_outcome(post, PostOutcome::Refused(refusal));
    }

    /// Returns the form of the response to a POST, of which the reader is the first. All but
    /// [`Pending`](StreamResponse::Pending) and [`Events`](StreamResponse::Events) end the reader.
    ///
    /// - In a session, what is available when the messages were handled is one body (SH-09); everything else is an event
    ///   stream at once, which the client can resume. The body for an array is an array, or the error with which
    ///   it was refused; what answers it singly is events.
    /// - A request of 2026-07-28 cannot be resumed, and its answer has a status of its own, so the first message decides
    ///   (SH-46). Proxies see nothing until then: `begins` says that a comment is due (SH-42), with which an event stream
    ///   begins.
    pub fn response(&mut self, post: &StreamReader, begins: bool) -> StreamResponse {
        let (over, delivery) = (self.over, self.delivery);
        let Some(stream) = self.read_by(post) else {
            // A later reader has taken its place: its own events are over.
            return match over {
                true => StreamResponse::Nothing,
                false => StreamResponse::Events,
            };
        };
        let response = match stream.outcome {
            Some(PostOutcome::Refused(refusal)) => StreamResponse::Refused(refusal),
            Some(PostOutcome::Handled(handled)) => {
                if let Some(status) = handled.get() {
                    self.detach(post);
                    return StreamResponse::Status(status);
                }
                let (status, is_error) = stream.first.unwrap_or((200, false));
                let (is_empty, ended) = (!stream.has_message(), stream.ended);
                let is_refused = status != 200;
                let is_body =
                    !handled.is_array() || is_refused || stream.first_byte() == Some(b'[');
                if is_body && let Some(message) = self.single(post) {
                    return StreamResponse::Message {
                        status,
                        is_error,
                        message,
                    };
                }
                match delivery {
                    Delivery::Resumable => return StreamResponse::Events,
                    _ if !is_empty => return StreamResponse::Events,
                    _ if over => StreamResponse::Nothing,
                    // Nothing was asked for that has an answer: an array of a request and its cancellation, say.
                    _ if ended => StreamResponse::Status(202),
                    _ if begins => return StreamResponse::Events,
                    _ => return StreamResponse::Pending,
                }
            }
            None if over => StreamResponse::Nothing,
            None => return StreamResponse::Pending,
        };
        self.detach(post);
        response
    }

    fn set_outcome(&mut self, post: Channel, outcome: PostOutcome) {
        if let Some(stream) = self.stream_mut(post)
            && stream.reader.is_some()
        {
            stream.outcome = Some(outcome);
        }
    }
}

impl Outgoing for Streams {
    fn has_room(&self, on: Channel) -> bool {
        self.has_room(on)
    }

    fn take(
        &mut self,
        transmit: Transmit,
        request: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        let channel = self.target(transmit.channel);
        let is_last = self.delivery == Delivery::Once && transmit.end;
        if let Some(stream) = self.stream_mut(channel)
            && !message.is_empty()
        {
            stream
                .first
                .get_or_insert((transmit.status, transmit.is_error));
            if is_last && stream.keep_answer(message) {
                return None;
            }
        }
        let sequence = self.push(channel, message, request, transmit.end)?;
        self.stored.then_some(Receipt { channel, sequence })
    }
}
