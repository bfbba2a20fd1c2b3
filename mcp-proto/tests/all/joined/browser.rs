//! The client: its machine, an exchange for each message, and what it was to do.

use core::time::Duration;

use mcp_proto::client::http::{Body, Exchange, ExchangeOutcome, HttpMethod, Origin, ReplyHead};
use mcp_proto::client::{Client, ClientConfig, Growing};
use mcp_proto::frame::sse::{Events, Piece};
use mcp_proto::json::MAX_DEPTH;
use mcp_proto::rpc::{Message, Method, OwnedMessages};
use mcp_proto::server::http::ExchangeId;
use mcp_proto::{Instant, Limits, Link, Machine, TurnEnd};

use super::app::{AnyClient, User};
use super::site::Site;
use crate::http::Sent;
use crate::http_client::{delivered, hear};

pub(crate) struct Browser {
    pub(crate) link: Link<AnyClient, Vec<u8>, Vec<u8>>,
    origin: Origin,
    flights: Vec<Flight>,
    user: User,
    /// Handshakes that were told to the origin.
    connected: usize,
    /// After so many bytes of event streams the connection breaks.
    pub(crate) cut: Option<usize>,
    /// The bytes of event streams so far.
    pub(crate) streamed: usize,
    /// Every request, in short.
    pub(crate) sent: Vec<String>,
}

struct Flight {
    exchange: Exchange,
    message: Vec<u8>,
    state: State,
}

enum State {
    /// It is sent then.
    Due(Instant),
    /// It was sent, and resumes a stream after this event; its reply has not come.
    Sent(ExchangeId, String),
    Reading(ExchangeId, Box<Events<Vec<u8>, Vec<u8>>>),
}

impl Browser {
    pub(crate) fn new(config: ClientConfig<'static>, todo: &[&'static str]) -> Self {
        let machine = Client::new(config, Growing).unwrap();
        Self {
            link: Link::new(machine, Vec::new(), Vec::new()).unwrap(),
            origin: Origin::new(),
            flights: Vec::new(),
            user: User::new(todo),
            connected: 0,
            cut: None,
            streamed: 0,
            sent: Vec::new(),
        }
    }

    pub(crate) fn log(&self) -> &[String] {
        &self.user.log
    }

    /// The same call by call, and without what may be lost with the connection of the session's
    /// own stream.
    pub(crate) fn answers(&self) -> Vec<&str> {
        let own = |line: &&str| !line.starts_with("notifications/") && *line != "asked roots/list";
        let lines = self.user.log.iter().map(String::as_str);
        let mut lines: Vec<&str> = lines.filter(own).collect();
        lines.sort_by_key(|line| line.split(' ').next());
        lines
    }

    pub(crate) fn do_next(&mut self, todo: &[&'static str]) {
        self.user.todo.extend(todo);
    }

    /// Runs until nothing moves and nothing is due within `horizon`.
    pub(crate) fn run(&mut self, now: &mut Instant, site: &mut Site, horizon: Duration) {
        let end = *now + horizon;
        self.link.machine.handle_timeout(*now);
        site.handle_timeout(*now);
        for _ in 0..100_000 {
            if self.turn(*now, site) {
                continue;
            }
            let flights = self.flights.iter().filter_map(|flight| match flight.state {
                State::Due(at) => Some(at),
                State::Sent(..) | State::Reading(..) => None,
            });
            let machines = [self.link.machine.poll_timeout(), site.next_timeout()];
            let next = flights.chain(machines.into_iter().flatten()).min();
            match next {
                Some(next) if next <= end => {
                    assert!(next > *now, "a deadline that has passed already");
                    *now = next;
                    self.link.machine.handle_timeout(*now);
                    site.handle_timeout(*now);
                }
                _ => {
                    *now = end;
                    return;
                }
            }
        }
        panic!(
            "the two never come to rest: {:#?} {:#?}",
            self.log(),
            self.sent
        );
    }

    fn turn(&mut self, now: Instant, site: &mut Site) -> bool {
        let mut worked = self.work(now);
        for mut flight in core::mem::take(&mut self.flights) {
            let kept = match &flight.state {
                State::Due(at) if *at > now => true,
                State::Due(_) => {
                    worked = true;
                    self.start(now, site, &mut flight);
                    self.receive(now, site, &mut flight).1
                }
                State::Sent(..) => {
                    let (moved, kept) = self.receive(now, site, &mut flight);
                    worked |= moved;
                    kept
                }
                State::Reading(..) => {
                    let (moved, kept) = self.read(now, site, &mut flight);
                    worked |= moved;
                    kept
                }
            };
            if kept {
                self.flights.push(flight);
            }
        }
        worked
            || self
                .user
                .idle(now, &mut self.link.machine, &mut self.link.outbox)
    }

    /// Lets the machine work, and sends off what it wrote.
    fn work(&mut self, now: Instant) -> bool {
        let mut worked = false;
        let Self { link, user, .. } = self;
        let rest = link.turn(now, |machine, event, outbox| {
            worked = true;
            user.on(now, machine, event, outbox)
        });
        assert_eq!(rest, TurnEnd::Empty);
        let connects = self.user.connected > self.connected;
        if connects {
            self.origin
                .set_revision(self.link.machine.revision().unwrap());
        }
        let pending = self.link.outbox.pending().to_vec();
        self.link.outbox.consume(pending.len());
        for line in pending.split_inclusive(|byte| *byte == b'\n') {
            worked = true;
            self.send(now, &line[..line.len() - 1]);
        }
        if connects {
            self.connected = self.user.connected;
            if let Some(exchange) = self.origin.listen() {
                self.fly(now, exchange, Vec::new());
            }
        }
        worked
    }

    fn send(&mut self, now: Instant, line: &[u8]) {
        // SC-22: there the exchange is closed instead.
        if let Message::Notification(told) = Message::parse(line, 16)
            && told.method == Method::Cancelled
            && self
                .link
                .machine
                .revision()
                .is_some_and(|it| it.is_modern())
        {
            let id = told
                .params
                .and_then(|it| it.get("requestId")?.number()?.to_i64());
            let flight = self
                .flights
                .iter_mut()
                .find(|flight| flight.exchange.id() == id.map(|id| id as u64));
            if let Some(flight) = flight {
                flight.message.clear();
            }
            return;
        }
        let exchange = Exchange::new(&self.origin, &Message::parse(line, 64));
        self.fly(now, exchange, line.to_vec());
    }

    fn fly(&mut self, now: Instant, exchange: Exchange, message: Vec<u8>) {
        self.flights.push(Flight {
            exchange,
            message,
            state: State::Due(now),
        });
    }

    /// Sends a request.
    fn start(&mut self, now: Instant, site: &mut Site, flight: &mut Flight) {
        let exchange = &mut flight.exchange;
        let (method, body) = match exchange.method() {
            HttpMethod::Post => ("POST", &*flight.message),
            HttpMethod::Get => ("GET", &[][..]),
            HttpMethod::Delete => ("DELETE", &[][..]),
        };
        let mut head = Sent::new(method);
        head.add("host", "localhost");
        let message = Message::parse(&flight.message, 64);
        let mut last = "-".to_owned();
        exchange.fields(&self.origin, &message, &mut |name, value| {
            head.fields.push((name.into(), value.into()));
            if name == "last-event-id" {
                last = String::from_utf8(value.into()).unwrap();
            }
        });
        let id = site.request(now, &head, body);
        let line = format!("{method} {last}");
        flight.state = State::Sent(id, line);
    }

    /// Reads the reply, as far as that is no stream; says whether it has come, and whether the
    /// exchange continues.
    fn receive(&mut self, now: Instant, site: &mut Site, flight: &mut Flight) -> (bool, bool) {
        let exchange = &mut flight.exchange;
        let State::Sent(id, request) = &flight.state else {
            return (false, true);
        };
        // Nobody waits: it is closed, which in the modern era is the cancellation.
        if flight.message.is_empty() && exchange.id().is_some() {
            site.hang_up(*id);
            return (true, false);
        }
        let Some(reply) = site.reply(*id) else {
            return (false, true);
        };
        let status = reply.head.status;
        self.sent.push(format!("{request} {status}"));
        let mut line = Vec::new();
        let head = ReplyHead {
            content_type: reply.head.field("content-type").map(str::as_bytes),
            session: reply.head.field("mcp-session-id").map(str::as_bytes),
            ..ReplyHead::new(status)
        };
        let after = match exchange.head(&mut self.origin, &head) {
            Body::Nothing => exchange.nothing(&self.origin),
            Body::Json => {
                let body = OwnedMessages::parse(&reply.body, MAX_DEPTH);
                let after = exchange.answer(&mut self.origin, &body, &mut line);
                line = delivered(&reply.body, line);
                after
            }
            Body::Refusal => {
                let body = &reply.body;
                exchange.refused(&mut self.origin, now, status, body, &mut line, 0)
            }
            Body::Events => {
                let stores = [Vec::new(), Vec::new(), Vec::new()];
                let events = Events::new(Vec::new(), stores, &Limits::default());
                flight.state = State::Reading(*id, Box::new(events));
                return (true, true);
            }
        };
        self.deliver(&line);
        (true, self.after(now, after, flight))
    }

    /// Reads what has come of a stream; says whether anything has, and whether it goes on.
    fn read(&mut self, now: Instant, site: &mut Site, flight: &mut Flight) -> (bool, bool) {
        let State::Reading(stream, events) = &mut flight.state else {
            return (false, true);
        };
        let stream = *stream;
        // Nobody waits: it is closed, which in the modern era is the cancellation.
        if flight.message.is_empty() && flight.exchange.id().is_some() {
            site.hang_up(stream);
            return (true, false);
        }
        let (mut bytes, mut ended) = site.read(stream);
        if bytes.is_empty() && !ended {
            return (false, true);
        }
        let left = self
            .cut
            .map_or(usize::MAX, |cut| cut.saturating_sub(self.streamed));
        if left <= bytes.len() && self.cut.take().is_some() {
            bytes.truncate(left);
            ended = true;
        }
        self.streamed += bytes.len();
        let mut rest = &*bytes;
        let mut lines = Vec::new();
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
                lines.extend(hear(&mut flight.exchange, &mut self.origin, &event));
            }
        }
        let after = ended.then(|| {
            site.hang_up(stream);
            let (id, retry) = (events.last_event_id(), events.retry());
            flight.exchange.end(&self.origin, now, id, retry, 0)
        });
        for line in lines {
            self.deliver(&line);
        }
        match after {
            Some(after) => (true, self.after(now, after, flight)),
            None => (true, true),
        }
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

    /// Does what is to be done; says whether the exchange goes on.
    fn after(&mut self, now: Instant, after: ExchangeOutcome, flight: &mut Flight) -> bool {
        let id = flight.exchange.id();
        match after {
            ExchangeOutcome::Done
            | ExchangeOutcome::Deliver
            | ExchangeOutcome::Mismatched
            | ExchangeOutcome::Authorize => {}
            ExchangeOutcome::Refuse(status) | ExchangeOutcome::ProbeHttpSse(status) => {
                self.link.machine.refuse(now, id.unwrap(), status);
            }
            ExchangeOutcome::Fail(failure) => self.link.machine.fail(id.unwrap(), failure),
            ExchangeOutcome::Lost => {
                self.link.machine.lose_session(now);
                let epoch = self.origin.epoch();
                self.flights
                    .retain(|flight| flight.exchange.epoch() == epoch);
            }
            // Nobody asks for an answer that nobody waits for.
            ExchangeOutcome::Resume(_) if id.is_some_and(|id| !self.link.machine.awaits(id)) => {}
            ExchangeOutcome::Resume(at) => {
                flight.state = State::Due(at);
                return true;
            }
            ExchangeOutcome::HangUp => self.link.machine.hang_up(),
        }
        false
    }
}
