//! The server's part of the scripts.
//!
//! ```text
//! answer 0 {}                         answers a request, which has the number of its event
//! fail 0 -32002                       with an error
//! input 0 state                       that input is required, with this state alone
//! progress 0 1 of 2: text             reports progress; total and message may be missing
//! log 0 error "text"                  logs for a request, or for the session (`-`)
//! ask 0 roots/list {} timeout=1000    asks the client; the next number is the question's
//! give-up 1                           gives up a question
//! changed tools                       a list has changed
//! updated file:///a                   a resource has changed
//! acknowledge 0 {"key":true}          acknowledges a held subscription, with these members
//! notify-for 0 notifications/x {}     sends a notification for a request or a subscription
//! end 0                               ends a subscription
//! forget 0                            the request comes again
//! open 2025-11-25 {}                  a handshake, up to `initialized`
//! in-flight, live 0, watched a:b      state, as if it were an event
//! closed, revision, timeout
//! cancel-all                          cancels all requests
//! transmit                            writes one message that follows from state
//! ```
//!
//! In messages, `META` stands for the `_meta` of a request of 2026-07-28, and `MODERN` for its
//! members. A test that computes its messages uses the same player without a script.

use core::time::Duration;

use mcp_proto::model::{LoggingLevel, ServerFeatures};
use mcp_proto::rpc::{ErrorObject, Method};
use mcp_proto::server::{
    Answer, AskOptions, Event, Fixed, ListKind, ProgressReport, Reply, Server, ServerConfig,
    Storage,
};
use mcp_proto::{
    BufferFull, Channel, IgnoreReason, InputRequired, Instant, Machine, Outcome, Payload, Question,
    SendError, SentToken, Token, Transmit,
};

pub(crate) use super::messages::*;
use super::{Fit, Line, Player, Role};

pub(crate) type Small = Fixed<8, 4, 4096, 256>;

/// A server, its application, and what both did.
pub(crate) type Talk = Player<Host>;

/// Plays a script.
#[track_caller]
pub(crate) fn check(config: ServerConfig<'static>, script: &str) {
    let script = filled(script);
    Talk::with(config).play(&script);
    Talk::with(config).in_bytes().play(&script);
}

/// Plays a script in a legacy session of this revision with this client.
#[track_caller]
pub(crate) fn check_opened(
    config: ServerConfig<'static>,
    version: &str,
    capabilities: &str,
    script: &str,
) {
    let script = filled(script);
    Talk::open(config, version, capabilities).play(&script);
    Talk::open(config, version, capabilities)
        .in_bytes()
        .play(&script);
}

fn filled(script: &str) -> String {
    let modern = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    script
        .replace("META", r#""_meta":{MODERN}"#)
        .replace("MODERN", modern)
}

/// What everything in these tests serves.
pub(crate) fn config() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .with(ServerFeatures::PROMPTS)
            .with(ServerFeatures::PROMPTS_LIST_CHANGED)
            .with(ServerFeatures::RESOURCES)
            .with(ServerFeatures::RESOURCES_SUBSCRIBE)
            .with(ServerFeatures::RESOURCES_LIST_CHANGED)
            .with(ServerFeatures::LOGGING)
            .capabilities(),
        ..ServerConfig::new("s", "1")
    }
}

/// A token of either kind: both are numbered in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Request(Token),
    Question(SentToken),
}

/// The application of a server.
#[derive(Default)]
pub(crate) struct Host {
    tokens: Vec<Name>,
}

impl Role for Host {
    type Machine = Server<'static, Small>;

    const WRITES: &'static str = "<";
    const READS: &'static str = ">";
    const START: Instant = Instant::ZERO;
    const FIT: Fit = Fit {
        names_exactly: false,
        is_unchanged: true,
        tries: 600,
    };

    fn reply(
        machine: &mut Self::Machine,
        now: Instant,
        reply: &Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        machine.reply(now, *reply, out)
    }

    fn tell(&mut self, event: &Event<'_>) -> String {
        match event {
            Event::Initialized => "initialized".into(),
            Event::Request {
                token,
                method,
                context,
                ..
            } => match context.subject {
                Some(subject) => format!(
                    "request {} {method} {subject}",
                    self.number(Name::Request(*token))
                ),
                None => format!("request {} {method}", self.number(Name::Request(*token))),
            },
            Event::Overdue { token } => {
                format!("overdue {}", self.number(Name::Request(*token)))
            }
            Event::Cancelled { token, reason } => match reason {
                Some(reason) => {
                    format!("cancelled {} {reason}", self.number(Name::Request(*token)))
                }
                None => format!("cancelled {}", self.number(Name::Request(*token))),
            },
            Event::Listening {
                token,
                held: true,
                filter,
                ..
            } => {
                let filter = filter.as_raw().as_str();
                format!("held {} {filter}", self.number(Name::Request(*token)))
            }
            Event::Listening { token, .. } => {
                format!("listening {}", self.number(Name::Request(*token)))
            }
            Event::Notification { method, .. } => format!("notification {method}"),
            Event::Progress {
                token,
                cookie,
                progress,
                ..
            } => format!(
                "progress {} {cookie} {}",
                self.number(Name::Question(*token)),
                progress.as_str()
            ),
            Event::Answer {
                token,
                cookie,
                answer,
            } => {
                let answer = match answer {
                    Answer::Result(raw) => raw.as_str().into(),
                    Answer::Error(error) => format!("error {}", error.code),
                    other => format!("{other:?}"),
                };
                format!(
                    "answer {} {cookie} {answer}",
                    self.number(Name::Question(*token))
                )
            }
            Event::PingMissed { misses, limit } => format!("missed {misses} of {limit}"),
            Event::Closed => "closed".into(),
            other => format!("{other:?}"),
        }
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let (first, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let n = first.parse();
        let done = match verb {
            "open" => {
                player.say(&initialize(first, rest));
                assert_eq!(player.heard().len(), 1);
                Ok(())
            }
            "answer" => player.outcome(n.unwrap(), Outcome::Result(&raw(rest))),
            "fail" => {
                let error = ErrorObject::new(rest.parse().unwrap(), "no");
                player.outcome(n.unwrap(), Outcome::Error(error))
            }
            "input" => {
                let input = InputRequired {
                    requests: &[],
                    state: Some(rest),
                };
                player.need(n.unwrap(), input)
            }
            "progress" => {
                let (rest, message) = match rest.split_once(": ") {
                    Some((rest, message)) => (rest, Some(message)),
                    None => (rest, None),
                };
                let (value, total) = match rest.split_once(" of ") {
                    Some((value, total)) => (value, Some(total.parse().unwrap())),
                    None => (rest, None),
                };
                let progress = ProgressReport {
                    total,
                    message,
                    ..ProgressReport::new(value.parse().unwrap())
                };
                player.progress(n.unwrap(), progress)
            }
            "log" => {
                let (level, data) = rest.split_once(' ').unwrap();
                let level = raw(&format!("\"{level}\"")).decode(&mut []).unwrap();
                player.log(n.ok(), level, data)
            }
            "ask" => {
                let mut words = rest.split(' ');
                let (method, params) = (words.next().unwrap(), words.next().unwrap_or("{}"));
                let mut options = AskOptions::default();
                for word in words {
                    match word.split_once('=') {
                        None if word == "progress" => options.progress = true,
                        Some(("timeout", millis)) => {
                            options.timeout = Duration::from_millis(millis.parse().unwrap());
                        }
                        Some(("cap", millis)) => {
                            options.max_duration = Duration::from_millis(millis.parse().unwrap());
                        }
                        Some(("cookie", cookie)) => options.cookie = cookie.parse().unwrap(),
                        _ => panic!("no such option: {word}"),
                    }
                }
                player.ask(n.ok(), method, params, options).map(drop)
            }
            "give-up" => {
                let question = player.question(n.unwrap());
                player.machine.cancel(question);
                Ok(())
            }
            "changed" => {
                player.machine.list_changed(match first {
                    "tools" => ListKind::Tools,
                    "prompts" => ListKind::Prompts,
                    "resources" => ListKind::Resources,
                    other => panic!("no such list: {other}"),
                });
                Ok(())
            }
            "updated" => {
                player.machine.resource_updated(first);
                Ok(())
            }
            "acknowledge" => {
                let accepted: Vec<_> = raw(rest)
                    .object()
                    .unwrap()
                    .members()
                    .map(|(key, value)| (key.to_cow(), value))
                    .collect();
                let accepted: Vec<(&str, &dyn Payload)> = accepted
                    .iter()
                    .map(|(key, value)| (&**key, value as &dyn Payload))
                    .collect();
                let token = player.token(n.unwrap());
                let sent = player.send(|server, out| server.acknowledge(token, &accepted, out));
                player.drain();
                sent.map(drop)
            }
            "notify-for" => {
                let (method, params) = rest.split_once(' ').unwrap_or((rest, ""));
                let params = (!params.is_empty()).then(|| raw(params));
                let params = params.as_ref().map(|params| params as &dyn Payload);
                let token = player.token(n.unwrap());
                let method = Method::from(method);
                let sent = player.send(|server, out| server.notify_for(token, method, params, out));
                sent.map(drop)
            }
            "end" => {
                let token = player.token(n.unwrap());
                player.machine.end_listen(token);
                Ok(())
            }
            "forget" => {
                let token = player.token(n.unwrap());
                player.machine.unhandle(token);
                Ok(())
            }
            "transmit" => {
                let now = player.now;
                let sent =
                    player.send(|server, out| Ok(server.poll_transmit(now, Channel::PIPE, out)?));
                assert!(sent.unwrap().is_some());
                Ok(())
            }
            "cancel-all" => {
                player.machine.cancel_all();
                Ok(())
            }
            state => {
                let text = player.state(state, first);
                player.log.push_back(Line::Event(text));
                Ok(())
            }
        };
        player.note(done);
    }
}

impl Host {
    /// The `n`th token, which is that of a request.
    #[track_caller]
    pub(crate) fn token(&self, n: usize) -> Token {
        match self.tokens[n] {
            Name::Request(token) => token,
            Name::Question(_) => panic!("{n} is a question"),
        }
    }

    /// The `n`th token, which is that of a question.
    #[track_caller]
    pub(crate) fn question(&self, n: usize) -> SentToken {
        match self.tokens[n] {
            Name::Question(token) => token,
            Name::Request(_) => panic!("{n} is a request"),
        }
    }

    /// Numbers a question.
    pub(crate) fn asked(&mut self, question: SentToken) -> usize {
        self.number(Name::Question(question))
    }

    /// The requests that this machine has still to answer.
    pub(crate) fn live<S: Storage>(&self, server: &Server<'_, S>) -> Vec<usize> {
        let live = |n: &usize| match self.tokens[*n] {
            Name::Request(token) => server.is_live(token),
            Name::Question(_) => false,
        };
        (0..self.tokens.len()).filter(live).collect()
    }

    fn number(&mut self, name: Name) -> usize {
        let found = self.tokens.iter().position(|other| *other == name);
        found.unwrap_or_else(|| {
            self.tokens.push(name);
            self.tokens.len() - 1
        })
    }
}

impl Talk {
    fn state(&self, name: &str, of: &str) -> String {
        let server = &self.machine;
        match name {
            "in-flight" => server.in_flight().to_string(),
            "live" => server.is_live(self.token(of.parse().unwrap())).to_string(),
            "watched" => server.is_watched(of).to_string(),
            "closed" => server.is_closed().to_string(),
            "revision" => server.revision().map_or("none", |it| it.as_str()).into(),
            "timeout" => match server.poll_timeout() {
                Some(due) => due.saturating_since(self.now).as_millis().to_string(),
                None => "none".into(),
            },
            other => panic!("no such command: {other}"),
        }
    }

    pub(crate) fn with(config: ServerConfig<'static>) -> Self {
        let server = Server::new(config, Small::default()).unwrap();
        Self::new(server, Host::default(), &config.limits)
    }

    /// A legacy session of this revision with this client, ready for work.
    pub(crate) fn open(config: ServerConfig<'static>, version: &str, capabilities: &str) -> Self {
        let mut talk = Self::with(config);
        talk.say(&initialize(version, capabilities));
        talk.say(INITIALIZED);
        assert_eq!(talk.heard().len(), 1);
        talk.sees(&["initialized"]);
        talk
    }

    /// The client writes a line.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) -> &mut Self {
        self.bytes(line.as_bytes()).bytes(b"\n")
    }

    /// The client writes some bytes.
    #[track_caller]
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.feed(bytes);
        self
    }

    /// Time passes.
    #[track_caller]
    pub(crate) fn wait(&mut self, millis: u64) -> &mut Self {
        self.pass(millis);
        self
    }

    /// The lines that the client got since the last look.
    pub(crate) fn heard(&mut self) -> Vec<String> {
        self.take(|line| match line {
            Line::Written(text) => Some(text.clone()),
            _ => None,
        })
    }

    #[track_caller]
    pub(crate) fn hears(&mut self, lines: &[&str]) -> &mut Self {
        assert_eq!(self.heard(), lines);
        self
    }

    /// The events of the application since the last look.
    pub(crate) fn events(&mut self) -> Vec<String> {
        self.take(|line| match line {
            Line::Event(text) => Some(text.clone()),
            _ => None,
        })
    }

    #[track_caller]
    pub(crate) fn sees(&mut self, events: &[&str]) -> &mut Self {
        assert_eq!(self.events(), events);
        self
    }

    /// Why the last message led to nothing.
    #[track_caller]
    pub(crate) fn ignores(&mut self, why: IgnoreReason) -> &mut Self {
        assert_eq!(self.last_ignored(), Some(why));
        self.hears(&[]).sees(&[])
    }

    /// How many tokens there were.
    pub(crate) fn tokens(&self) -> usize {
        self.role.tokens.len()
    }

    #[track_caller]
    pub(crate) fn token(&self, n: usize) -> Token {
        self.role.token(n)
    }

    #[track_caller]
    pub(crate) fn question(&self, n: usize) -> SentToken {
        self.role.question(n)
    }

    #[track_caller]
    pub(crate) fn answer(&mut self, n: usize, result: &str) -> &mut Self {
        self.outcome(n, Outcome::Result(&raw(result))).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn fail(&mut self, n: usize, code: i64) -> &mut Self {
        let error = ErrorObject::new(code, "no");
        self.outcome(n, Outcome::Error(error)).unwrap();
        self
    }

    #[track_caller]
    pub(crate) fn need(&mut self, n: usize, input: InputRequired<'_>) -> Result<(), SendError> {
        self.outcome(n, Outcome::Input(input))
    }

    #[track_caller]
    pub(crate) fn outcome(&mut self, n: usize, outcome: Outcome<'_>) -> Result<(), SendError> {
        let token = self.token(n);
        let _ = self.send(|server, out| server.respond(token, outcome, out))?;
        self.drain();
        Ok(())
    }

    #[track_caller]
    pub(crate) fn progress(
        &mut self,
        n: usize,
        progress: ProgressReport<'_>,
    ) -> Result<(), SendError> {
        let (token, now) = (self.token(n), self.now);
        let sent = self.send(|server, out| server.progress(now, token, progress, out));
        sent.map(drop)
    }

    #[track_caller]
    pub(crate) fn log(
        &mut self,
        n: Option<usize>,
        level: LoggingLevel,
        data: &str,
    ) -> Result<(), SendError> {
        let token = n.map(|n| self.token(n));
        let sent = self.send(|server, out| server.log(token, level, Some("l"), &data, out));
        sent.map(drop)
    }

    #[track_caller]
    pub(crate) fn ask(
        &mut self,
        parent: Option<usize>,
        method: &str,
        params: &str,
        options: AskOptions,
    ) -> Result<SentToken, SendError> {
        let (parent, now) = (parent.map(|n| self.token(n)), self.now);
        let params = raw(params);
        let question = Question {
            method: method.into(),
            params: &params,
        };
        let (token, _) =
            self.send(|server, out| server.ask(now, parent, question, options, out))?;
        self.role.asked(token);
        Ok(token)
    }
}
