//! A client over HTTP: its machine, and an exchange for each message. What carries the exchanges
//! is up to the test.

use mcp_proto::client::http::{Body, Exchange, ExchangeOutcome, Origin, ReplyHead};
use mcp_proto::client::{Client, ClientConfig, Event, Failure, Growing};
use mcp_proto::frame::sse::{Events, Piece};
use mcp_proto::json::MAX_DEPTH;
use mcp_proto::rpc::{Message, Method, OwnedMessages};
use mcp_proto::{IgnoreReason, Instant, Limits, Link, Machine, Outbox, Revision, Step};

use crate::http_client::{delivered, hear};

type Guest = Client<'static, Growing>;

/// The application of the client, which also sees its exchanges.
pub(crate) trait ClientApplication {
    /// The name of an exchange for the application.
    type Name;

    fn name(&mut self, exchange: &Exchange, message: &[u8]) -> Self::Name;

    /// Something happened; what is to be said about it goes into `outbox` now.
    fn on(
        &mut self,
        now: Instant,
        machine: &mut Guest,
        event: Event<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    );

    /// A message had no effect.
    fn ignored(&mut self, _: IgnoreReason) {}

    /// An exchange has ended, and this is done about it.
    fn outcome(&mut self, _: Instant, _: &ExchangeOutcome) {}

    /// The client closes an exchange.
    fn closed(&mut self, _: &Self::Name);
}

pub(crate) struct HttpClient<A: ClientApplication> {
    pub(crate) link: Link<Guest, Vec<u8>, Vec<u8>>,
    pub(crate) origin: Origin,
    pub(crate) app: A,
    /// In the order in which they began.
    pub(crate) flights: Vec<Flight<A::Name>>,
}

/// An exchange under way, or one that is over.
pub(crate) struct Flight<N> {
    pub(crate) name: N,
    pub(crate) exchange: Exchange,
    pub(crate) message: Vec<u8>,
    pub(crate) state: State,
}

pub(crate) enum State {
    /// It is sent then.
    Due(Instant),
    Sent,
    Reading(Box<Events<Vec<u8>, Vec<u8>>>),
    Over,
}

impl<N> Flight<N> {
    /// Whether it brings the handshake.
    pub(crate) fn opens(&self) -> bool {
        let message = &self.message;
        message.windows(12).any(|text| text == b"\"initialize\"")
    }
}

impl<A: ClientApplication> HttpClient<A> {
    pub(crate) fn new(config: ClientConfig<'static>, app: A) -> Self {
        let machine = Client::new(config, Growing).unwrap();
        Self {
            link: Link::new(machine, Vec::new(), Vec::new()).unwrap(),
            origin: Origin::new(),
            app,
            flights: Vec::new(),
        }
    }

    /// Lets the machine take a step; says whether there was one.
    pub(crate) fn work(&mut self, now: Instant) -> bool {
        let Self { link, app, .. } = self;
        let (mut worked, mut connects) = (true, false);
        match link.step(now) {
            Step::Event {
                event,
                machine,
                outbox,
            } => {
                connects = matches!(event, Event::Connected(_));
                app.on(now, machine, event, outbox);
            }
            Step::Done => {}
            Step::Ignored(why) => app.ignored(why),
            Step::Full | Step::Empty => worked = false,
        }
        if connects && let Some(revision) = link.machine.revision() {
            self.origin.set_revision(revision);
        }
        let pending = link.outbox.pending().to_vec();
        link.outbox.consume(pending.len());
        for line in pending.split_inclusive(|byte| *byte == b'\n') {
            let line = line.strip_suffix(b"\n");
            self.send(now, line.expect("messages end with a newline"));
            worked = true;
        }
        if connects && let Some(exchange) = self.origin.listen() {
            self.begin(now, exchange, Vec::new());
        }
        worked
    }

    fn send(&mut self, now: Instant, line: &[u8]) {
        // SC-22: there the exchange is closed instead.
        let revision = self.link.machine.revision();
        if let Message::Notification(told) = Message::parse(line, 16)
            && told.method == Method::Cancelled
            && revision.is_some_and(Revision::is_modern)
        {
            let id = told.params.and_then(|it| it.get("requestId"));
            let id = id.and_then(|id| id.number()?.to_i64());
            let id = id.and_then(|id| u64::try_from(id).ok());
            let mine = |flight: &&mut Flight<A::Name>| {
                flight.exchange.id() == id && !matches!(flight.state, State::Over)
            };
            if let Some(flight) = self.flights.iter_mut().find(mine) {
                flight.state = State::Over;
                self.app.closed(&flight.name);
            }
            return;
        }
        let exchange = Exchange::new(&self.origin, &Message::parse(line, 64));
        self.begin(now, exchange, line.to_vec());
    }

    pub(crate) fn begin(&mut self, now: Instant, exchange: Exchange, message: Vec<u8>) {
        self.flights.push(Flight {
            name: self.app.name(&exchange, &message),
            exchange,
            message,
            state: State::Due(now),
        });
    }

    /// The reply to an exchange begins; all that is no stream has come with it.
    pub(crate) fn head(&mut self, now: Instant, at: usize, head: &ReplyHead<'_>, body: &[u8]) {
        let Self {
            origin, flights, ..
        } = self;
        let exchange = &mut flights[at].exchange;
        let mut line = Vec::new();
        let outcome = match exchange.head(origin, head) {
            Body::Nothing => exchange.nothing(origin),
            Body::Json => {
                let messages = OwnedMessages::parse(body, MAX_DEPTH);
                let outcome = exchange.answer(origin, &messages, &mut line);
                line = delivered(body, line);
                outcome
            }
            Body::Refusal => exchange.refused(origin, now, head.status, body, &mut line, 0),
            Body::Events => {
                let stores = [Vec::new(), Vec::new(), Vec::new()];
                let events = Events::new(Vec::new(), stores, &Limits::default());
                flights[at].state = State::Reading(Box::new(events));
                return;
            }
        };
        self.deliver(&line);
        self.after(now, at, outcome);
    }

    /// Bytes of a stream have come.
    pub(crate) fn events(&mut self, now: Instant, at: usize, mut bytes: &[u8]) {
        let flight = &mut self.flights[at];
        let State::Reading(events) = &mut flight.state else {
            return;
        };
        let (mut lines, mut moves) = (Vec::new(), false);
        while !bytes.is_empty() {
            let spare = events.spare_mut().expect("everything was read");
            let len = spare.len().min(bytes.len());
            spare[..len].copy_from_slice(&bytes[..len]);
            events.filled(len);
            bytes = &bytes[len..];
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
            self.send(now, &refusal);
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
    pub(crate) fn end(&mut self, now: Instant, at: usize) {
        let flight = &mut self.flights[at];
        if let State::Reading(events) = &flight.state {
            let (id, retry) = (events.last_event_id(), events.retry());
            let outcome = flight.exchange.end(&self.origin, now, id, retry, 0);
            self.after(now, at, outcome);
        }
    }

    /// Does what follows from a reply.
    pub(crate) fn after(&mut self, now: Instant, at: usize, outcome: ExchangeOutcome) {
        let machine = &mut self.link.machine;
        let id = self.flights[at].exchange.id();
        self.flights[at].state = State::Over;
        if matches!(outcome, ExchangeOutcome::Resume(_)) && id.is_some_and(|id| !machine.awaits(id))
        {
            return;
        }
        self.app.outcome(now, &outcome);
        match outcome {
            ExchangeOutcome::Done
            | ExchangeOutcome::Deliver
            | ExchangeOutcome::Mismatched
            | ExchangeOutcome::Authorize => {}
            ExchangeOutcome::Refuse(status) => {
                // The stream of the second endpoint is asked for on behalf of the handshake.
                let mut flights = self.flights.iter();
                let opening = || flights.find(|flight| flight.opens())?.exchange.id();
                let id = id.or_else(opening).expect("a request");
                machine.refuse(now, id, status);
            }
            ExchangeOutcome::ProbeHttpSse(_) => {
                let exchange = self.origin.probe_http_sse();
                self.begin(now, exchange, Vec::new());
            }
            ExchangeOutcome::Fail(failure) => {
                if let Some(id) = id {
                    machine.fail(id, failure);
                }
            }
            ExchangeOutcome::Lost => {
                let epoch = self.origin.epoch();
                for flight in &mut self.flights {
                    if flight.exchange.epoch() != epoch {
                        flight.state = State::Over;
                        if flight.exchange.is_begun() {
                            let ids = flight.exchange.ids();
                            ids.for_each(|id| machine.fail(id, Failure::Broken));
                        }
                    }
                }
                machine.lose_session(now);
            }
            ExchangeOutcome::Resume(due) => self.flights[at].state = State::Due(due),
            ExchangeOutcome::HangUp => machine.hang_up(),
        }
    }

    /// Hands a message to the machine, as one line.
    fn deliver(&mut self, message: &[u8]) {
        if message.is_empty() {
            return;
        }
        let line = message.iter().map(|byte| match byte {
            b'\n' => b' ',
            byte => *byte,
        });
        let line: Vec<u8> = line.chain([b'\n']).collect();
        let mut bytes = &*line;
        while !bytes.is_empty() {
            let spare = self.link.inbox.spare_mut().expect("it grows");
            let len = spare.len().min(bytes.len());
            spare[..len].copy_from_slice(&bytes[..len]);
            self.link.inbox.filled(len);
            bytes = &bytes[len..];
        }
    }
}
