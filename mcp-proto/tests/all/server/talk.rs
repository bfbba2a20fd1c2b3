//! A client that is a list of lines, and an application that is a list of commands.

use mcp_proto::json::Raw;
use mcp_proto::model::{
    LoggingLevel, PromptsCapability, ResourcesCapability, ServerCapabilities, Settings,
    ToolsCapability,
};
use mcp_proto::rpc::ErrorObject;
use mcp_proto::server::{Answer, AskOptions, Event, Fixed, Progress, Server, ServerConfig};
use mcp_proto::{
    Action, BufferFull, Channel, Inbox, InputRequired, Instant, Machine, Outcome, Question,
    SendError, SentToken, Source, Token, Transmit, Why,
};

pub(crate) type Small = Fixed<64, 8, 4, 4096, 256>;

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

/// A token of either kind: both are numbered in the order in which they appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Request(Token),
    Question(SentToken),
}

pub(crate) struct Talk {
    pub(crate) server: Server<'static, Small>,
    pub(crate) now: Instant,
    inbox: Inbox<[u8; 1 << 16]>,
    heard: Vec<String>,
    seen: Vec<String>,
    tokens: Vec<Name>,
    ignored: Vec<Why>,
}

impl Talk {
    pub(crate) fn new(config: ServerConfig<'static>) -> Self {
        Self {
            inbox: Inbox::new([0; 1 << 16], &config.limits),
            server: Server::new(config, Small::new()).unwrap(),
            now: Instant::ZERO,
            heard: Vec::new(),
            seen: Vec::new(),
            tokens: Vec::new(),
            ignored: Vec::new(),
        }
    }

    /// A legacy session of this revision with this client, ready for work.
    pub(crate) fn open(config: ServerConfig<'static>, version: &str, capabilities: &str) -> Self {
        let mut talk = Self::new(config);
        talk.say(&initialize(version, capabilities));
        talk.say(INITIALIZED);
        assert_eq!(talk.heard.len(), 1);
        talk.heard.clear();
        talk.sees(&["initialized"]);
        talk
    }

    /// The client writes a line.
    #[track_caller]
    pub(crate) fn say(&mut self, line: &str) -> &mut Self {
        self.bytes(line.as_bytes());
        self.bytes(b"\n")
    }

    /// The client writes some bytes.
    #[track_caller]
    pub(crate) fn bytes(&mut self, mut bytes: &[u8]) -> &mut Self {
        while !bytes.is_empty() {
            let spare = self.inbox.spare_mut().expect("everything was read");
            let len = spare.len().min(bytes.len());
            spare[..len].copy_from_slice(&bytes[..len]);
            self.inbox.filled(len);
            bytes = &bytes[len..];
            self.read();
        }
        self
    }

    #[track_caller]
    fn read(&mut self) {
        let Self {
            server,
            inbox,
            now,
            heard,
            seen,
            tokens,
            ignored,
        } = self;
        while let Some(incoming) = inbox.next_message() {
            match server.handle(*now, &Source::PIPE, incoming) {
                Action::Event(event) => see(seen, tokens, &event),
                Action::Reply(reply) => {
                    let reserve = server.reserve();
                    let (text, _) = whole(|out| server.reply(*now, reply, out));
                    assert!(text.len() <= reserve, "{} > {reserve}", text.len());
                    hear(heard, text);
                }
                Action::Ignore(why) => ignored.push(why),
            }
            drain(server, *now, heard, seen, tokens);
        }
    }

    /// What follows from the commands so far.
    #[track_caller]
    pub(crate) fn drain(&mut self) -> &mut Self {
        let Self {
            server,
            now,
            heard,
            seen,
            tokens,
            ..
        } = self;
        drain(server, *now, heard, seen, tokens);
        self
    }

    /// Time passes.
    #[track_caller]
    pub(crate) fn wait(&mut self, millis: u64) -> &mut Self {
        self.now = Instant::from_millis(self.now.as_millis() + millis);
        if self.server.poll_timeout().is_some_and(|at| at <= self.now) {
            self.server.handle_timeout(self.now);
        }
        assert!(self.server.poll_timeout().is_none_or(|at| at > self.now));
        self.drain()
    }

    /// The lines that the client got since the last look.
    #[track_caller]
    pub(crate) fn hears(&mut self, lines: &[&str]) -> &mut Self {
        assert_eq!(self.heard, lines);
        self.heard.clear();
        self
    }

    /// The same lines, for whoever looks closer.
    pub(crate) fn take(&mut self) -> Vec<String> {
        core::mem::take(&mut self.heard)
    }

    /// The events of the application since the last look.
    #[track_caller]
    pub(crate) fn sees(&mut self, events: &[&str]) -> &mut Self {
        assert_eq!(self.seen, events);
        self.seen.clear();
        self
    }

    /// Why the last message led to nothing.
    #[track_caller]
    pub(crate) fn ignores(&mut self, why: Why) -> &mut Self {
        assert_eq!(self.ignored.last(), Some(&why));
        self.hears(&[]).sees(&[])
    }

    /// The same events, for whoever looks closer.
    pub(crate) fn events(&mut self) -> Vec<String> {
        core::mem::take(&mut self.seen)
    }

    /// How many tokens there were.
    pub(crate) fn tokens(&self) -> usize {
        self.tokens.len()
    }

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
        let (token, now) = (self.token(n), self.now);
        let server = &mut self.server;
        let (text, _) = try_whole(|out| server.respond(now, token, outcome, out))?;
        hear(&mut self.heard, text);
        self.drain();
        Ok(())
    }

    #[track_caller]
    pub(crate) fn progress(&mut self, n: usize, progress: Progress<'_>) -> Result<(), SendError> {
        let (token, now) = (self.token(n), self.now);
        let server = &mut self.server;
        let (text, _) = try_whole(|out| server.progress(now, token, progress, out))?;
        hear(&mut self.heard, text);
        Ok(())
    }

    #[track_caller]
    pub(crate) fn log(
        &mut self,
        n: Option<usize>,
        level: LoggingLevel,
        data: &str,
    ) -> Result<(), SendError> {
        let (token, now) = (n.map(|n| self.token(n)), self.now);
        let server = &mut self.server;
        let (text, _) = try_whole(|out| {
            let transmit = server.log(now, token, level, Some("l"), &data, out)?;
            Ok::<_, SendError>(transmit.map_or((0, ()), |transmit| (transmit.len, ())))
        })?;
        hear(&mut self.heard, text);
        Ok(())
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
        let server = &mut self.server;
        let params = raw(params);
        let (text, token) = try_whole(|out| {
            let question = Question {
                method: method.into(),
                params: &params,
            };
            let (token, transmit) = server.ask(now, parent, question, options, out)?;
            Ok::<_, SendError>((transmit.len, token))
        })?;
        hear(&mut self.heard, text);
        self.tokens.push(Name::Question(token));
        Ok(token)
    }
}

/// The lines that open a session.
pub(crate) fn initialize(version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{capabilities},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

pub(crate) const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A request; `params` without its braces.
pub(crate) fn request(id: &str, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
}

/// A request of 2026-07-28 by a client that can do this; `params` without its braces.
pub(crate) fn modern(id: &str, method: &str, params: &str, capabilities: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    request(
        id,
        method,
        &format!(
            r#"{params}{comma}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{capabilities}}}"#
        ),
    )
}

pub(crate) fn notification(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#)
}

pub(crate) fn cancelled(id: &str) -> String {
    notification("notifications/cancelled", &format!(r#""requestId":{id}"#))
}

pub(crate) fn error(id: &str, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

pub(crate) fn raw(json: &str) -> Raw<'_> {
    Raw::parse(json.as_bytes(), 64).unwrap()
}

#[track_caller]
fn drain(
    server: &mut Server<'static, Small>,
    now: Instant,
    heard: &mut Vec<String>,
    seen: &mut Vec<String>,
    tokens: &mut Vec<Name>,
) {
    while server.next_channel().is_some() {
        let (text, something) = whole(|out| {
            let transmit = server.poll_transmit(now, Channel::PIPE, out)?;
            Ok::<_, BufferFull>(transmit.map_or((0, false), |transmit| (transmit.len, true)))
        });
        if !something {
            break;
        }
        hear(heard, text);
    }
    while let Some(event) = server.poll_event() {
        see(seen, tokens, &event);
    }
}

fn hear(heard: &mut Vec<String>, text: String) {
    if !text.is_empty() {
        Raw::parse(text.as_bytes(), 128).expect("what is written is JSON");
        heard.push(text);
    }
}

fn see(seen: &mut Vec<String>, tokens: &mut Vec<Name>, event: &Event<'_>) {
    let mut number = |name: Name| {
        let found = tokens.iter().position(|other| *other == name);
        found.unwrap_or_else(|| {
            tokens.push(name);
            tokens.len() - 1
        })
    };
    seen.push(match event {
        Event::Initialized => "initialized".into(),
        Event::Request {
            token,
            method,
            context,
            ..
        } => match context.subject {
            Some(subject) => format!(
                "request {} {method} {subject}",
                number(Name::Request(*token))
            ),
            None => format!("request {} {method}", number(Name::Request(*token))),
        },
        Event::Cancelled { token, reason } => match reason {
            Some(reason) => format!("cancelled {} {reason}", number(Name::Request(*token))),
            None => format!("cancelled {}", number(Name::Request(*token))),
        },
        Event::Listening { token, .. } => format!("listening {}", number(Name::Request(*token))),
        Event::Notification { method, .. } => format!("notification {method}"),
        Event::Progress {
            token,
            cookie,
            progress,
            ..
        } => format!(
            "progress {} {cookie} {}",
            number(Name::Question(*token)),
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
                number(Name::Question(*token))
            )
        }
        Event::PingMissed { misses, limit } => format!("missed {misses} of {limit}"),
        Event::Closed => "closed".into(),
        other => format!("{other:?}"),
    });
}

/// Writes into every buffer that is too small, and then into one that is just long enough.
#[track_caller]
pub(crate) fn whole<R: Written, E: Into<SendError>>(
    write: impl FnMut(&mut [u8]) -> Result<R, E>,
) -> (String, R::Rest) {
    try_whole(write).unwrap()
}

#[track_caller]
pub(crate) fn try_whole<R: Written, E: Into<SendError>>(
    mut write: impl FnMut(&mut [u8]) -> Result<R, E>,
) -> Result<(String, R::Rest), SendError> {
    let mut size = 0;
    let mut need = None;
    loop {
        let mut out = vec![0xAA; size];
        match write(&mut out).map_err(Into::into) {
            Ok(written) => {
                let (len, rest) = written.split();
                assert!(len <= size);
                assert!(need.is_none_or(|need| need == size), "{need:?} {size}");
                return Ok((String::from_utf8(out[..len].to_vec()).unwrap(), rest));
            }
            Err(SendError::BufferFull { needed }) => {
                assert!(needed > size, "{needed} {size}");
                // The need is the same from every buffer.
                assert_eq!(*need.get_or_insert(needed), needed);
                // Long messages need not be tried at every length.
                size = if needed - size > 600 {
                    needed - 600
                } else {
                    size + 1
                };
            }
            Err(other) => return Err(other),
        }
    }
}

/// What a writing call returns.
pub(crate) trait Written {
    type Rest;
    fn split(self) -> (usize, Self::Rest);
}

impl Written for Transmit {
    type Rest = ();
    fn split(self) -> (usize, ()) {
        assert_eq!((self.channel, self.end), (Channel::PIPE, false));
        (self.len, ())
    }
}

impl<T> Written for (usize, T) {
    type Rest = T;
    fn split(self) -> (usize, T) {
        self
    }
}
