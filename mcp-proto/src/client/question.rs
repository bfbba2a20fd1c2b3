//! Questions of a legacy server: `sampling/createMessage`, `elicitation/create`, `roots/list`.

use super::reply::{Reply, Said};
use super::{Client, Event, Phase, Storage, Unusable};
use crate::action::{Action, BufferFull, SendError, Token, Transmit, Why};
use crate::json::{Object, Writer};
use crate::label::Inline;
use crate::payload::Outcome;
use crate::rpc::{Id, Method, Request, code, envelope};
use crate::slots::Queue;

/// A question in a client's table; opaque, see [`Storage`](super::Storage).
#[derive(Clone, Debug)]
pub struct OpenQuestion<L> {
    pub(super) id: L,
    pub(super) stage: Asked,
}

/// How far a question is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// The application makes the answer.
    Open,
    /// Cancelled by the foreign method: its sender waits for error -32800 (`$/cancelRequest`).
    Refused,
    /// The connection is over, and the application is to be told.
    Orphaned,
}

impl<S: Storage> Client<'_, S> {
    /// Answers a question of the server.
    ///
    /// # Errors
    /// [`SendError::Stale`] if nobody waits for the answer any more, and what
    /// [`SendError`] says of buffers and payloads. There are no rounds of input here:
    /// [`Outcome::Input`] is [`SendError::NotInRevision`].
    pub fn respond(
        &mut self,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        let (Phase::Legacy, Some(revision)) = (&self.phase, self.revision) else {
            return Err(self.not_now());
        };
        let question = self.questions.get(token).ok_or(SendError::Stale)?;
        if question.stage != Asked::Open {
            return Err(SendError::Stale);
        }
        let mut writer = Writer::new(out);
        match outcome {
            Outcome::Result(payload) => {
                envelope::result(&mut writer, question.id.id(), |writer| {
                    payload.write(writer, revision)
                })
                .map_err(|_| SendError::Encode)?;
            }
            Outcome::Error(error) => envelope::error(&mut writer, Some(question.id.id()), &error),
            _ => return Err(SendError::NotInRevision),
        }
        let len = writer.finish()?;
        self.questions.remove(token);
        Ok(Transmit::pipe(len))
    }

    /// A request of the server. In the modern era there is none (ST-12, ST-13); before that is
    /// known, whoever asks is of the other one.
    pub(super) fn asked<'b>(&mut self, request: Request<'b>) -> Action<Event<'b>, Reply<'b>> {
        let id = request.id;
        match self.phase {
            Phase::Modern => return Action::Event(Event::Unusable(Unusable::Request(request))),
            Phase::Idle | Phase::Closed => return Action::Ignore(Why::Misplaced),
            Phase::Opening(_) | Phase::Legacy => {}
        }
        // LC-21: in every phase.
        if request.method == Method::Ping {
            return Action::Reply(Reply(Said::Pong(id)));
        }
        let refuse = |code, message| Action::Reply(Reply(Said::Error(id, code, message)));
        if !matches!(self.phase, Phase::Legacy) {
            return refuse(code::INVALID_REQUEST, "not initialized");
        }
        if let Err((code, message)) = self.admits(request.method, request.params) {
            return refuse(code, message);
        }
        let Some(label) = S::Label::new(id) else {
            return refuse(code::INVALID_REQUEST, "the id is too long");
        };
        // A server may ask again on a new stream, and an error would answer the first.
        if self.question_of(id).is_some() {
            return Action::Ignore(Why::DoubledQuestion);
        }
        let question = OpenQuestion {
            id: label,
            stage: Asked::Open,
        };
        match self.questions.insert(id.hash32(), question) {
            Ok(token) => Action::Event(Event::Question {
                token,
                method: request.method,
                params: request.params,
            }),
            Err(_) => refuse(code::INTERNAL_ERROR, "too many questions in flight"),
        }
    }

    /// `notifications/cancelled`, or its foreign twin, for a question.
    pub(super) fn question_cancelled<'b>(
        &mut self,
        id: Id<'b>,
        params: Object<'b>,
        foreign: bool,
    ) -> Action<Event<'b>, Reply<'b>> {
        let open = self.question_of(id).filter(|token| {
            self.questions
                .get(*token)
                .is_some_and(|question| question.stage == Asked::Open)
        });
        let Some(token) = open else {
            return Action::Ignore(Why::UnknownCancellation);
        };
        if foreign {
            if let Some(question) = self.questions.get_mut(token) {
                question.stage = Asked::Refused;
            }
            self.questions.mark(Queue::Transmit, token);
        } else {
            self.questions.remove(token);
        }
        Action::Event(Event::QuestionCancelled {
            token,
            reason: params.get("reason").and_then(|reason| reason.string()),
        })
    }

    /// The answer that the sender of a foreign cancellation waits for.
    pub(super) fn transmit_refused(
        &mut self,
        token: Token,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        let mut writer = Writer::new(out);
        if let Some(question) = self.questions.get(token) {
            let said = Said::Error(
                question.id.id(),
                code::REQUEST_CANCELLED,
                "request cancelled",
            );
            said.write(&mut writer);
        }
        let len = writer.finish()?;
        self.questions.remove(token);
        Ok(Transmit::pipe(len))
    }

    /// Whether a question waits for the application: its caller's timeout stretches meanwhile.
    pub(super) fn is_asked(&self) -> bool {
        !self.questions.is_empty()
    }

    fn question_of(&self, id: Id<'_>) -> Option<Token> {
        self.questions
            .find(id.hash32(), |question| question.id.matches(id))
    }
}
