//! Answers of the application, and its questions.

use super::config::ServerSettings;
use super::outcome::write_outcome;
use super::question_check::check_question;
use super::questions::{AskOptions, Pending};
use super::result_members::{Addition, complete};
use super::status::status_of;
use super::{Server, Storage};
use crate::action::{SendError, Transmit};
use crate::json::{MAX_DEPTH, Raw};
use crate::payload::{Outcome, Question};
use crate::received::ReceivedRequest;
use crate::revision::Revision;
use crate::rpc::{ErrorObject, Method, code, envelope};
use crate::sent::Sent;
use crate::source::Place;
use crate::splice::{check_object, write_around};
use crate::time::Instant;
use crate::token::{SentToken, Token};

impl<'c, S: Storage, C: ServerSettings<'c>> Server<'_, S, C> {
    /// Answers a request. Afterwards its token is stale, and whatever was asked on its behalf is
    /// given up.
    ///
    /// A result is written as the request's revision spells it, with what that revision demands
    /// and the payload does not have: `resultType`, cache hints of 0 and `private`, and who we
    /// are (JR-20, CH-01, VR-08). So are codes of errors that the revision does not have (JR-24).
    /// The answer to an element of an array waits for the others: then [`Transmit::len`] is 0.
    ///
    /// An answer that exceeds [`Limits::output`](crate::Limits::output), or what the outbox can
    /// ever hold, could never leave: error -32603 goes in its place.
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: neither the answer nor an error will ever fit; the request is
    ///   still open.
    /// - [`SendError::Stale`]: the request is over, by an answer, a cancellation or a hang-up.
    /// - [`SendError::Encode`]: the result is no JSON object; the request is still open.
    /// - [`SendError::NotInRevision`]: [`Outcome::Input`] where the revision or the method has
    ///   none (MR-02).
    /// - [`SendError::MissingCapability`]: it asks for something that the client cannot do (MR-05).
    ///
    /// ```
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
    /// # use mcp_proto::{Channel, Instant, Machine, Revision};
    /// # let config = ServerConfig { capabilities: ServerFeatures::TOOLS.capabilities(), ..ServerConfig::new("demo", "1.0") };
    /// # let (storage, now, mut out) = (OverHttp(Fixed::new().questions::<1>().uris::<64>()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::new(config, storage).unwrap();
    /// # server.resume(now, &SessionSnapshot::stateless(Revision::V2025_11_25));
    /// # use mcp_proto::rpc::{Incoming, Message};
    /// # use mcp_proto::server::Event;
    /// # use mcp_proto::{Action, Source};
    /// # let call = Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}"#, 8);
    /// # let Action::Event(Event::Request { token, .. }) = server.handle(now, &Source::PIPE, Incoming::Message(call)) else { panic!() };
    /// use mcp_proto::Outcome;
    /// use mcp_proto::json::Raw;
    ///
    /// // `token` came with `Event::Request`.
    /// let result = Raw::parse(br#"{"content":[]}"#, 8)?;
    /// let sent = server.respond(token, Outcome::Result(&result), &mut out)?;
    /// assert_eq!(&out[..sent.len], br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#);
    /// assert!(!server.is_live(token));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn respond(
        &mut self,
        token: Token,
        mut outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let key = self.requests.key(token)?;
        let request = self.requests.running(key)?;
        let mut is_error = matches!(outcome, Outcome::Error(_));
        // An error ends a listen, anything else ends it well.
        if request.listen.is_some() && !is_error {
            self.end_listen_at(key);
            return Ok(Transmit::pipe(0));
        }
        let channel = request.place().channel();
        let alone = !request.received().is_accompanied() && !request.asked;
        let subscribes = request.traits.subscribes && !is_error;
        let mut status = 200;
        if channel.is_exchange()
            && let Outcome::Error(error) = &mut outcome
        {
            status = self.spell(request.revision, error);
        }
        let Self {
            config, requests, ..
        } = self;
        let written = requests.answer(key, out, &|request, out| {
            write_outcome::<S>(config, request, &outcome, out)
        })?;
        is_error |= written.is_replaced;
        if subscribes {
            self.subscriptions.confirm(key);
        }
        self.release(key);
        let len = written.len;
        let alone = alone && channel.is_exchange();
        Ok(Transmit {
            end: len > 0 && (alone || self.is_over(channel)),
            status,
            is_error: is_error && len > 0,
            ..Transmit::on(channel, len)
        })
    }

    /// Spells an error of the application's as the draft has it, and says its HTTP status.
    fn spell(&self, revision: Revision, error: &mut ErrorObject<'_>) -> u16 {
        let rules = self.head_rules().of(revision);
        match rules.and_then(Revision::header_mismatch_code) {
            Some(code) if error.code == code::HEADER_MISMATCH => {
                error.code = code;
                400
            }
            _ if revision.has_error_statuses() => status_of(error.code),
            _ => 200,
        }
    }

    /// Asks the client of the legacy session: on behalf of a running request, or of none. Its
    /// end is reported once, by [`Event::Answer`](super::Event::Answer); if `parent` ends first, the question is
    /// cancelled.
    ///
    /// In 2026-07-28 a server never asks (ST-13): there
    /// [`Outcome::Input`] answers the request instead.
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
        const { assert!(S::ASKS, "a server without room for questions") }
        let parent = parent.map(|parent| self.requests.key(parent)).transpose()?;
        if let Some(parent) = parent
            && self.running(parent)?.revision.has_input_required()
        {
            return Err(SendError::NotInRevision);
        }
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let Some(revision) = self.session.ready_revision() else {
            return Err(SendError::NotReady);
        };
        let rules = self.head_rules().of(revision);
        if parent.is_none() && rules.is_some_and(|rules| !rules.allows_questions_of_session()) {
            return Err(SendError::NotInRevision);
        }
        let known = match question.method {
            Method::Other(name) => self.config.texts().has_method(name),
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
        let params = Raw::parse(
            out.get(object.start..object.end).unwrap_or_default(),
            MAX_DEPTH,
        );
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
            self.session.features(),
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
}
