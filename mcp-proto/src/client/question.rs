//! Questions of a legacy server: `sampling/createMessage`, `elicitation/create`, `roots/list`, and
//! requests beyond the protocol.

use super::questions::OpenQuestion;
use super::reply::{Reply, Said};
use super::{Client, Event, Phase, Storage, Unusable};
use crate::action::{Action, BufferFull, IgnoreReason, SendError, Transmit};
use crate::batch::Counted;
use crate::json::{Object, Writer};
use crate::model::ClientFeatures;
use crate::payload::Outcome;
use crate::received::ReceivedRequest;
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
        let key = self.questions.key(token)?;
        self.questions.running(key)?;
        let written = self.questions.answer(key, out, &|question, out| {
            answer(question.received().id(), revision, &outcome, out)
        })?;
        self.questions.remove(key);
        Ok(Transmit::pipe(written.len))
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
        let batched = self.questions.batch.takes_answers();
        let machine = self.questions.machine();
        let reply = |said| {
            Action::Reply(Reply {
                machine,
                said,
                batched,
            })
        };
        let refuse = |code, message| reply(Said::Error(id, code, message));
        match self.questions.count_element(self.config.limits.batch) {
            Counted::Served => {}
            Counted::Refused => {
                return refuse(code::INTERNAL_ERROR, "too many questions in a batch");
            }
            Counted::Silent => return Action::Ignore(IgnoreReason::Garbage),
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
        let Some(question) = OpenQuestion::new(id) else {
            return refuse(code::INVALID_REQUEST, "the id is too long");
        };
        // A server may ask again on a new stream, and an error would answer the first.
        if self.questions.find(id).is_some() {
            return Action::Ignore(IgnoreReason::DuplicateQuestion);
        }
        match self.questions.insert(question) {
            Ok(key) => Action::Event(Event::Question {
                token: self.questions.token(key),
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
        let open = self.questions.find(id);
        let Some(key) = open.filter(|key| self.questions.running(*key).is_ok()) else {
            return Action::Ignore(IgnoreReason::UnknownCancellation);
        };
        if foreign {
            // Its array does not wait for the error.
            self.questions.close(key);
            self.questions.refuse(key);
        } else {
            self.questions.remove(key);
        }
        Action::Event(Event::QuestionCancelled {
            token: self.questions.token(key),
            reason: params.get("reason").and_then(|reason| reason.string()),
        })
    }

    /// The answer that the sender of a foreign cancellation waits for.
    pub(super) fn transmit_refused(
        &mut self,
        key: Key,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        let written = self.questions.write_refusal(key, out)?;
        self.questions.remove(key);
        Ok(Transmit::pipe(written.len))
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
