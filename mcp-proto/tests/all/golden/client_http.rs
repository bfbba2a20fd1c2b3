//! A client over HTTP without sockets: the exchanges that it begins, and what becomes of them.

use core::time::Duration;

use mcp_proto::client::http::{Exchange, ExchangeOutcome, HttpMethod, ReplyHead};
use mcp_proto::client::{ClientConfig, Event};
use mcp_proto::rpc::Message;
use mcp_proto::{IgnoreReason, Instant, Machine, Outbox, Revision};

use super::client::{Caller, Guest, config, configure};
use super::script::{Driver, member, word};
use super::transcript::Transcript;
use crate::http::{ClientApplication, HttpClient, State};

pub(crate) struct Browser {
    revision: Revision,
    config: ClientConfig<'static>,
    now: Instant,
    side: Option<Side>,
}

struct Side {
    client: HttpClient<Recorder>,
    sessions: u32,
    /// The fields of the next reply.
    head: Vec<(String, String)>,
}

/// The application, and what is not written down yet.
#[derive(Default)]
struct Recorder {
    caller: Caller,
    /// Lines with their marks.
    lines: Vec<(String, Vec<u8>)>,
}

impl Recorder {
    fn line(&mut self, mark: &str, line: impl Into<Vec<u8>>) {
        self.lines.push((mark.to_owned(), line.into()));
    }
}

impl ClientApplication for Recorder {
    /// The label of the call, or what else the exchange is.
    type Name = String;

    fn name(&mut self, exchange: &Exchange, message: &[u8]) -> String {
        match (exchange.id(), exchange.method()) {
            (Some(id), _) => self.caller.peer.label_of(id, message),
            (None, HttpMethod::Post) => "told".into(),
            (None, verb) => verb.as_str().to_ascii_lowercase(),
        }
    }

    fn on(&mut self, _: Instant, _: &mut Guest, event: Event<'_>, _: &mut Outbox<Vec<u8>>) {
        let told = self.caller.tell(&event);
        self.line("=", told);
    }

    fn ignored(&mut self, why: IgnoreReason) {
        self.line("~", format!("{why:?}"));
    }

    fn outcome(&mut self, now: Instant, outcome: &ExchangeOutcome) {
        match outcome {
            ExchangeOutcome::Mismatched => self.line("~", "the head did not match"),
            ExchangeOutcome::Authorize => self.line("~", "not authorized"),
            ExchangeOutcome::Lost => self.line("~", "the session is lost"),
            ExchangeOutcome::Resume(at) => {
                let delay = at.as_millis() - now.as_millis();
                self.line("~", format!("asked for again in {delay} ms"));
            }
            _ => {}
        }
    }

    fn closed(&mut self, name: &String) {
        self.line(&format!(">{name}"), "closed");
    }
}

impl Driver for Browser {
    fn new(revision: Revision) -> Self {
        Self {
            revision,
            config: config(revision),
            now: Instant::from_millis(1_000),
            side: None,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        match verb {
            "config" => return configure(&mut self.config, rest),
            "+" => {
                let passed = rest.parse().expect("milliseconds");
                self.now = self.now + Duration::from_millis(passed);
            }
            _ => {}
        }
        let config = self.config;
        let side = self.side.get_or_insert_with(|| Side {
            client: HttpClient::new(config, Recorder::default()),
            sessions: 0,
            head: Vec::new(),
        });
        let now = self.now;
        if !side.reply(now, verb, rest) {
            side.command(now, verb, rest);
            if verb == "open" {
                side.run(now);
                let capabilities = if rest.is_empty() { "{}" } else { rest };
                let peer = &side.client.app.caller.peer;
                let answer = peer.opening(self.revision, capabilities);
                side.message(now, "", &answer, true);
                side.run(now);
                side.reply(now, "stream", "get");
            }
        }
        side.run(now);
        for (mark, line) in side.client.app.lines.drain(..) {
            transcript.bytes(&mark, &line);
        }
    }
}

impl Side {
    /// Carries out a command of the application.
    fn command(&mut self, now: Instant, verb: &str, rest: &str) {
        let HttpClient {
            link, origin, app, ..
        } = &mut self.client;
        app.line(".", format!("{verb} {rest}").trim_end());
        let done = match verb {
            "connect" | "open" => link.machine.connect_by_exchanges(now),
            "draft" => {
                origin.hold_to_draft();
                Ok(())
            }
            "delete" => {
                if let Some(exchange) = origin.delete() {
                    self.client.begin(now, exchange, Vec::new());
                }
                return;
            }
            "+" => Ok(()),
            "hangup" => {
                link.machine.hang_up();
                Ok(())
            }
            _ => {
                let mut out = (&mut link.machine, &mut link.outbox);
                app.caller.command(now, verb, rest, &mut out)
            }
        };
        if let Err(error) = done {
            app.line("!", format!("{error:?}"));
        }
    }

    /// What the server does. Says whether it is a command of the server's.
    fn reply(&mut self, now: Instant, verb: &str, rest: &str) -> bool {
        let (target, verb, rest) = match verb {
            "on" => {
                let (target, command) = word(rest);
                let (verb, rest) = word(command);
                (target, verb, rest)
            }
            _ => ("get", verb, rest),
        };
        let peer = &self.client.app.caller.peer;
        if verb == "<" {
            if let Some(message) = peer.message(rest) {
                let answers = member(&message, "method").is_none();
                let target = if answers && target == "get" {
                    ""
                } else {
                    target
                };
                self.message(now, target, &message, answers);
            }
            return true;
        }
        let (label, rest) = word(rest);
        match verb {
            "head" => {
                let value = (label.trim_end_matches(':').to_owned(), rest.to_owned());
                self.head.push(value);
                return true;
            }
            "status" | "stream" | "plain" | "event" | "end" | "unreachable" => {}
            _ => return false,
        }
        let Some(at) = self.find(label) else {
            return true;
        };
        match verb {
            "status" => {
                let (status, body) = word(rest);
                let body = peer.fill(body).unwrap_or_default();
                let kind = (!body.is_empty()).then_some("application/json");
                let status = status.parse().expect("a status");
                self.head(now, at, status, kind, body.as_bytes());
            }
            "stream" => self.head(now, at, 200, Some("text/event-stream"), b""),
            "plain" => self.head(now, at, 200, Some("text/html"), b"<html>"),
            "event" => {
                if let Some(text) = peer.fill(rest) {
                    self.events(now, at, &text.replace("\\n", "\n"));
                }
            }
            "end" => self.end(now, at),
            _ => {
                let flight = &mut self.client.flights[at];
                let mark = format!("<{}", flight.name);
                self.client.app.line(&mark, "unreachable");
                let begun = rest == "begun";
                let origin = &self.client.origin;
                let outcome = flight.exchange.unreachable(origin, now, begun, 0);
                self.client.after(now, at, outcome);
            }
        }
        true
    }

    /// The exchange of a label: of a call, `get` for the stream of the session, `seek` for that
    /// of a server of two endpoints, or else what the exchange is.
    fn find(&self, label: &str) -> Option<usize> {
        let id = self
            .client
            .app
            .caller
            .peer
            .id(label)
            .and_then(|id| id.parse().ok());
        self.client.flights.iter().rposition(|flight| {
            let over = matches!(flight.state, State::Over | State::Due(_));
            !over
                && match label {
                    "get" | "seek" => {
                        flight.exchange.method() == HttpMethod::Get
                            && flight.exchange.id().is_none()
                    }
                    _ if id.is_some() => flight.exchange.id() == id,
                    other => flight.name == other,
                }
        })
    }

    /// A message of the server on the stream of `target`, or if that is empty as the answer to
    /// its own request.
    fn message(&mut self, now: Instant, target: &str, message: &str, ends: bool) {
        let own = target.is_empty();
        let flights = &self.client.flights;
        let at = match own {
            true => {
                let id = member(message, "id").and_then(|id| id.parse().ok());
                flights.iter().rposition(|flight| {
                    flight.exchange.id() == id && !matches!(flight.state, State::Over)
                })
            }
            false => self.find(target),
        };
        let Some(at) = at else { return };
        let event = format!("data: {message}");
        match flights[at].state {
            State::Sent if own => {
                let kind = Some("application/json");
                self.head(now, at, 200, kind, message.as_bytes());
            }
            State::Sent => {
                self.head(now, at, 200, Some("text/event-stream"), b"");
                self.events(now, at, &event);
            }
            _ => {
                self.events(now, at, &event);
                if own && ends {
                    self.end(now, at);
                }
            }
        }
    }

    /// A reply begins.
    fn head(&mut self, now: Instant, at: usize, status: u16, kind: Option<&str>, body: &[u8]) {
        let fields = core::mem::take(&mut self.head);
        let flight = &self.client.flights[at];
        let mark = format!("<{}", flight.name);
        let value = |name: &str| {
            let found = fields.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        };
        let opens = flight.opens() && status == 200;
        let session = value("mcp-session-id").or_else(|| {
            self.sessions += u32::from(opens);
            opens.then(|| format!("session-{}", self.sessions))
        });
        let session = session.filter(|id| id != "none");
        let (retry_after, date) = (value("retry-after"), value("date"));
        let kind_of = kind.map_or(String::new(), |kind| format!(" {kind}"));
        let app = &mut self.client.app;
        app.line(&mark, format!("{status}{kind_of}"));
        for (name, value) in [
            ("mcp-session-id", &session),
            ("retry-after", &retry_after),
            ("date", &date),
        ] {
            if let Some(value) = value {
                app.line(&mark, format!("  {name}: {value}"));
            }
        }
        if !body.is_empty() {
            app.line(&mark, body);
        }
        let head = ReplyHead {
            content_type: kind.map(str::as_bytes),
            session: session.as_deref().map(str::as_bytes),
            retry_after: retry_after.as_deref().map(str::as_bytes),
            date: date.as_deref().map(str::as_bytes),
            ..ReplyHead::new(status)
        };
        self.client.head(now, at, &head, body);
    }

    /// An event of a stream, and the empty line that ends it.
    fn events(&mut self, now: Instant, at: usize, text: &str) {
        let flight = &self.client.flights[at];
        if let State::Reading(_) = flight.state {
            let mark = format!("<{}", flight.name);
            for line in text.lines().filter(|line| !line.is_empty()) {
                self.client.app.line(&mark, line);
            }
            self.client
                .events(now, at, format!("{text}\n\n").as_bytes());
        }
    }

    /// A stream ends.
    fn end(&mut self, now: Instant, at: usize) {
        let flight = &self.client.flights[at];
        if let State::Reading(_) = flight.state {
            let mark = format!("<{}", flight.name);
            self.client.app.line(&mark, "end");
            self.client.end(now, at);
        }
    }

    /// Does all there is to do.
    fn run(&mut self, now: Instant) {
        loop {
            let worked = self.client.work(now);
            let mut flights = self.client.flights.iter();
            match flights.position(|it| matches!(it.state, State::Due(at) if at <= now)) {
                Some(at) => self.start(now, at),
                None if worked => {}
                None => return,
            }
        }
    }

    /// Sends a request.
    fn start(&mut self, now: Instant, at: usize) {
        let HttpClient {
            origin,
            app,
            flights,
            ..
        } = &mut self.client;
        let flight = &mut flights[at];
        let mark = format!(">{}", flight.name);
        let verb = flight.exchange.method();
        app.line(&mark, verb.as_str());
        let message = Message::parse(&flight.message, 64);
        flight
            .exchange
            .fields(origin, &message, &mut |name, value| {
                if !USUAL.contains(&(name, value)) {
                    let value = String::from_utf8_lossy(value);
                    app.line(&mark, format!("  {name}: {value}"));
                }
            });
        flight.state = State::Sent;
        if verb == HttpMethod::Post {
            app.line(&mark, &*flight.message);
            let text = core::str::from_utf8(&flight.message);
            app.caller.peer.heard(text.expect("messages are text"));
            // What is no request is taken in.
            if flight.exchange.id().is_none() {
                self.head(now, at, 202, None, b"");
            }
        }
    }
}

const USUAL: [(&str, &[u8]); 3] = [
    ("content-type", b"application/json"),
    ("accept", b"application/json, text/event-stream"),
    ("accept", b"text/event-stream"),
];
