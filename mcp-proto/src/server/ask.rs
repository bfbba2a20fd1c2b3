//! Questions to the client of a legacy session.

use super::event::{Answer, Event};
use super::question_check::check_question;
use super::questions::{AskOptions, Pending};
use super::reply::Reply;
use super::result_members::{Addition, complete};
use super::session::Phase;
use super::{Server, Storage};
use crate::action::{Action, IgnoreReason, SendError, Transmit};
use crate::json::{MAX_DEPTH, Object, Raw};
use crate::payload::Question;
use crate::rpc::{Id, Invalid, Method, Response, Shape, envelope};
use crate::sent::{Progress, Sent};
use crate::splice::{check_object, write_around};
use crate::store::Table;
use crate::time::Instant;
use crate::token::{SentToken, Token};

impl<S: Storage> Server<'_, S> {
    /// Asks the client of the legacy session: on behalf of a running request, or of none. Its
    /// end is reported once, by [`Event::Answer`]; if `parent` ends first, the question is
    /// cancelled.
    ///
    /// In 2026-07-28 a server never asks (ST-13): there
    /// [`Outcome::Input`](crate::Outcome::Input) answers the request instead.
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: no room would ever be enough.
    /// - [`SendError::NotReady`]: the client has not said that it is initialized (LC-08).
    /// - [`SendError::Stale`]: `parent` is over.
    /// - [`SendError::NotInRevision`]: no such question, `parent` is of 2026-07-28, or there is
    ///   none in a session of the [draft](super::ServerConfig::draft_profile).
    /// - [`SendError::MissingCapability`]: the client cannot do it (LC-17).
    /// - [`SendError::TableFull`]: too many questions in flight.
    /// - [`SendError::Encode`]: the parameters are no JSON object.
    ///
    /// ```
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
    /// # use mcp_proto::{Channel, Instant, Machine, Revision};
    /// # let config = ServerConfig { capabilities: ServerFeatures::TOOLS.capabilities(), ..ServerConfig::new("demo", "1.0") };
    /// # let (storage, now, mut out) = (OverHttp(Fixed::new().questions::<1>().uris::<64>()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::new(config, storage).unwrap();
    /// # server.resume(now, &SessionSnapshot::stateless(Revision::V2025_11_25));
    /// use mcp_proto::json::Raw;
    /// use mcp_proto::rpc::Method;
    /// use mcp_proto::server::AskOptions;
    /// use mcp_proto::{Question, SendError};
    ///
    /// let params = Raw::parse(b"{}", 1)?;
    /// let question = Question { method: Method::RootsList, params: &params };
    /// // This client has declared no roots, so it is not asked for any (LC-17).
    /// let asked = server.ask(now, None, question, AskOptions::default(), &mut out);
    /// assert!(matches!(asked, Err(SendError::MissingCapability(_))));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// With a storage that has no room for questions it does not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::json::Raw;
    /// use mcp_proto::rpc::Method;
    /// use mcp_proto::server::{AskOptions, Fixed, Server, ServerConfig};
    /// use mcp_proto::{Instant, Question};
    ///
    /// let mut server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::new()).unwrap();
    /// let params = Raw::parse(b"{}", 1).unwrap();
    /// let question = Question { method: Method::RootsList, params: &params };
    /// let _ = server.ask(Instant::ZERO, None, question, AskOptions::default(), &mut [0; 512]);
    /// ```
    pub fn ask(
        &mut self,
        now: Instant,
        parent: Option<Token>,
        question: Question<'_>,
        options: AskOptions,
        out: &mut [u8],
    ) -> Result<(SentToken, Transmit), SendError> {
        const { assert!(S::Questions::HOLDS, "a server without room for questions") }
        let parent = parent.map(|parent| self.requests.key(parent)).transpose()?;
        if let Some(parent) = parent
            && self.running(parent)?.revision.has_input_required()
        {
            return Err(SendError::NotInRevision);
        }
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let Phase::Ready(revision) = self.session.phase else {
            return Err(SendError::NotReady);
        };
        let rules = self.http_rules(revision);
        if parent.is_none() && rules.is_some_and(|rules| !rules.allows_questions_of_session()) {
            return Err(SendError::NotInRevision);
        }
        let known = match question.method {
            Method::Other(name) => self.is_own(name),
            method => method.facts().server.contains(revision),
        };
        if !known {
            return Err(SendError::NotInRevision);
        }
        let number = self.questions.next_id();
        let (mut len, object) = write_around(question.params, revision, out, |w, params| {
            envelope::request(w, number, question.method, params)
        })?;
        if options.progress {
            let token = Addition {
                key: "progressToken",
                in_meta: true,
                value: &|w| w.unsigned(number),
            };
            let payload = (question.params, revision);
            len = self
                .requests
                .bounded(complete(out, len, object, &[token], Some(payload)))?;
        } else {
            self.requests.bounded(check_object(out, len, object))?;
        }
        let params = Raw::parse(out.get(object.0..object.1).unwrap_or_default(), MAX_DEPTH);
        // Additions stand after what was written, or inside `_meta`, which is not compared.
        let params = match params {
            Ok(params) => params.object(),
            Err(_) => Raw::parse(out.get(..len).unwrap_or_default(), MAX_DEPTH)
                .ok()
                .and_then(|message| message.object()?.get("params")?.object()),
        };
        check_question(
            question.method,
            params.ok_or(SendError::Encode)?,
            self.session.features,
            revision,
        )?;
        let channel = self.channel_of(parent);
        let question = Pending {
            sent: Sent::new(
                number,
                options.cookie,
                options.timeout,
                now + options.max_duration,
                options.progress,
            ),
            parent,
            channel,
        };
        let key = self.questions.insert(now, question)?;
        if let Some(request) = parent.and_then(|parent| self.requests.table.get_mut(parent)) {
            request.asked = true;
        }
        Ok((self.questions.token(key), Transmit::on(channel, len)))
    }

    /// Cancels a question: the client is notified, and no event of it follows. A stale token has
    /// no effect.
    ///
    /// It takes no buffer and cannot fail, so that dropping a future can do it.
    pub fn cancel(&mut self, question: SentToken) {
        if let Some(key) = self.questions.key(question) {
            self.questions.give_up(key);
        }
    }

    /// An answer to a question of ours, or to a ping.
    pub(super) fn response<'b>(
        &mut self,
        now: Instant,
        response: Response<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !self.questions.has_room() {
            return Action::Ignore(IgnoreReason::LateResponse);
        }
        let Some(number) = response.id.and_then(Id::to_u64) else {
            return Action::Ignore(IgnoreReason::LateResponse);
        };
        if self.questions.take_pong(now, number) {
            return Action::Done;
        }
        let answer = match response.outcome {
            Ok(result) if result.object().is_some() => Answer::Result(result),
            Ok(_) => Answer::Unusable(crate::rpc::Reason::Members),
            Err(error) => Answer::Error(error),
        };
        self.answered(number, answer)
    }

    /// A broken response may still name a question, which it ends (JR-32). So does one that broke
    /// off before its result, as long as nothing says that it is a request.
    pub(super) fn unusable_answer<'b>(
        &mut self,
        now: Instant,
        invalid: Invalid<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !self.questions.has_room() {
            return Action::Ignore(IgnoreReason::Malformed);
        }
        match (invalid.shape, invalid.id.and_then(Id::to_u64)) {
            // However wrong, it is a sign of life.
            (Shape::Response | Shape::Unknown, Some(number))
                if self.questions.take_pong(now, number) =>
            {
                Action::Done
            }
            (Shape::Response | Shape::Unknown, Some(number)) => {
                self.answered(number, Answer::Unusable(invalid.reason))
            }
            _ => Action::Ignore(IgnoreReason::Malformed),
        }
    }

    fn answered<'b>(&mut self, number: u64, answer: Answer<'b>) -> Action<Event<'b>, Reply<'b>> {
        let Some((key, cookie)) = self.questions.answered(number) else {
            return Action::Ignore(IgnoreReason::LateResponse);
        };
        Action::Event(Event::Answer {
            token: self.questions.token(key),
            cookie,
            answer,
        })
    }

    /// Takes a progress notification for a question of ours, which starts its timeout anew (PG-04,
    /// PG-09).
    pub(super) fn question_progress<'b>(
        &mut self,
        now: Instant,
        params: Object<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !self.questions.has_room() {
            return Action::Ignore(IgnoreReason::StaleProgress);
        }
        let progress = match Progress::read(params) {
            Ok(progress) => progress,
            Err(reason) => return Action::Ignore(reason),
        };
        let Some((key, cookie)) = self.questions.progressed(&progress) else {
            return Action::Ignore(IgnoreReason::StaleProgress);
        };
        self.questions.extend(now, key);
        Action::Event(Event::Progress {
            token: self.questions.token(key),
            cookie,
            progress: progress.value,
            total: progress.total,
            message: progress.message,
        })
    }

    /// The next question that ended without an answer.
    pub(super) fn next_answer(&mut self) -> Option<Event<'static>> {
        let (key, cookie, why) = self.questions.next_event()?;
        Some(Event::Answer {
            token: self.questions.token(key),
            cookie,
            answer: why?.into(),
        })
    }
}
