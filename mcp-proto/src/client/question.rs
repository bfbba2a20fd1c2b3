//! Questions of a legacy server: `sampling/createMessage`, `elicitation/create`, `roots/list`, and
//! requests beyond the protocol.

use super::questions::{Asked, OpenQuestion, Questions};
use super::reply::{Reply, Said, TOO_LARGE};
use super::{Client, Event, Phase, Storage, Unusable};
use crate::action::{Action, BufferFull, IgnoreReason, SendError, Transmit};
use crate::batch::{Counted, Reading};
use crate::id_buf::IdStorage;
use crate::json::{Object, Writer};
use crate::model::ClientFeatures;
use crate::payload::Outcome;
use crate::revision::Revision;
use crate::rpc::{Id, Method, Request, Unanswerable, code, envelope};
use crate::slots::Key;
use crate::splice::{check_object, write_around};
use crate::token::Token;

impl<S: Storage> Client<'_, S> {
    /// Answers a question of the server.
    ///
    /// # Errors
    /// [`SendError::Stale`] if the question needs no answer any more; the errors of
    /// buffers and payloads of [`SendError`]. There are no rounds of input here:
    /// [`Outcome::Input`] is [`SendError::NotInRevision`].
    ///
    /// ```
    /// use mcp_proto::client::{Client, Event, Storage};
    /// use mcp_proto::json::Raw;
    /// use mcp_proto::{Instant, Outcome, SendError};
    ///
    /// /// Shows a legacy server no directories, whatever it asks.
    /// fn answer<S: Storage>(
    ///     client: &mut Client<'_, S>,
    ///     event: &Event<'_>,
    ///     out: &mut [u8],
    /// ) -> Result<usize, SendError> {
    ///     let Event::Question { token, .. } = event else { return Ok(0) };
    ///     let nothing = Raw::parse(br#"{"roots":[]}"#, 8).map_err(|_| SendError::Encode)?;
    ///     Ok(client.respond(*token, Outcome::Result(&nothing), out)?.len)
    /// }
    /// ```
    pub fn respond(
        &mut self,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        let (Phase::Legacy, Some(revision)) = (&self.phase, self.revision) else {
            return Err(self.not_now());
        };
        let token = token.key_in(self.id).ok_or(SendError::Stale)?;
        let Questions { table, answers } = &mut self.questions;
        let question = table.get(token).ok_or(SendError::Stale)?;
        if question.stage != Asked::Open {
            return Err(SendError::Stale);
        }
        let id = question.id.id();
        let write = |out: &mut [u8]| answer(id, revision, &outcome, out);
        let len = if question.batched && answers.gather(write)? {
            0
        } else {
            match write(out) {
                // It would never fit: the server receives an error instead of waiting.
                Err(SendError::BufferFull { needed }) if needed > self.max_message => {
                    let mut writer = Writer::new(out);
                    Said::Error(id, code::INTERNAL_ERROR, TOO_LARGE).write(S::ID_ECHO, &mut writer);
                    match writer.finish() {
                        Err(full) if full.needed > self.max_message => {
                            let mut writer = Writer::new(out);
                            Said::TooLarge.write(S::ID_ECHO, &mut writer);
                            self.within_limit(writer.finish().map_err(SendError::from))?
                        }
                        written => written?,
                    }
                }
                other => other?,
            }
        };
        self.questions.remove(token);
        Ok(Transmit::pipe(len))
    }

    /// A request of the server. In the modern era there is none (ST-12, ST-13); before that is
    /// known, a server that asks is of the legacy era.
    pub(super) fn asked<'b>(&mut self, request: Request<'b>) -> Action<Event<'b>, Reply<'b>> {
        let id = request.id;
        match self.phase {
            Phase::Modern => return Action::Event(Event::Unusable(Unusable::Request(request))),
            Phase::Idle | Phase::Closed => return Action::Ignore(IgnoreReason::Misplaced),
            Phase::Opening(_) | Phase::Legacy => {}
        }
        // LC-21: in every phase.
        let batched = self.questions.answers.reading() == Reading::Gathered;
        let machine = self.id;
        let reply = |said| {
            Action::Reply(Reply {
                machine,
                said,
                batched,
            })
        };
        let refuse = |code, message| reply(Said::Error(id, code, message));
        if self.questions.answers.reading() != Reading::Outside {
            match self.questions.answers.count(self.config.limits.batch) {
                Counted::Served => {}
                Counted::Refused => {
                    return refuse(code::INTERNAL_ERROR, "too many questions in a batch");
                }
                Counted::Silent => return Action::Ignore(IgnoreReason::Garbage),
            }
        }
        if request.method == Method::Ping {
            return reply(Said::Pong(id));
        }
        if !matches!(self.phase, Phase::Legacy) {
            return refuse(code::INVALID_REQUEST, "not initialized");
        }
        // EX-16
        let is_own = match request.method {
            Method::Other(name) => self.config.texts().method(name).is_some(),
            _ => false,
        };
        if !is_own && let Err((code, message)) = self.admits(request.method, request.params) {
            return refuse(code, message);
        }
        let Some(label) = S::IdBuf::new(id) else {
            return refuse(code::INVALID_REQUEST, "the id is too long");
        };
        // A server may ask again on a new stream, and an error would answer the first.
        if self.questions.find(id).is_some() {
            return Action::Ignore(IgnoreReason::DuplicateQuestion);
        }
        let question = OpenQuestion {
            id: label,
            stage: Asked::Open,
            batched,
        };
        match self.questions.insert(question) {
            Ok(token) => Action::Event(Event::Question {
                token: Token::new(token, self.id),
                method: request.method,
                params: request.params.unwrap_or_default(),
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
        let open = self.questions.find(id).filter(|token| {
            self.questions
                .get(*token)
                .is_some_and(|question| question.stage == Asked::Open)
        });
        let Some(token) = open else {
            return Action::Ignore(IgnoreReason::UnknownCancellation);
        };
        if foreign {
            self.questions.refuse(token);
        } else {
            self.questions.remove(token);
        }
        Action::Event(Event::QuestionCancelled {
            token: Token::new(token, self.id),
            reason: params.get("reason").and_then(|reason| reason.string()),
        })
    }

    /// The answer that the sender of a foreign cancellation waits for.
    pub(super) fn transmit_refused(
        &mut self,
        token: Key,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        let mut writer = Writer::new(out);
        if let Some(question) = self.questions.get(token) {
            let id = question.id.id();
            Said::Error(id, code::REQUEST_CANCELLED, "request cancelled")
                .write(S::ID_ECHO, &mut writer);
        }
        let len = writer.finish()?;
        self.questions.remove(token);
        Ok(Transmit::pipe(len))
    }

    /// Checks that a server may send this request, in a session of the negotiated revision or as
    /// the input of a call; otherwise returns the code and the message of an error.
    pub(super) fn admits(
        &self,
        method: Method<'_>,
        params: Option<Object<'_>>,
    ) -> Result<(), (i64, &'static str)> {
        let unknown = Err((code::METHOD_NOT_FOUND, "method not found"));
        let Some(revision) = self.revision else {
            return unknown;
        };
        let is_question = !method.facts().client_declares.is_empty();
        if !is_question || !self.config.declared().allow(method, revision) {
            return unknown;
        }
        let params = params.unwrap_or_default();
        // EL-03
        let mode = "this mode of elicitation was not declared";
        let message = match ClientFeatures::needed_by(method, params, revision) {
            Ok(needed) => {
                let missing = needed
                    .without(self.config.declared().known_in(revision))
                    .without(ClientFeatures::SAMPLING_CONTEXT);
                if missing.is_empty() {
                    return Ok(());
                }
                // SP-02
                match missing.contains(ClientFeatures::SAMPLING_TOOLS) {
                    true => "sampling.tools was not declared",
                    false => mode,
                }
            }
            Err(Unanswerable::Mode) => mode,
            Err(Unanswerable::Duplicate) if method == Method::ElicitationCreate => mode,
            Err(Unanswerable::Duplicate) => "a parameter occurs twice",
        };
        Err((code::INVALID_PARAMS, message))
    }
}

/// Writes an answer of the application.
fn answer(
    id: Id<'_>,
    revision: Revision,
    outcome: &Outcome<'_>,
    out: &mut [u8],
) -> Result<usize, SendError> {
    match outcome {
        Outcome::Result(payload) => {
            let (len, object) = write_around(*payload, revision, out, |w, payload| {
                envelope::result(w, id, payload)
            })?;
            check_object(out, len, object)
        }
        Outcome::Error(error) => {
            let mut writer = Writer::new(out);
            envelope::error(&mut writer, Some(id), error);
            Ok(writer.finish()?)
        }
        Outcome::Input(_) => Err(SendError::NotInRevision),
    }
}
