//! A client's application and the server's messages, without a transport.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::client::{
    Call, Client, ClientConfig, Event, Failure, Growing, Negotiation, Round, Trace, Unusable,
};
use mcp_proto::model::ClientCapabilities;
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::{
    Instant, Limits, Outbox, Outcome, Payload, PingPolicy, ResultType, Revision, RevisionSet,
    SendError, SentToken, Token, Transmit, Written,
};

use super::every_revision;
use super::script::{fill, member, word};
use super::short::Short;
use super::text::raw;

pub(crate) type Guest = Client<'static, Growing>;

/// The way from the application to its server.
pub(crate) trait Reach {
    fn put<T: Written>(
        &mut self,
        write: impl FnMut(&mut Guest, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError>;

    fn client(&mut self) -> &mut Guest;
}

impl Reach for (&mut Guest, &mut Outbox<Vec<u8>>) {
    fn put<T: Written>(
        &mut self,
        mut write: impl FnMut(&mut Guest, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let (client, outbox) = self;
        outbox.put(|out| write(client, out))
    }

    fn client(&mut self) -> &mut Guest {
        self.0
    }
}

/// A client of one revision that can do everything.
pub(crate) fn config(revision: Revision) -> ClientConfig<'static> {
    ClientConfig {
        capabilities: raw(CAPABILITIES).decode(&mut []).expect("capabilities"),
        revisions: RevisionSet::of(&[revision]),
        ..ClientConfig::new("client", "2.0")
    }
}

const CAPABILITIES: &str = r#"{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

/// Changes the configuration as the command `with` says.
pub(crate) fn configure(config: &mut ClientConfig<'static>, options: &str) {
    for option in options.split(' ') {
        match option {
            "nothing" => config.capabilities = ClientCapabilities::default(),
            "all" => config.revisions = every_revision(),
            "legacy" => config.revisions = RevisionSet::legacy(),
            "handshake" => config.negotiation = Negotiation::Handshake,
            "anonymous" => config.identify = false,
            "pings" => config.ping = Some(PingPolicy::default()),
            "no-alias" => config.cancel_alias = false,
            "no-extension" => config.progress_extends = false,
            "tasks" => {
                config.result_types = &[ResultType {
                    name: "task",
                    extension: "io.modelcontextprotocol/tasks",
                    methods: &["tools/call"],
                }];
            }
            "small" => {
                config.limits = Limits {
                    message: 600,
                    depth: 8,
                    in_flight: 2,
                    batch: 3,
                    ..Limits::default()
                };
            }
            other => panic!("no such option: {other}"),
        }
    }
}

/// The server's messages, and the ids of the client's requests.
#[derive(Default)]
pub(crate) struct Peer {
    /// By the label of a call, or else by the method.
    ids: BTreeMap<String, String>,
}

impl Peer {
    /// Remembers the id of a request that leaves.
    pub(crate) fn heard(&mut self, message: &str) {
        if let (Some(method), Some(id)) = (member(message, "method"), member(message, "id")) {
            self.ids.insert(method.trim_matches('"').to_owned(), id);
        }
    }

    pub(crate) fn label(&mut self, label: &str, id: Option<String>) {
        match id {
            Some(id) => self.ids.insert(label.to_owned(), id),
            None => self.ids.remove(label),
        };
    }

    /// The label of the call that has this id, or the method of the message.
    pub(crate) fn label_of(&self, id: u64, message: &[u8]) -> String {
        let id = id.to_string();
        let call = self.ids.iter().find(|(_, other)| **other == id);
        let method = || {
            let text = core::str::from_utf8(message).expect("messages are text");
            member(text, "method").unwrap_or_default()
        };
        let label = call.map_or_else(method, |(label, _)| label.clone());
        label.trim_matches('"').to_owned()
    }

    pub(crate) fn id(&self, label: &str) -> Option<&str> {
        self.ids.get(label).map(String::as_str)
    }

    /// The text with `$label` replaced by the id of that request; `None` if it was not sent.
    pub(crate) fn fill(&self, text: &str) -> Option<String> {
        fill(text, |label| self.id(label))
    }

    /// The message that a line of the script has; `None` if its label is that of no request.
    pub(crate) fn message(&self, text: &str) -> Option<String> {
        let filled = self.fill(text)?;
        Some(match Short::parse(&filled) {
            Some(short) => short.in_full(),
            None => filled,
        })
    }

    /// What answers the first request of an ordinary opening.
    pub(crate) fn opening(&self, revision: Revision, capabilities: &str) -> String {
        let (id, result) = match revision.is_modern() {
            true => (
                self.id("server/discover"),
                format!(
                    r#"{{"resultType":"complete","supportedVersions":["{revision}"],"capabilities":{capabilities}}}"#
                ),
            ),
            false => (
                self.id("initialize"),
                format!(
                    r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"server","version":"1.0"}}}}"#
                ),
            ),
        };
        let id = id.expect("the first request was sent");
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }
}

/// A call that was made.
struct Made {
    label: String,
    method: String,
    params: Option<String>,
    token: Option<SentToken>,
    options: Options,
}

/// Of the call that follows.
#[derive(Clone, Default)]
struct Options {
    progress: bool,
    timeout: Option<Duration>,
    max_duration: Option<Duration>,
    level: Option<String>,
    trace: Option<String>,
}

#[derive(Default)]
pub(crate) struct User {
    /// By cookie.
    calls: Vec<Made>,
    options: Options,
    questions: Vec<Token>,
    pub(crate) peer: Peer,
    /// How often a session began.
    pub(crate) connected: usize,
}

impl User {
    pub(crate) fn on(&mut self, event: &Event<'_>) {
        match event {
            Event::Connected(_) => self.connected += 1,
            Event::Question { token, .. } => self.questions.push(*token),
            Event::QuestionCancelled { token, .. } => self.questions.retain(|it| it != token),
            _ => {}
        }
    }

    /// Does what a line says.
    pub(crate) fn command(
        &mut self,
        now: Instant,
        (verb, rest): (&str, &str),
        out: &mut impl Reach,
    ) -> Result<(), SendError> {
        let written = match verb {
            "options" => {
                self.options = Options::read(rest);
                return Ok(());
            }
            "call" => {
                let (label, rest) = word(rest);
                let (method, params) = word(rest);
                let params = (!params.is_empty()).then(|| self.peer.fill(params));
                let params = params.flatten();
                self.calls.push(Made {
                    label: label.to_owned(),
                    method: method.to_owned(),
                    params,
                    token: None,
                    options: core::mem::take(&mut self.options),
                });
                let cookie = self.calls.len() - 1;
                self.call(now, cookie, None, out)
            }
            "retry" => {
                let (label, rest) = word(rest);
                let (responses, state) = word(rest);
                let made = self.calls.iter().rposition(|made| made.label == label);
                let made = made.expect("it was called");
                if self.calls[made].token.is_none() {
                    return Ok(());
                }
                self.call(now, made, Some((responses, state)), out)
            }
            "cancel" => {
                let made = self.calls.iter().rfind(|made| made.label == rest);
                if let Some(token) = made.and_then(|made| made.token) {
                    out.client().cancel(token);
                }
                return Ok(());
            }
            "respond" | "refuse" => {
                if self.questions.is_empty() {
                    return Ok(());
                }
                let token = self.questions.remove(0);
                let mut put = |outcome| out.put(|client, out| client.respond(token, outcome, out));
                match verb {
                    "respond" => put(Outcome::Result(&raw(rest))),
                    _ => {
                        let code = rest.parse().expect("a code");
                        put(Outcome::Error(ErrorObject::new(code, "no")))
                    }
                }
            }
            "notify" => {
                let (method, params) = word(rest);
                let params = (!params.is_empty()).then(|| raw(params));
                let params = params.as_ref().map(|params| params as &dyn Payload);
                out.put(|client, out| client.notify(Method::from(method), params, out))
            }
            "end-array" => out.put(|client, out| client.end_batch(out)),
            "begin-array" => return out.client().begin_batch(),
            "hold" => {
                out.client().hold();
                return Ok(());
            }
            "release" => {
                out.client().release();
                return Ok(());
            }
            other => panic!("no such command: {other}"),
        };
        written.map(drop)
    }

    fn call(
        &mut self,
        now: Instant,
        cookie: usize,
        round: Option<(&str, &str)>,
        out: &mut impl Reach,
    ) -> Result<Transmit, SendError> {
        let made = &mut self.calls[cookie];
        let params = made.params.as_deref().map(raw);
        let call = Call {
            params: params.as_ref().map(|params| params as &dyn Payload),
            timeout: made.options.timeout,
            max_duration: made.options.max_duration,
            progress: made.options.progress,
            log_level: made.options.level.as_deref(),
            trace: made.options.trace.as_ref().map(|parent| Trace {
                parent,
                state: None,
                baggage: None,
            }),
            cookie: cookie as u64,
            ..Call::new(Method::from(made.method.as_str()))
        };
        let mut text = Vec::new();
        let written = match (round, made.token) {
            (Some((responses, state)), Some(token)) => {
                let given = |text: &&str| !text.is_empty() && *text != "-";
                let responses = Some(responses).filter(given).map(raw);
                let round = Round {
                    responses: responses.as_ref().map(|it| it as &dyn Payload),
                    state: Some(state).filter(given).map(raw),
                };
                out.put(|client, out| {
                    let transmit = client.retry(now, token, &call, round, out)?;
                    text = out[..transmit.len].to_vec();
                    Ok(transmit)
                })
            }
            _ => {
                let called = out.put(|client, out| {
                    let called = client.call(now, &call, out)?;
                    text = out[..called.1.len].to_vec();
                    Ok(called)
                });
                called.map(|(token, transmit)| {
                    made.token = Some(token);
                    transmit
                })
            }
        };
        let text = core::str::from_utf8(&text).expect("messages are text");
        self.peer.label(&made.label, member(text, "id"));
        written
    }

    fn name(&self, cookie: u64) -> &str {
        let made = usize::try_from(cookie)
            .ok()
            .and_then(|at| self.calls.get(at));
        made.map_or("?", |made| &made.label)
    }

    pub(crate) fn tell(&self, event: &Event<'_>) -> String {
        match event {
            Event::Connected(server) => {
                let name = server.server.and_then(|server| server.get("name"));
                let name = name.map_or(String::new(), |name| format!(" to {}", name.as_str()));
                format!("connected{name} in {}", server.revision)
            }
            Event::ConnectFailed(_) => "not connected".into(),
            Event::Answer {
                cookie, outcome, ..
            } => match outcome {
                Ok(result) => format!("{} answered {}", self.name(*cookie), result.as_str()),
                Err(error) => format!(
                    "{} answered with error {} {}",
                    self.name(*cookie),
                    error.code,
                    error.message
                ),
            },
            Event::Failed {
                cookie, failure, ..
            } => format!("{} failed: {}", self.name(*cookie), failed(*failure)),
            Event::Input {
                cookie,
                requests,
                state,
                ..
            } => {
                let requests = requests.map_or("-", |it| it.as_raw().as_str());
                let state = state.map_or("-", |it| it.as_str());
                format!("{} needs {requests} {state}", self.name(*cookie))
            }
            Event::Again { cookie, .. } => format!("{} is to be sent again", self.name(*cookie)),
            Event::Listening {
                cookie, honoured, ..
            } => format!(
                "{} listens {}",
                self.name(*cookie),
                honoured.as_raw().as_str()
            ),
            Event::Progress {
                cookie,
                progress,
                total,
                message,
                ..
            } => {
                let total = total.map_or(String::new(), |total| format!(" of {}", total.as_str()));
                let message = message.map_or(String::new(), |message| format!(": {message}"));
                let name = self.name(*cookie);
                format!("{name} progress {}{total}{message}", progress.as_str())
            }
            Event::Notification {
                subscription,
                notification,
            } => {
                let whose = subscription.map_or(String::new(), |(_, cookie)| {
                    format!(" for {}", self.name(cookie))
                });
                format!("{}{whose}", notification.method)
            }
            Event::Question { method, params, .. } => {
                format!("asked {method} {}", params.as_raw().as_str())
            }
            Event::QuestionCancelled { reason, .. } => match reason {
                Some(reason) => format!("question cancelled: {reason}"),
                None => "question cancelled".into(),
            },
            Event::PingMissed { misses, limit } => format!("ping missed, {misses} of {limit}"),
            Event::Unusable(unusable) => match unusable {
                Unusable::Invalid(invalid) => format!("unusable: {}", invalid.reason),
                Unusable::Batch => "unusable: an array".into(),
                Unusable::Request(request) => format!("unusable: request {}", request.method),
                Unusable::Error(error) => format!("unusable: error {}", error.code),
                other => format!("{other:?}"),
            },
            Event::Closed(_) => "closed".into(),
            other => format!("{other:?}"),
        }
    }
}

impl Options {
    fn read(text: &str) -> Self {
        let mut options = Self::default();
        for word in text.split(' ') {
            let millis = |text: &str| Duration::from_millis(text.parse().expect("milliseconds"));
            match word.split_once('=') {
                None if word == "progress" => options.progress = true,
                Some(("timeout", text)) => options.timeout = Some(millis(text)),
                Some(("cap", text)) => options.max_duration = Some(millis(text)),
                Some(("level", text)) => options.level = Some(text.to_owned()),
                Some(("trace", text)) => options.trace = Some(text.to_owned()),
                _ => panic!("no such option: {word}"),
            }
        }
        options
    }
}

fn failed(failure: Failure) -> String {
    match failure {
        Failure::Timeout => "no answer in time".into(),
        Failure::Closed => "closed".into(),
        Failure::Invalid(reason) => format!("invalid, {reason}"),
        Failure::Batch => "in an array".into(),
        Failure::Result => "no result of its method".into(),
        Failure::ResultType => "unknown type of result".into(),
        Failure::Input => "unusable input".into(),
        Failure::Rounds => "too many rounds".into(),
        Failure::Ended => "ended by the server".into(),
        Failure::Status(status) => format!("status {status}"),
        Failure::Unreachable => "unreachable".into(),
        Failure::Broken => "broken off".into(),
        Failure::NoAnswer => "no answer".into(),
        Failure::Session => "session lost".into(),
        other => format!("{other:?}"),
    }
}
