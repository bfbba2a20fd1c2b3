//! A site without sockets: heads and bodies go in, statuses and messages by channel come out.

#[cfg(feature = "alloc")]
use crate::http_server::twin::Twin;
use mcp_proto::http::{Endpoint, Head, Opening, Post, Refusal, Route};
use mcp_proto::json::Raw;
use mcp_proto::model::{
    LoggingLevel, PromptsCapability, ResourcesCapability, ServerCapabilities, Settings,
    ToolsCapability,
};
use mcp_proto::rpc::{ErrorObject, Incoming, Messages};
use mcp_proto::server::{
    Answer, AskOptions, Event, Fixed, OverHttp, Progress, Record, Server, ServerConfig,
};
use mcp_proto::{
    Action, Channel, InputRequired, Instant, Machine, Outcome, Question, RevisionSet, SendError,
    SentToken, Source, Token, Transmit,
};

pub(crate) use crate::http_server::requests::*;

pub(crate) type Small = OverHttp<Fixed<64, 8, 4, 4096, 256>>;

/// What everything in these tests serves.
pub(crate) fn config() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerCapabilities {
            tools: Some(ToolsCapability { list_changed: true }),
            prompts: Some(PromptsCapability { list_changed: true }),
            resources: Some(ResourcesCapability {
                subscribe: true,
                list_changed: true,
            }),
            logging: Some(Settings::default()),
            ..ServerCapabilities::default()
        },
        ..ServerConfig::new("s", "1")
    }
}

/// A request's head: fields in the order in which they were sent.
pub(crate) struct Sent<'t> {
    method: &'t str,
    fields: Vec<(&'t str, &'t str)>,
}

impl<'t> Sent<'t> {
    /// The usual head of a POST, changed by `with`: `name: value` sets a field, `+name: value`
    /// adds a line, `-name` takes it away.
    pub(crate) fn post(with: &[&'t str]) -> Self {
        let mut fields = vec![
            ("Host", "localhost:8000"),
            ("Accept", "application/json, text/event-stream"),
            ("Content-Type", "application/json"),
        ];
        for change in with {
            if let Some(name) = change.strip_prefix('-') {
                fields.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
                continue;
            }
            let (name, value) = change.split_once(':').unwrap();
            match name.strip_prefix('+') {
                Some(name) => fields.push((name, value)),
                None => {
                    fields.retain(|(key, _)| !key.eq_ignore_ascii_case(name));
                    fields.push((name, value));
                }
            }
        }
        Self {
            method: "POST",
            fields,
        }
    }
}

impl Head for Sent<'_> {
    fn method(&self) -> &str {
        self.method
    }

    fn path(&self) -> &str {
        "/mcp"
    }

    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        for (key, value) in &self.fields {
            if key.eq_ignore_ascii_case(name) {
                each(value.as_bytes());
            }
        }
    }
}

/// An endpoint, the sessions behind it, and the machine of the last exchange without one.
pub(crate) struct Site {
    pub(crate) endpoint: Endpoint<'static>,
    pub(crate) config: ServerConfig<'static>,
    sessions: Vec<Talk>,
    pub(crate) alone: Option<Talk>,
    posts: u32,
    /// The driver, as long as it has seen all that the machines have.
    #[cfg(feature = "alloc")]
    twin: Option<Twin>,
    /// A test has done something with a session that the driver was not told.
    #[cfg(feature = "alloc")]
    is_alone: bool,
}

impl Site {
    pub(crate) fn new() -> Self {
        Self::of(config())
    }

    pub(crate) fn of(config: ServerConfig<'static>) -> Self {
        Self {
            endpoint: Endpoint {
                revisions: config.revisions,
                ..Endpoint::default()
            },
            config,
            sessions: Vec::new(),
            alone: None,
            posts: 0,
            #[cfg(feature = "alloc")]
            twin: None,
            #[cfg(feature = "alloc")]
            is_alone: false,
        }
    }

    pub(crate) fn serving(revisions: RevisionSet) -> Self {
        Self::of(ServerConfig {
            revisions,
            ..config()
        })
    }

    /// A site with one session, `s0`, of this revision and with this client.
    #[track_caller]
    pub(crate) fn open(config: ServerConfig<'static>, version: &str, capabilities: &str) -> Self {
        let mut site = Self::of(config);
        site.check(&[], &initialize(version, capabilities), "200 result");
        let draft = [
            "mcp-session-id: s0",
            "mcp-method: notifications/initialized",
        ];
        site.check(&draft, INITIALIZED, "202");
        site.sessions[0].seen.clear();
        site.sessions[0].sent.clear();
        site
    }

    /// A session, with which the test does what the driver is not told.
    pub(crate) fn session(&mut self, n: usize) -> &mut Talk {
        #[cfg(feature = "alloc")]
        {
            self.is_alone = true;
        }
        &mut self.sessions[n]
    }

    /// The channel of the last POST.
    pub(crate) fn last(&self) -> Channel {
        Channel::new(self.posts)
    }

    /// Sends a POST and says in short what comes of it at once.
    #[track_caller]
    pub(crate) fn check(&mut self, fields: &[&str], body: &str, expected: &str) -> &mut Self {
        let found = self.post(fields, body);
        assert_eq!(found, expected, "{fields:?} {body}");
        self
    }

    /// The status and what is said; `open` if more is to come. Its channel is the number of the
    /// POST, counted from 1.
    #[track_caller]
    pub(crate) fn post(&mut self, fields: &[&str], body: &str) -> String {
        let head = Sent::post(fields);
        let said = self.answer(&head, body);
        #[cfg(feature = "alloc")]
        if !self.is_alone && self.endpoint.revisions == self.config.revisions {
            let twin = self
                .twin
                .get_or_insert_with(|| Twin::new(self.endpoint, self.config));
            // That there is no such session it says in words.
            let found = twin.post(&head, body);
            let found = found
                .strip_suffix(" -32600")
                .filter(|_| said == "404")
                .unwrap_or(&found);
            assert_eq!(found, said, "{fields:?} {body}");
        }
        said
    }

    #[track_caller]
    fn answer(&mut self, head: &Sent<'_>, body: &str) -> String {
        let post = match self.endpoint.open(head) {
            Ok(Opening::Post(post)) => post,
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => return refused(refusal),
        };
        self.posts += 1;
        let channel = Channel::new(self.posts);
        let first = Messages::new(body.as_bytes(), 32).next().unwrap();
        let talk = match self.endpoint.route(&post, &first) {
            Route::Refuse(refusal) => return refused(refusal),
            Route::Session(id) => {
                let known = id.as_str().strip_prefix('s').and_then(|n| n.parse().ok());
                match known.and_then(|n: usize| self.sessions.get_mut(n)) {
                    Some(talk) => talk,
                    None => return "404".into(),
                }
            }
            Route::Initialize => {
                self.sessions.push(Talk::new(self.config));
                self.sessions.last_mut().unwrap()
            }
            Route::Modern => self.alone.insert(Talk::new(self.config)),
            Route::Stateless(revision) => {
                let record = Record::stateless(revision);
                self.alone.insert(Talk::resume(self.config, &record))
            }
        };
        let from = talk.sent.len();
        let status = talk.read(channel, &post, body);
        let said = &talk.sent[from..];
        let mine: Vec<&Said> = said.iter().filter(|it| it.channel == channel).collect();
        match (mine.first(), status) {
            (None, Some(status)) => status.to_string(),
            (None, None) => "open".into(),
            (Some(first), _) => {
                let words: Vec<String> = mine.iter().filter_map(|it| it.short()).collect();
                let end = mine.iter().any(|it| it.end);
                let open = if end { "" } else { " open" };
                format!("{} {}{open}", first.status, words.join(" "))
            }
        }
    }
}

fn refused(refusal: Refusal) -> String {
    let mut body = [0; 256];
    let len = refusal.write(&mut body).unwrap();
    Raw::parse(&body[..len], 8).expect("what is written is JSON");
    format!("{} {}", refusal.status(), refusal.code())
}

/// What a machine said.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said {
    pub(crate) channel: Channel,
    pub(crate) text: String,
    pub(crate) end: bool,
    pub(crate) status: u16,
}

impl Said {
    /// `result`, a code, a method, or all of them of an array; `None` for an end alone.
    pub(crate) fn short(&self) -> Option<String> {
        if self.text.is_empty() {
            assert!(self.end);
            return None;
        }
        Some(short_text(&self.text))
    }
}

/// A token of either kind: both are numbered in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Request(Token),
    Question(SentToken),
}

/// One machine, its application and what came of both.
pub(crate) struct Talk {
    pub(crate) server: Server<'static, Small>,
    pub(crate) now: Instant,
    pub(crate) seen: Vec<String>,
    pub(crate) sent: Vec<Said>,
    tokens: Vec<Name>,
    questions: Vec<SentToken>,
}

impl Talk {
    fn new(config: ServerConfig<'static>) -> Self {
        Self::with(Server::new(config, Small::default()).unwrap())
    }

    pub(crate) fn resume(config: ServerConfig<'static>, record: &Record) -> Self {
        let server = Server::resume(Instant::ZERO, config, Small::default(), record);
        Self::with(server.unwrap())
    }

    fn with(server: Server<'static, Small>) -> Self {
        Self {
            server,
            now: Instant::ZERO,
            seen: Vec::new(),
            sent: Vec::new(),
            tokens: Vec::new(),
            questions: Vec::new(),
        }
    }

    /// Hands in a body; tools are answered at once, but for those that `wait`.
    #[track_caller]
    fn read(&mut self, channel: Channel, post: &Post<'_>, body: &str) -> Option<u16> {
        let source = Source::post(channel, post);
        let mut status = None;
        let mut answered = false;
        for incoming in Messages::new(body.as_bytes(), 32) {
            self.drain();
            let inside = !matches!(incoming, Incoming::BatchStart | Incoming::BatchEnd);
            let action = self.server.handle(self.now, &source, incoming);
            answered |= action.http_status().is_none();
            status = action.http_status().filter(|_| inside).or(status);
            match action {
                Action::Event(event) => {
                    self.drain();
                    let waits = see(&mut self.seen, &mut self.tokens, &event);
                    if let Event::Request { token, .. } = event
                        && !waits
                    {
                        let n = self.number(token);
                        self.answer(n, "{}");
                    }
                }
                Action::Reply(reply) => {
                    let (now, server) = (self.now, &mut self.server);
                    let reserve = server.reserve();
                    let (transmit, text) = whole(|out| server.reply(now, reply, out)).unwrap();
                    assert!(text.len() <= reserve, "{} > {reserve}", text.len());
                    self.note(transmit, text);
                }
                Action::Ignore(_) => {}
            }
        }
        self.drain();
        status.filter(|_| !answered)
    }

    /// What follows from state.
    #[track_caller]
    pub(crate) fn drain(&mut self) -> &mut Self {
        while let Some(channel) = self.server.next_channel() {
            let (now, server) = (self.now, &mut self.server);
            let (transmit, text) = whole(|out| server.poll_transmit(now, channel, out)).unwrap();
            let Some(transmit) = transmit else { break };
            assert_eq!(transmit.channel, channel);
            self.note(transmit, text);
        }
        match self.server.poll_event() {
            Some(event) => {
                see(&mut self.seen, &mut self.tokens, &event);
                self.drain()
            }
            None => self,
        }
    }

    /// Time passes.
    #[track_caller]
    pub(crate) fn wait(&mut self, millis: u64) -> &mut Self {
        self.now = Instant::from_millis(self.now.as_millis() + millis);
        self.server.handle_timeout(self.now);
        self.drain()
    }

    fn note(&mut self, transmit: Transmit, text: String) {
        // Nothing at all is what is gathered.
        if transmit.len > 0 || transmit.end {
            self.sent.push(Said {
                channel: transmit.channel,
                text,
                end: transmit.end,
                status: transmit.status,
            });
        }
    }

    fn number(&self, token: Token) -> usize {
        let name = Name::Request(token);
        let found = self.tokens.iter().position(|other| *other == name);
        found.expect("an event named it")
    }

    /// The requests that are still to be answered.
    pub(crate) fn live(&self) -> Vec<usize> {
        let live = |n: &usize| match self.tokens[*n] {
            Name::Request(token) => self.server.is_live(token),
            Name::Question(_) => false,
        };
        (0..self.tokens.len()).filter(live).collect()
    }

    /// The questions that were asked.
    pub(crate) fn questions(&self) -> &[SentToken] {
        &self.questions
    }

    #[track_caller]
    pub(crate) fn token(&self, n: usize) -> Token {
        match self.tokens[n] {
            Name::Request(token) => token,
            Name::Question(_) => panic!("{n} is a question"),
        }
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, n: usize, result: &str) -> &mut Self {
        self.outcome(n, Outcome::Result(&raw(result)))
    }

    #[track_caller]
    pub(crate) fn fail(&mut self, n: usize, code: i64) -> &mut Self {
        self.outcome(n, Outcome::Error(ErrorObject::new(code, "no")))
    }

    /// Answers that input is required, with this state alone.
    #[track_caller]
    pub(crate) fn need(&mut self, n: usize, state: &str) -> &mut Self {
        let input = InputRequired {
            requests: &[],
            state: Some(state),
        };
        self.outcome(n, Outcome::Input(input))
    }

    #[track_caller]
    fn outcome(&mut self, n: usize, outcome: Outcome<'_>) -> &mut Self {
        let (token, now, server) = (self.token(n), self.now, &mut self.server);
        let (transmit, text) = whole(|out| server.respond(now, token, outcome, out)).unwrap();
        self.note(transmit, text);
        self.drain()
    }

    #[track_caller]
    pub(crate) fn progress(&mut self, n: usize, value: f64) -> &mut Self {
        let (token, now, server) = (self.token(n), self.now, &mut self.server);
        let progress = Progress::new(value);
        let (transmit, text) = whole(|out| server.progress(now, token, progress, out)).unwrap();
        self.note(transmit, text);
        self
    }

    #[track_caller]
    pub(crate) fn log(&mut self, n: Option<usize>) -> &mut Self {
        let (token, now) = (n.map(|n| self.token(n)), self.now);
        let server = &mut self.server;
        let level = LoggingLevel::Error;
        let (transmit, text) =
            whole(|out| server.log(now, token, level, None, &"text", out)).unwrap();
        if let Some(transmit) = transmit {
            self.note(transmit, text);
        }
        self
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, parent: Option<usize>) -> Result<usize, SendError> {
        let (parent, now) = (parent.map(|n| self.token(n)), self.now);
        let server = &mut self.server;
        let params = raw("{}");
        let ((token, transmit), text) = whole(|out| {
            let question = Question {
                method: "roots/list".into(),
                params: &params,
            };
            server.ask(now, parent, question, AskOptions::default(), out)
        })?;
        self.note(transmit, text);
        self.tokens.push(Name::Question(token));
        self.questions.push(token);
        Ok(self.tokens.len() - 1)
    }

    /// What was said since the last look, each `channel: message`, with a `.` behind the last
    /// one of its channel.
    #[track_caller]
    pub(crate) fn says(&mut self, expected: &[&str]) -> &mut Self {
        let found: Vec<String> = self
            .sent
            .iter()
            .map(|said| {
                let words = said.short().unwrap_or_default();
                let end = if said.end { "." } else { "" };
                format!("{}: {words}{end}", said.channel.number())
            })
            .collect();
        assert_eq!(found, expected);
        self.sent.clear();
        self
    }

    /// The events since the last look.
    #[track_caller]
    pub(crate) fn sees(&mut self, expected: &[&str]) -> &mut Self {
        assert_eq!(self.seen, expected);
        self.seen.clear();
        self
    }
}

/// Notes an event, and says whether it is a request that is not answered at once.
fn see(seen: &mut Vec<String>, tokens: &mut Vec<Name>, event: &Event<'_>) -> bool {
    let mut number = |name: Name| {
        let found = tokens.iter().position(|other| *other == name);
        found.unwrap_or_else(|| {
            tokens.push(name);
            tokens.len() - 1
        })
    };
    let (waits, text) = match event {
        Event::Request {
            token,
            method,
            context,
            ..
        } => {
            let subject = context.subject.map_or(String::new(), |it| format!(" {it}"));
            let waits = subject == " wait";
            (
                waits,
                format!(
                    "request {} {method}{subject}",
                    number(Name::Request(*token))
                ),
            )
        }
        Event::Listening { token, .. } => {
            (true, format!("listening {}", number(Name::Request(*token))))
        }
        Event::Cancelled { token, .. } => (
            false,
            format!("cancelled {}", number(Name::Request(*token))),
        ),
        Event::Notification { method, .. } => (false, format!("notification {method}")),
        Event::Answer { token, answer, .. } => {
            let answer = match answer {
                Answer::Result(raw) => raw.as_str().into(),
                Answer::Error(error) => format!("error {}", error.code),
                other => format!("{other:?}"),
            };
            (
                false,
                format!("answer {} {answer}", number(Name::Question(*token))),
            )
        }
        Event::Initialized => (false, "initialized".into()),
        Event::Closed => (false, "closed".into()),
        other => (false, format!("{other:?}")),
    };
    seen.push(text);
    waits
}

/// Writes into buffers that are too small, which changes nothing, and then into one that is just
/// long enough.
#[track_caller]
fn whole<T, E: Into<SendError>>(
    mut write: impl FnMut(&mut [u8]) -> Result<T, E>,
) -> Result<(T, String), SendError>
where
    T: mcp_proto::Written,
{
    let mut size = 0;
    let mut need = None;
    loop {
        let mut out = vec![0xAA; size];
        match write(&mut out).map_err(Into::into) {
            Ok(written) => {
                let len = written.transmit().map_or(0, |transmit| transmit.len);
                assert!(need.is_none_or(|need| need == size), "{need:?} {size}");
                let text = String::from_utf8(out[..len].to_vec()).unwrap();
                return Ok((written, text));
            }
            Err(SendError::BufferFull { needed }) => {
                assert!(needed > size, "{needed} {size}");
                assert_eq!(*need.get_or_insert(needed), needed);
                size = if size == 0 { needed - 1 } else { needed };
            }
            Err(other) => return Err(other),
        }
    }
}
