//! A server in the scripts: the commands of its [application](host), and these.
//!
//! ```text
//! open 2025-11-25 {}                  a handshake, up to `initialized`
//! in-flight, live 0, watched a:b      state, as if it were an event
//! closed, revision, timeout
//! transmit                            writes one message that follows from state
//! ```
//!
//! In messages, `META` stands for the `_meta` of a request of 2026-07-28, and `MODERN` for its
//! members. A test that computes its messages uses the same player without a script.

use mcp_proto::model::{LoggingLevel, ServerFeatures};
use mcp_proto::rpc::ErrorObject;
use mcp_proto::server::{AskOptions, Event, Fixed, ProgressReport, Server, ServerConfig};
use mcp_proto::{
    Channel, IgnoreReason, InputRequired, Instant, Machine, Outcome, Question, SendError,
    SentToken, Token,
};

pub(crate) use super::host::Host;
pub(crate) use super::messages::*;
use super::{Fit, Line, Player, Role, word};

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

    fn tell(&mut self, event: &Event<'_>) -> String {
        Self::tell(self, event)
    }

    fn command(player: &mut Player<Self>, verb: &str, rest: &str) {
        let (first, second) = word(rest);
        let done = match verb {
            "open" => {
                player.say(&initialize(first, second));
                assert_eq!(player.heard().len(), 1);
                Ok(())
            }
            "transmit" => {
                let now = player.now;
                let sent =
                    player.send(|server, out| Ok(server.poll_transmit(now, Channel::PIPE, out)?));
                assert!(sent.unwrap().is_some());
                Ok(())
            }
            _ => {
                let (host, now, mut out) = player.parts();
                host.command(now, verb, rest, &mut out).unwrap_or_else(|| {
                    let text = player.state(verb, first);
                    player.log.push_back(Line::Event(text));
                    Ok(())
                })
            }
        };
        player.note(done);
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
        self.role.tokens()
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
