//! A site without sockets: heads and bodies go in, statuses and messages by channel come out.

#[cfg(feature = "alloc")]
use crate::http_server::twin::Twin;
use mcp_proto::http::{Endpoint, Opening, Post, Refusal, Route};
use mcp_proto::json::Raw;
use mcp_proto::model::LoggingLevel;
use mcp_proto::rpc::{ErrorObject, Incoming, Messages, OwnedMessages};
use mcp_proto::server::{
    AskOptions, Event, Fixed, OverHttp, ProgressReport, Server, ServerConfig, SessionSnapshot,
};
use mcp_proto::{
    Action, Channel, InputRequired, Instant, Machine, Outcome, Question, RevisionSet, SendError,
    SentToken, Source, Token, Written,
};

pub(crate) use crate::http::Sent;
pub(crate) use crate::http_server::requests::*;
use crate::script::server::Host;
pub(crate) use crate::script::server::config;
use crate::script::{Fit, fit};

pub(crate) type Small = OverHttp<Fixed<8, 4, 4096, 256>>;

/// A request that was cancelled leaves the table with the first look at its exchange.
const FIT: Fit = Fit {
    names_exactly: false,
    is_unchanged: false,
    tries: 1,
};

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
    fn answer(&mut self, head: &Sent, body: &str) -> String {
        let post = match self.endpoint.open(head) {
            Ok(Opening::Post(post)) => post,
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => return refused(refusal),
        };
        self.posts += 1;
        let channel = Channel::new(self.posts);
        let parsed = OwnedMessages::parse(body, 32);
        let talk = match self.endpoint.route_body(&post, &parsed) {
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
                let snapshot = SessionSnapshot::stateless(revision);
                self.alone.insert(Talk::resume(self.config, &snapshot))
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

/// One machine, its application and what came of both.
pub(crate) struct Talk {
    pub(crate) server: Server<'static, Small>,
    pub(crate) now: Instant,
    pub(crate) seen: Vec<String>,
    pub(crate) sent: Vec<Said>,
    host: Host,
    questions: Vec<SentToken>,
}

impl Talk {
    fn new(config: ServerConfig<'static>) -> Self {
        Self {
            server: Server::new(config, Small::default()).unwrap(),
            now: Instant::ZERO,
            seen: Vec::new(),
            sent: Vec::new(),
            host: Host::default(),
            questions: Vec::new(),
        }
    }

    pub(crate) fn resume(config: ServerConfig<'static>, snapshot: &SessionSnapshot) -> Self {
        let mut talk = Self::new(config);
        talk.server.resume(Instant::ZERO, snapshot);
        talk
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
                    self.seen.push(self.host.tell(&event));
                    if let Event::Request { token, context, .. } = event
                        && context.subject.is_none_or(|tool| tool != "wait")
                    {
                        self.respond(token, Outcome::Result(&raw("{}")));
                    }
                }
                Action::Reply(reply) => {
                    let (now, reserve) = (self.now, self.server.reserve());
                    let sent = self.send(|server, out| Ok(server.reply(now, reply, out)?));
                    let len = sent.unwrap().len;
                    assert!(len <= reserve, "{len} > {reserve}");
                }
                Action::Done | Action::Ignore(_) => {}
            }
        }
        self.drain();
        status.filter(|_| !answered)
    }

    /// What follows from state.
    #[track_caller]
    pub(crate) fn drain(&mut self) -> &mut Self {
        while let Some(channel) = self.server.next_channel() {
            let now = self.now;
            let sent = self.send(|server, out| Ok(server.poll_transmit(now, channel, out)?));
            let Some(transmit) = sent.unwrap() else { break };
            assert_eq!(transmit.channel, channel);
        }
        match self.server.poll_event() {
            Some(event) => {
                self.seen.push(self.host.tell(&event));
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

    #[track_caller]
    fn send<T: Written>(
        &mut self,
        mut message: impl FnMut(&mut Server<'static, Small>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let (written, text) = fit(&mut self.server, FIT, &mut message)?;
        // Nothing at all is what is gathered.
        if let Some(transmit) = written.transmit()
            && (transmit.len > 0 || transmit.end)
        {
            let raw = Raw::parse(text.as_bytes(), 64).ok();
            let object = raw.and_then(|raw| raw.object());
            let is_error = object.is_some_and(|it| it.get("error").is_some());
            assert_eq!(transmit.is_error, is_error, "{text}");
            self.sent.push(Said {
                channel: transmit.channel,
                text,
                end: transmit.end,
                status: transmit.status,
            });
        }
        Ok(written)
    }

    /// The requests that are still to be answered.
    pub(crate) fn live(&self) -> Vec<usize> {
        self.host.live(&self.server)
    }

    /// The questions that were asked.
    pub(crate) fn questions(&self) -> &[SentToken] {
        &self.questions
    }

    #[track_caller]
    pub(crate) fn token(&self, n: usize) -> Token {
        self.host.token(n)
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
        self.respond(self.token(n), outcome)
    }

    #[track_caller]
    fn respond(&mut self, token: Token, outcome: Outcome<'_>) -> &mut Self {
        let _ = self
            .send(|server, out| server.respond(token, outcome, out))
            .unwrap();
        self.drain()
    }

    #[track_caller]
    pub(crate) fn progress(&mut self, n: usize, value: f64) -> &mut Self {
        let (token, now) = (self.token(n), self.now);
        let progress = ProgressReport::new(value);
        let sent = self.send(|server, out| server.progress(now, token, progress, out));
        let _ = sent.unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn log(&mut self, n: Option<usize>) -> &mut Self {
        let token = n.map(|n| self.token(n));
        let level = LoggingLevel::Error;
        self.send(|server, out| server.log(token, level, None, &"text", out))
            .unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn ask(&mut self, parent: Option<usize>) -> Result<usize, SendError> {
        let (parent, now) = (parent.map(|n| self.token(n)), self.now);
        let params = raw("{}");
        let question = Question {
            method: "roots/list".into(),
            params: &params,
        };
        let options = AskOptions::default();
        let (token, _) =
            self.send(|server, out| server.ask(now, parent, question, options, out))?;
        self.questions.push(token);
        Ok(self.host.asked(token))
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
