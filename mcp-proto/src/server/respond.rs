//! Answers of the application.

use super::config::ServerConfig;
use super::in_flight::InFlight;
use super::question_check::check_question;
use super::result_members::{Addition, complete};
use super::status::status_of;
use super::{Server, Storage};
use crate::action::{SendError, Transmit};
use crate::id_buf::IdStorage;
use crate::json::{MAX_DEPTH, Raw, Writer};
use crate::model::keys;
use crate::payload::{InputRequired, Outcome, Payload};
use crate::prepared_config::PreparedConfig;
use crate::received::ReceivedRequest;
use crate::revision::Revision;
use crate::rpc::{ErrorObject, Id, code, envelope};
use crate::source::Place;
use crate::splice::{check_object, write_around};
use crate::token::Token;

impl<S: Storage> Server<'_, S> {
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
        let written = requests.answer(key, out, |request, out| {
            write_outcome(config, request, &outcome, out)
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
        let rules = self.http_rules(revision);
        match rules.and_then(Revision::header_mismatch_code) {
            Some(code) if error.code == code::HEADER_MISMATCH => {
                error.code = code;
                400
            }
            _ if revision.has_error_statuses() => status_of(error.code),
            _ => 200,
        }
    }
}

fn write_outcome<L: IdStorage, P: Place>(
    config: &PreparedConfig<ServerConfig<'_>>,
    request: &InFlight<L, P>,
    outcome: &Outcome<'_>,
    out: &mut [u8],
) -> Result<usize, SendError> {
    match outcome {
        Outcome::Error(error) => write_error(request.id(), error, request.revision, out),
        Outcome::Result(payload) => write_result(config, request, *payload, out),
        Outcome::Input(input) => write_input(config, request, input, out),
    }
}

/// A result, with what its revision demands.
fn write_result<L: IdStorage, P: Place>(
    config: &PreparedConfig<ServerConfig<'_>>,
    request: &InFlight<L, P>,
    payload: &dyn Payload,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let revision = request.revision;
    let (len, object) = write_around(payload, revision, out, |w, payload| {
        envelope::result(w, request.id(), payload)
    })?;
    if !revision.requires_result_type() {
        return check_object(out, len, object);
    }
    let write_name = |w: &mut Writer<'_>| {
        config.texts().write_info(revision, w);
    };
    let additions = [
        RESULT_TYPE,
        TIME_TO_LIVE,
        CACHE_SCOPE,
        identity_of(&write_name),
    ];
    // Without a cache no hints, and no name where it is kept back.
    let cacheable = request.traits.cacheable && revision.requires_cache_hints();
    let [result_type, ttl, scope, name] = additions;
    let mut complete =
        |additions: &[_]| complete(out, len, object, additions, Some((payload, revision)));
    match (cacheable, config.identify) {
        (true, true) => complete(&[result_type, ttl, scope, name]),
        (true, false) => complete(&[result_type, ttl, scope]),
        (false, true) => complete(&[result_type, name]),
        (false, false) => complete(&[result_type]),
    }
}

/// Questions in place of a result: MR-01..05.
fn write_input<L: IdStorage, P: Place>(
    config: &PreparedConfig<ServerConfig<'_>>,
    request: &InFlight<L, P>,
    input: &InputRequired<'_>,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let revision = request.revision;
    if !revision.has_input_required() || !request.traits.asks_back {
        return Err(SendError::NotInRevision);
    }
    if input.requests.is_empty() && input.state.is_none() {
        return Err(SendError::Encode);
    }
    for (n, (key, question)) in input.requests.iter().enumerate() {
        if !question.method.facts().answer().is_input {
            return Err(SendError::NotInRevision);
        }
        if input.requests.iter().take(n).any(|(other, _)| other == key) {
            return Err(SendError::Encode);
        }
    }
    let mut w = Writer::new(out);
    let mut object = (0, 0);
    envelope::result(&mut w, request.id(), |w| {
        object.0 = w.len();
        w.literal(r#"{"resultType":"input_required""#);
        if !input.requests.is_empty() {
            w.literal(r#","inputRequests":{"#);
            let mut separator = "";
            for (key, question) in input.requests {
                w.literal(separator);
                w.string(key);
                w.literal(r#":{"method":"#);
                w.text_exact(question.method.name());
                w.literal(r#","params":"#);
                question.params.write(w, revision)?;
                w.literal("}");
                separator = ",";
            }
            w.literal("}");
        }
        if let Some(state) = input.state {
            w.literal(r#","requestState":"#);
            w.string(state);
        }
        w.literal("}");
        object.1 = w.len();
        Ok(())
    })
    .map_err(|_: crate::json::EncodeError| SendError::Encode)?;
    let len = w.len();
    let write_name = |w: &mut Writer<'_>| {
        config.texts().write_info(revision, w);
    };
    let name = [identity_of(&write_name)];
    let additions = if config.identify {
        name.as_slice()
    } else {
        &[]
    };
    if len <= out.len() {
        check_questions(out, object, request, input)?;
    }
    complete(out, len, object, additions, None)
}

/// Checks the questions of a payload that is there as a whole.
fn check_questions<L: IdStorage, P: Place>(
    out: &[u8],
    (start, end): (usize, usize),
    request: &InFlight<L, P>,
    input: &InputRequired<'_>,
) -> Result<(), SendError> {
    let written = Raw::parse(out.get(start..end).unwrap_or_default(), MAX_DEPTH)
        .ok()
        .and_then(Raw::object)
        .ok_or(SendError::Encode)?;
    let questions = written.get("inputRequests").and_then(Raw::object);
    for (key, question) in input.requests {
        let params = questions
            .and_then(|questions| questions.get(key)?.object()?.get("params")?.object())
            .ok_or(SendError::Encode)?;
        check_question(question.method, params, request.features, request.revision)?;
    }
    Ok(())
}

/// An error, with a code that its revision has.
fn write_error(
    id: Id<'_>,
    error: &ErrorObject<'_>,
    revision: Revision,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let mut w = Writer::new(out);
    let error = ErrorObject {
        code: code_for_revision(error.code, revision),
        ..*error
    };
    envelope::error(&mut w, Some(id), &error);
    Ok(w.finish()?)
}

/// The code that says the same in this revision (LC-12, JR-23, JR-24, RS-03, RS-04).
fn code_for_revision(code: i64, revision: Revision) -> i64 {
    match code {
        code::RESOURCE_NOT_FOUND => revision.resource_not_found_code(),
        code::URL_ELICITATION_REQUIRED if !revision.has_url_elicitation_error() => {
            code::INTERNAL_ERROR
        }
        // In those revisions the message names the capability that the client lacks.
        code::MISSING_CLIENT_CAPABILITY if !revision.reserves_error_codes() => code::INTERNAL_ERROR,
        // This range is reserved for the specification.
        -32099..=-32020
            if revision.reserves_error_codes()
                && !matches!(
                    code,
                    code::HEADER_MISMATCH
                        | code::MISSING_CLIENT_CAPABILITY
                        | code::UNSUPPORTED_VERSION
                ) =>
        {
            code::INTERNAL_ERROR
        }
        other => code::written(other),
    }
}

/// Returns the addition to `_meta` that names the server (VR-08).
fn identity_of<'a>(value: &'a dyn Fn(&mut Writer<'_>)) -> Addition<'a> {
    Addition {
        key: keys::SERVER_INFO,
        in_meta: true,
        value,
    }
}

const RESULT_TYPE: Addition<'static> = Addition {
    key: "resultType",
    in_meta: false,
    value: &|w| w.literal("\"complete\""),
};

const TIME_TO_LIVE: Addition<'static> = Addition {
    key: "ttlMs",
    in_meta: false,
    value: &|w| w.literal("0"),
};

const CACHE_SCOPE: Addition<'static> = Addition {
    key: "cacheScope",
    in_meta: false,
    value: &|w| w.literal("\"private\""),
};
