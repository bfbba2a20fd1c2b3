//! An endpoint in a script: what is sent to it, and what can be read of its responses.

use core::time::Duration;

use mcp_proto::http::Endpoint;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::http::{Commands, ExchangeId, HttpOptions, PostBody, ServerId};
use mcp_proto::server::{Event, ProgressReport, ServerConfig};
use mcp_proto::{Instant, Outcome, SendError, Token};

use super::{INITIALIZE, INITIALIZED};
use crate::http::{Application, Sent, Served};
use crate::http_server::site::{raw, short_text};

/// A server whose tool `wait` is answered when the script says so, all others at once.
pub(super) struct Site {
    pub(super) served: Served,
    pub(super) app: App,
}

#[derive(Default)]
pub(super) struct App {
    /// Calls of `wait`, and listens that are held.
    pub(super) calls: Vec<(ServerId, Token)>,
    pub(super) seen: Vec<&'static str>,
}

impl Application for App {
    fn on(&mut self, now: Instant, event: &Event<'_>, mut commands: Commands<'_, 'static>) {
        self.seen.push(match event {
            Event::Request { token, context, .. } => {
                match context.subject.is_some_and(|tool| tool == "wait") {
                    true => self.calls.push((commands.id(), *token)),
                    false => {
                        let result = raw("{}");
                        commands
                            .respond(now, *token, Outcome::Result(&result))
                            .unwrap();
                    }
                }
                "request"
            }
            Event::Listening {
                token, held: true, ..
            } => {
                self.calls.push((commands.id(), *token));
                "held"
            }
            Event::Cancelled { .. } => "cancelled",
            Event::Handshake(_) => "handshake",
            Event::Initialized => "initialized",
            Event::Closed => "closed",
            other => panic!("{other:?}"),
        });
    }
}

impl Site {
    pub(super) fn new() -> Self {
        Self::with(HttpOptions::default())
    }

    pub(super) fn with(options: HttpOptions) -> Self {
        let config = ServerConfig {
            capabilities: ServerFeatures::TOOLS.capabilities(),
            ..ServerConfig::new("s", "1")
        };
        Self::serving(config, options)
    }

    pub(super) fn serving(config: ServerConfig<'static>, options: HttpOptions) -> Self {
        Self {
            served: Served::new(Endpoint::default(), config, options),
            app: App::default(),
        }
    }

    /// A site with the session `s`, whose streams can be polled.
    #[track_caller]
    pub(super) fn opened(mut self) -> Self {
        self.check("POST", "", INITIALIZE, "200 s result");
        self.check("POST", "mcp-session-id: s", INITIALIZED, "202");
        self.app.seen.clear();
        self
    }

    /// Begins an exchange, with fields between semicolons.
    pub(super) fn open(&mut self, method: &str, fields: &str) -> ExchangeId {
        let mut head = Sent::new(method);
        head.add("host", "localhost");
        head.add("content-type", "application/json");
        for line in fields.split("; ").filter(|line| !line.is_empty()) {
            let (name, value) = line.split_once(": ").unwrap();
            head.add(name, value);
        }
        let Served {
            http,
            now,
            principal,
        } = &mut self.served;
        http.open(*now, &head, *principal)
    }

    pub(super) fn send(&mut self, method: &str, fields: &str, body: &str) -> ExchangeId {
        let exchange = self.open(method, fields);
        self.served.http.body(exchange, body.as_bytes());
        self.end_body(exchange, "s");
        exchange
    }

    /// The body has ended: its messages are handled.
    pub(super) fn end_body(&mut self, exchange: ExchangeId, session: &str) {
        let Served { http, now, .. } = &mut self.served;
        if let Some(body) = http.end_body(*now, exchange, || session.into()) {
            self.handle(body);
        }
    }

    pub(super) fn handle(&mut self, body: PostBody) {
        self.served.handle(&mut self.app, body);
    }

    #[track_caller]
    pub(super) fn check(
        &mut self,
        method: &str,
        fields: &str,
        body: &str,
        expected: &str,
    ) -> &mut Self {
        let exchange = self.send(method, fields, body);
        self.reads(exchange, expected)
    }

    pub(super) fn work(&mut self) {
        self.served.work(&mut self.app);
    }

    /// What can be read of a response: its status, session and words, with a `..` at the end
    /// while more may come.
    #[track_caller]
    pub(super) fn reads(&mut self, exchange: ExchangeId, expected: &str) -> &mut Self {
        self.work();
        let mut found = Vec::new();
        let mut json = false;
        if let Some(head) = self.served.response(exchange) {
            json = head.length.is_some();
            found.push(head.status.to_string());
            found.extend(head.field("mcp-session-id").map(str::to_owned));
            if head.close {
                found.push("close".into());
            }
        }
        let (body, ended) = self.served.read(&mut self.app, exchange, 10);
        let body = String::from_utf8(body).unwrap();
        if json && !body.is_empty() {
            found.push(word(&body));
        } else {
            found.extend(body.split_terminator("\n\n").map(event));
        }
        if !ended {
            found.push("..".into());
        }
        assert_eq!(found.join(" "), expected);
        self
    }

    #[track_caller]
    pub(super) fn sees(&mut self, expected: &[&str]) -> &mut Self {
        self.work();
        assert_eq!(self.app.seen, expected);
        self.app.seen.clear();
        self
    }

    pub(super) fn wait(&mut self, seconds: u64) -> &mut Self {
        self.served.now = self.served.now + Duration::from_secs(seconds);
        self.work();
        self
    }

    pub(super) fn hang_up(&mut self, exchange: ExchangeId) -> &mut Self {
        self.served.http.hang_up(self.served.now, exchange);
        self.work();
        self
    }

    fn commands(&mut self, call: usize) -> Result<Commands<'_, 'static>, SendError> {
        let (machine, _) = self.app.calls[call];
        self.served.http.commands(machine).ok_or(SendError::Closed)
    }

    pub(super) fn answer(&mut self, call: usize) -> Result<(), SendError> {
        self.answer_with(call, Outcome::Result(&raw("{}")))
    }

    pub(super) fn answer_with(&mut self, call: usize, with: Outcome<'_>) -> Result<(), SendError> {
        let (now, token) = (self.served.now, self.app.calls[call].1);
        let mut commands = self.commands(call)?;
        commands.respond(now, token, with)
    }

    pub(super) fn progress(&mut self, call: usize, value: f64) -> Result<(), SendError> {
        let (now, token) = (self.served.now, self.app.calls[call].1);
        let mut commands = self.commands(call)?;
        let progress = ProgressReport::new(value);
        let sent = commands.send(Some(token), |server, out| {
            server.progress(now, token, progress, out)
        });
        sent.map(drop)
    }

    /// Nothing is left of what was.
    #[track_caller]
    pub(super) fn is_empty(&mut self) {
        self.work();
        assert_eq!(self.served.http.poll_timeout(), None);
        let expected = "HttpServer { machines: 0, sessions: 0, exchanges: 0, .. }";
        assert_eq!(format!("{:?}", self.served.http), expected);
    }
}

/// A message in a word.
fn word(message: &str) -> String {
    short_text(message).replace("notifications/", "")
}

/// An event in a word, with its id.
fn event(text: &str) -> String {
    let mut words = Vec::new();
    for line in text.lines() {
        words.push(match line.split_once(": ") {
            Some(("id", id)) => id.into(),
            Some(("data", data)) => word(data),
            _ => line.into(),
        });
    }
    words.join("=")
}
