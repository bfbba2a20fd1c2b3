//! A client over HTTP without sockets: the exchanges that it begins, and what comes of them.

use core::time::Duration;

use mcp_proto::client::http::{Body, Exchange, ExchangeOutcome, HttpMethod, Origin, ReplyHead};
use mcp_proto::client::{Client, ClientConfig, Growing};
use mcp_proto::frame::sse::{Events, Piece};
use mcp_proto::json::MAX_DEPTH;
use mcp_proto::rpc::{Message, Method, OwnedMessages};
use mcp_proto::{Instant, Limits, Link, Machine, Revision, Step};

use super::client::{Caller, Guest, config, configure};
use super::script::{Driver, member, word};
use super::text::lines;
use super::transcript::Transcript;
use crate::http_client::{delivered, hear};

pub(crate) struct Browser {
    revision: Revision,
    config: ClientConfig<'static>,
    now: Instant,
    side: Option<Side>,
}

struct Side {
    link: Link<Guest, Vec<u8>, Vec<u8>>,
    caller: Caller,
    origin: Origin,
    flights: Vec<Flight>,
    sessions: u32,
    /// The fields of the next reply.
    head: Vec<(String, String)>,
    /// The handshakes that the origin knows of.
    connected: usize,
}

/// An exchange under way.
struct Flight {
    /// The label of its call, or what else it is.
    label: String,
    exchange: Exchange,
    message: Vec<u8>,
    state: State,
}

enum State {
    /// It is sent then.
    Due(Instant),
    Sent,
    Streaming(Box<Events<Vec<u8>, Vec<u8>>>),
    Over,
}

impl Flight {
    /// Whether it brings the handshake.
    fn opens(&self) -> bool {
        self.message
            .windows(12)
            .any(|text| text == b"\"initialize\"")
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
        let side = self.side.get_or_insert_with(|| {
            let client = Client::new(config, Growing).unwrap();
            Side {
                link: Link::new(client, Vec::new(), Vec::new()).unwrap(),
                caller: Caller::default(),
                origin: Origin::new(),
                flights: Vec::new(),
                sessions: 0,
                head: Vec::new(),
                connected: 0,
            }
        });
        let now = self.now;
        if side.reply(now, verb, rest, transcript) {
            side.run(now, transcript);
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        match verb {
            "connect" | "open" => {
                if let Err(error) = side.link.machine.connect_by_exchanges(now) {
                    transcript.line("!", &format!("{error:?}"));
                }
            }
            "draft" => side.origin.hold_to_draft(),
            "delete" => {
                if let Some(exchange) = side.origin.delete() {
                    side.begin(now, exchange, Vec::new());
                }
            }
            "+" => {}
            "hangup" => side.link.machine.hang_up(),
            _ => {
                let Side { link, caller, .. } = side;
                let mut out = (&mut link.machine, &mut link.outbox);
                if let Err(error) = caller.command(now, verb, rest, &mut out) {
                    transcript.line("!", &format!("{error:?}"));
                }
            }
        }
        side.run(now, transcript);
        if verb == "open" {
            let capabilities = if rest.is_empty() { "{}" } else { rest };
            let answer = side.caller.peer.opening(self.revision, capabilities);
            side.message(now, "", &answer, true, transcript);
            side.run(now, transcript);
            side.reply(now, "stream", "get", transcript);
        }
    }
}

impl Side {
    /// What the server does. Says whether it is a command of the server's.
    fn reply(&mut self, now: Instant, verb: &str, rest: &str, transcript: &mut Transcript) -> bool {
        let (target, verb, rest) = match verb {
            "on" => {
                let (target, command) = word(rest);
                let (verb, rest) = word(command);
                (target, verb, rest)
            }
            _ => ("get", verb, rest),
        };
        if verb == "<" {
            if let Some(message) = self.caller.peer.message(rest) {
                let answers = member(&message, "method").is_none();
                let target = if answers && target == "get" {
                    ""
                } else {
                    target
                };
                self.message(now, target, &message, answers, transcript);
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
                let body = self.caller.peer.fill(body).unwrap_or_default();
                let kind = (!body.is_empty()).then_some("application/json");
                let status = status.parse().expect("a status");
                self.head(now, at, status, kind, body.as_bytes(), transcript);
            }
            "stream" => self.head(now, at, 200, Some("text/event-stream"), b"", transcript),
            "plain" => self.head(now, at, 200, Some("text/html"), b"<html>", transcript),
            "event" => {
                if let Some(text) = self.caller.peer.fill(rest) {
                    self.events(now, at, &text.replace("\\n", "\n"), transcript);
                }
            }
            "end" => self.end(now, at, transcript),
            _ => {
                let flight = &mut self.flights[at];
                transcript.line(&format!("<{}", flight.label), "unreachable");
                let begun = rest == "begun";
                let after = flight.exchange.unreachable(&self.origin, now, begun, 0);
                self.after(now, at, after, transcript);
            }
        }
        true
    }

    /// The exchange of a label: of a call, `get` for the stream of the session, `seek` for that
    /// of a server of two endpoints, or else what the exchange is.
    fn find(&self, label: &str) -> Option<usize> {
        let id = self.caller.peer.id(label).and_then(|id| id.parse().ok());
        self.flights.iter().rposition(|flight| {
            let over = matches!(flight.state, State::Over | State::Due(_));
            !over
                && match label {
                    "get" | "seek" => {
                        flight.exchange.method() == HttpMethod::Get
                            && flight.exchange.id().is_none()
                    }
                    _ if id.is_some() => flight.exchange.id() == id,
                    other => flight.label == other,
                }
        })
    }

    /// A message of the server on the stream of `target`, or if that is empty as the answer to
    /// its own request.
    fn message(
        &mut self,
        now: Instant,
        target: &str,
        message: &str,
        ends: bool,
        transcript: &mut Transcript,
    ) {
        let own = target.is_empty();
        let at = match own {
            true => {
                let id = member(message, "id").and_then(|id| id.parse().ok());
                let mine = |flight: &Flight| {
                    flight.exchange.id() == id && !matches!(flight.state, State::Over)
                };
                self.flights.iter().rposition(mine)
            }
            false => self.find(target),
        };
        let Some(at) = at else { return };
        match self.flights[at].state {
            State::Sent if own => {
                let kind = Some("application/json");
                self.head(now, at, 200, kind, message.as_bytes(), transcript);
            }
            State::Sent => {
                self.head(now, at, 200, Some("text/event-stream"), b"", transcript);
                self.events(now, at, &format!("data: {message}"), transcript);
            }
            _ => {
                self.events(now, at, &format!("data: {message}"), transcript);
                if own && ends {
                    self.end(now, at, transcript);
                }
            }
        }
    }

    /// A reply begins.
    fn head(
        &mut self,
        now: Instant,
        at: usize,
        status: u16,
        content_type: Option<&str>,
        body: &[u8],
        transcript: &mut Transcript,
    ) {
        let fields = core::mem::take(&mut self.head);
        let flight = &mut self.flights[at];
        let mark = format!("<{}", flight.label);
        let value = |name: &str| {
            let found = fields.iter().find(|(key, _)| key == name);
            found.map(|(_, value)| value.clone())
        };
        let opens = flight.opens();
        let session = value("mcp-session-id").or_else(|| {
            (opens && status == 200).then(|| {
                self.sessions += 1;
                format!("session-{}", self.sessions)
            })
        });
        let session = session.filter(|id| id != "none");
        let (retry_after, date) = (value("retry-after"), value("date"));
        let mut line = status.to_string();
        if let Some(content_type) = content_type {
            line.push_str(&format!(" {content_type}"));
        }
        transcript.line(&mark, &line);
        for (name, value) in [
            ("mcp-session-id", &session),
            ("retry-after", &retry_after),
            ("date", &date),
        ] {
            if let Some(value) = value {
                transcript.line(&mark, &format!("  {name}: {value}"));
            }
        }
        if !body.is_empty() {
            transcript.bytes(&mark, body);
        }
        let head = ReplyHead {
            content_type: content_type.map(str::as_bytes),
            session: session.as_deref().map(str::as_bytes),
            retry_after: retry_after.as_deref().map(str::as_bytes),
            date: date.as_deref().map(str::as_bytes),
            ..ReplyHead::new(status)
        };
        let mut line = Vec::new();
        let origin = &mut self.origin;
        let exchange = &mut flight.exchange;
        let after = match exchange.head(origin, &head) {
            Body::Nothing => exchange.nothing(origin),
            Body::Json => {
                let after =
                    exchange.answer(origin, &OwnedMessages::parse(body, MAX_DEPTH), &mut line);
                line = delivered(body, line);
                after
            }
            Body::Refusal => exchange.refused(origin, now, status, body, &mut line, 0),
            Body::Events => {
                let stores = [Vec::new(), Vec::new(), Vec::new()];
                let events = Events::new(Vec::new(), stores, &Limits::default());
                flight.state = State::Streaming(Box::new(events));
                return;
            }
        };
        self.deliver(&line);
        self.after(now, at, after, transcript);
    }

    /// An event of a stream, and the empty line that ends it.
    fn events(&mut self, now: Instant, at: usize, text: &str, transcript: &mut Transcript) {
        let flight = &mut self.flights[at];
        let State::Streaming(events) = &mut flight.state else {
            return;
        };
        let mark = format!("<{}", flight.label);
        lines(transcript, &mark, text.as_bytes());
        let (mut lines, mut moves) = (Vec::new(), false);
        let text = format!("{text}\n\n");
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let spare = events.spare_mut().expect("everything was read");
            let len = spare.len().min(rest.len());
            spare[..len].copy_from_slice(&rest[..len]);
            events.filled(len);
            rest = &rest[len..];
            while let Some(piece) = events.next_event() {
                let Piece::Event(event) = piece else {
                    panic!("{piece:?}");
                };
                moves |= event.name == b"endpoint";
                lines.extend(hear(&mut flight.exchange, &mut self.origin, &event));
            }
        }
        let refusals = flight.exchange.take_refusals();
        for line in lines {
            self.deliver(&line);
        }
        for refusal in refusals {
            self.send(now, &refusal, transcript);
        }
        if moves {
            self.origin.set_two_endpoints();
            let opening = self.flights.iter().find(|flight| flight.opens());
            let message = opening.expect("the handshake").message.clone();
            let exchange = Exchange::new(&self.origin, &Message::parse(&message, 64));
            self.begin(now, exchange, message);
        }
    }

    /// A stream ends.
    fn end(&mut self, now: Instant, at: usize, transcript: &mut Transcript) {
        let flight = &mut self.flights[at];
        let State::Streaming(events) = &flight.state else {
            return;
        };
        transcript.line(&format!("<{}", flight.label), "end");
        let (id, retry) = (events.last_event_id(), events.retry());
        let after = flight.exchange.end(&self.origin, now, id, retry, 0);
        self.after(now, at, after, transcript);
    }

    /// Does what follows from a reply.
    fn after(
        &mut self,
        now: Instant,
        at: usize,
        after: ExchangeOutcome,
        transcript: &mut Transcript,
    ) {
        let flight = &mut self.flights[at];
        let id = flight.exchange.id();
        flight.state = State::Over;
        match after {
            ExchangeOutcome::Done | ExchangeOutcome::Deliver => {}
            ExchangeOutcome::Mismatched => transcript.line("~", "the head did not match"),
            ExchangeOutcome::Authorize => transcript.line("~", "not authorized"),
            ExchangeOutcome::Refuse(status) => {
                // The stream of the second endpoint is asked for on behalf of the handshake.
                let id = id.or_else(|| self.caller.peer.id("initialize")?.parse().ok());
                self.link
                    .machine
                    .refuse(now, id.expect("a request"), status);
            }
            ExchangeOutcome::ProbeHttpSse(_) => {
                let exchange = self.origin.probe_http_sse();
                self.begin(now, exchange, Vec::new());
            }
            ExchangeOutcome::Fail(failure) => {
                if let Some(id) = id {
                    self.link.machine.fail(id, failure);
                }
            }
            ExchangeOutcome::Lost => {
                transcript.line("~", "the session is lost");
                self.link.machine.lose_session(now);
                let epoch = self.origin.epoch();
                for flight in &mut self.flights {
                    if flight.exchange.epoch() != epoch {
                        flight.state = State::Over;
                    }
                }
            }
            ExchangeOutcome::Resume(_) if id.is_some_and(|id| !self.link.machine.awaits(id)) => {}
            ExchangeOutcome::Resume(at) => {
                let delay = at.as_millis() - now.as_millis();
                transcript.line("~", &format!("asked for again in {delay} ms"));
                flight.state = State::Due(at);
            }
            ExchangeOutcome::HangUp => self.link.machine.hang_up(),
        }
    }

    fn begin(&mut self, now: Instant, exchange: Exchange, message: Vec<u8>) {
        let label = match (exchange.id(), exchange.method()) {
            (Some(id), _) => self.caller.peer.label_of(id, &message),
            (None, HttpMethod::Post) => "told".into(),
            (None, verb) => verb.as_str().to_ascii_lowercase(),
        };
        self.flights.push(Flight {
            label,
            exchange,
            message,
            state: State::Due(now),
        });
    }

    /// Hands a message to the machine, as one line.
    fn deliver(&mut self, message: &[u8]) {
        if message.is_empty() {
            return;
        }
        let line: Vec<u8> = message
            .iter()
            .map(|byte| if *byte == b'\n' { b' ' } else { *byte })
            .collect();
        for mut bytes in [&*line, b"\n"] {
            while !bytes.is_empty() {
                let spare = self.link.inbox.spare_mut().expect("it grows");
                let len = spare.len().min(bytes.len());
                spare[..len].copy_from_slice(&bytes[..len]);
                self.link.inbox.filled(len);
                bytes = &bytes[len..];
            }
        }
    }

    /// Does all there is to do.
    fn run(&mut self, now: Instant, transcript: &mut Transcript) {
        loop {
            let worked = self.work(now, transcript);
            let due = |flight: &Flight| matches!(flight.state, State::Due(at) if at <= now);
            match self.flights.iter().position(due) {
                Some(at) => self.start(now, at, transcript),
                None if worked => {}
                None => return,
            }
        }
    }

    /// Lets the machine take a step; says whether there was one.
    fn work(&mut self, now: Instant, transcript: &mut Transcript) -> bool {
        let Self { link, caller, .. } = self;
        let mut worked = true;
        match link.step(now) {
            Step::Event { event, .. } => {
                transcript.line("=", &caller.tell(&event));
            }
            Step::Done => {}
            Step::Ignored(why) => {
                transcript.line("~", &format!("{why:?}"));
            }
            Step::Full | Step::Empty => worked = false,
        }
        let opened = caller.connected > self.connected;
        if opened && let Some(revision) = self.link.machine.revision() {
            self.connected = caller.connected;
            self.origin.set_revision(revision);
        }
        let pending = self.link.outbox.pending().to_vec();
        self.link.outbox.consume(pending.len());
        for line in pending.split_inclusive(|byte| *byte == b'\n') {
            let line = line
                .strip_suffix(b"\n")
                .expect("messages end with a newline");
            self.send(now, line, transcript);
            worked = true;
        }
        if opened && let Some(exchange) = self.origin.listen() {
            self.begin(now, exchange, Vec::new());
        }
        worked
    }

    fn send(&mut self, now: Instant, line: &[u8], transcript: &mut Transcript) {
        // SC-22: there the exchange is closed instead.
        if let Message::Notification(told) = Message::parse(line, 16)
            && told.method == Method::Cancelled
            && self
                .link
                .machine
                .revision()
                .is_some_and(Revision::is_modern)
        {
            let id = told
                .params
                .and_then(|it| it.get("requestId")?.number()?.to_i64());
            let id = id.and_then(|id| u64::try_from(id).ok());
            let mut flights = self.flights.iter_mut();
            if let Some(flight) = flights.find(|flight| flight.exchange.id() == id) {
                transcript.line(&format!(">{}", flight.label), "closed");
                flight.state = State::Over;
            }
            return;
        }
        let exchange = Exchange::new(&self.origin, &Message::parse(line, 64));
        self.begin(now, exchange, line.to_vec());
    }

    /// Sends a request.
    fn start(&mut self, now: Instant, at: usize, transcript: &mut Transcript) {
        let flight = &mut self.flights[at];
        let mark = format!(">{}", flight.label);
        let verb = flight.exchange.method();
        transcript.line(&mark, verb.as_str());
        let message = &flight.message;
        flight.exchange.fields(
            &self.origin,
            &Message::parse(message, 64),
            &mut |name, value| {
                if !USUAL.contains(&(name, value)) {
                    let value = String::from_utf8_lossy(value);
                    transcript.line(&mark, &format!("  {name}: {value}"));
                }
            },
        );
        flight.state = State::Sent;
        if verb == HttpMethod::Post {
            transcript.bytes(&mark, message);
            self.caller
                .peer
                .heard(core::str::from_utf8(message).expect("messages are text"));
            // What is no request is taken in.
            if flight.exchange.id().is_none() {
                self.head(now, at, 202, None, b"", transcript);
            }
        }
    }
}

const USUAL: [(&str, &[u8]); 3] = [
    ("content-type", b"application/json"),
    ("accept", b"application/json, text/event-stream"),
    ("accept", b"text/event-stream"),
];
