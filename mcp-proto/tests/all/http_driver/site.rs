//! An endpoint in a script: what is sent to it, and what can be read of its responses.

use core::time::Duration;

use mcp_proto::http::Endpoint;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::http::streams::StreamRead;
use mcp_proto::server::http::{ExchangeId, HttpOptions, HttpServer, HttpStep, PostBody, ServerId};
use mcp_proto::server::{Event, ProgressReport, ServerConfig};
use mcp_proto::{Action, Instant, Outcome, SendError, Token};

use super::{INITIALIZE, INITIALIZED};
use crate::http_server::site::{Sent, raw, short_text};

/// An endpoint whose tool `wait` is answered when the script says so, all others at once.
pub(super) struct Site {
    pub(super) http: HttpServer<'static>,
    pub(super) now: Instant,
    /// Calls of `wait`, and listens that are held.
    pub(super) calls: Vec<(ServerId, Token)>,
    pub(super) seen: Vec<&'static str>,
    /// Who sends the requests.
    pub(super) principal: Option<&'static str>,
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
            http: HttpServer::new(Endpoint::default(), config, options).unwrap(),
            now: Instant::ZERO,
            calls: Vec::new(),
            seen: Vec::new(),
            principal: None,
        }
    }

    /// A site with the session `s`, whose streams can be polled.
    #[track_caller]
    pub(super) fn opened(mut self) -> Self {
        self.check("POST", "", INITIALIZE, "200 s result");
        self.check("POST", "mcp-session-id: s", INITIALIZED, "202");
        self.seen.clear();
        self
    }

    /// Begins an exchange, with fields between semicolons.
    pub(super) fn open(&mut self, method: &str, fields: &str) -> ExchangeId {
        let mut request = Sent {
            method,
            fields: vec![("host", "localhost"), ("content-type", "application/json")],
        };
        let lines = fields.split("; ").filter(|line| !line.is_empty());
        request
            .fields
            .extend(lines.map(|line| line.split_once(": ").unwrap()));
        self.http.open(self.now, &request, self.principal)
    }

    pub(super) fn send(&mut self, method: &str, fields: &str, body: &str) -> ExchangeId {
        let exchange = self.open(method, fields);
        self.http.body(exchange, body.as_bytes());
        self.end_body(exchange, "s");
        exchange
    }

    /// The body has ended: its messages are handled.
    pub(super) fn end_body(&mut self, exchange: ExchangeId, session: &str) {
        if let Some(body) = self.http.end_body(self.now, exchange, || session.into()) {
            self.handle(body);
        }
    }

    pub(super) fn handle(&mut self, body: PostBody) {
        for message in body.messages() {
            if let Action::Event(event) = self.http.receive(self.now, &body, message) {
                self.on(body.machine(), &event);
            }
        }
        self.http.finish(self.now, body);
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
        loop {
            match self.http.step(self.now) {
                HttpStep::Event { machine, event } => self.on(machine, &event),
                HttpStep::Ready(_) => {}
                HttpStep::Idle => break,
            }
        }
        let next = self.http.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now), "{next:?}");
    }

    /// What can be read of a response: its status, session and words, with a `..` at the end
    /// while more may come.
    #[track_caller]
    pub(super) fn reads(&mut self, exchange: ExchangeId, expected: &str) -> &mut Self {
        self.work();
        let mut found = Vec::new();
        let mut json = false;
        if let Some(head) = self.http.response(exchange) {
            json = head.length.is_some();
            found.push(head.status.to_string());
            head.fields(|name, value| {
                if name == "mcp-session-id" {
                    found.push(String::from_utf8(value.as_bytes().to_vec()).unwrap());
                }
            });
            if head.close {
                found.push("close".into());
            }
        }
        let mut body = Vec::new();
        let mut read = StreamRead::More;
        while read == StreamRead::More {
            read = self.http.read(self.now, exchange, &mut body, 10);
        }
        let body = String::from_utf8(body).unwrap();
        if json && !body.is_empty() {
            found.push(word(&body));
        } else {
            found.extend(body.split_terminator("\n\n").map(event));
        }
        if read == StreamRead::Pending {
            found.push("..".into());
        }
        assert_eq!(found.join(" "), expected);
        self.work();
        self
    }

    #[track_caller]
    pub(super) fn sees(&mut self, expected: &[&str]) -> &mut Self {
        self.work();
        assert_eq!(self.seen, expected);
        self.seen.clear();
        self
    }

    pub(super) fn wait(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now + Duration::from_secs(seconds);
        self.work();
        self
    }

    pub(super) fn hang_up(&mut self, exchange: ExchangeId) -> &mut Self {
        self.http.hang_up(self.now, exchange);
        self.work();
        self
    }

    pub(super) fn answer(&mut self, call: usize) -> Result<(), SendError> {
        self.answer_with(call, Outcome::Result(&raw("{}")))
    }

    pub(super) fn answer_with(&mut self, call: usize, with: Outcome<'_>) -> Result<(), SendError> {
        let (machine, token) = self.calls[call];
        let mut commands = self.http.commands(machine).ok_or(SendError::Closed)?;
        commands.respond(self.now, token, with)
    }

    pub(super) fn progress(&mut self, call: usize, value: f64) -> Result<(), SendError> {
        let (machine, token) = self.calls[call];
        let mut commands = self.http.commands(machine).ok_or(SendError::Closed)?;
        let (now, progress) = (self.now, ProgressReport::new(value));
        let sent = commands.send(Some(token), |server, out| {
            server.progress(now, token, progress, out)
        });
        sent.map(drop)
    }

    fn on(&mut self, machine: ServerId, event: &Event<'_>) {
        self.seen.push(match event {
            Event::Request { token, context, .. } => {
                match context.subject.is_some_and(|tool| tool == "wait") {
                    true => self.calls.push((machine, *token)),
                    false => {
                        let result = raw("{}");
                        let mut commands = self.http.commands(machine).unwrap();
                        commands
                            .respond(self.now, *token, Outcome::Result(&result))
                            .unwrap();
                    }
                }
                "request"
            }
            Event::Listening {
                token, held: true, ..
            } => {
                self.calls.push((machine, *token));
                "held"
            }
            Event::Cancelled { .. } => "cancelled",
            Event::Handshake(_) => "handshake",
            Event::Initialized => "initialized",
            Event::Closed => "closed",
            other => panic!("{other:?}"),
        });
    }

    /// Nothing is left of what was.
    #[track_caller]
    pub(super) fn is_empty(&mut self) {
        self.work();
        assert_eq!(self.http.poll_timeout(), None);
        let expected = "HttpServer { machines: 0, sessions: 0, exchanges: 0, .. }";
        assert_eq!(format!("{:?}", self.http), expected);
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
