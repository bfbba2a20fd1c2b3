//! The client: its machine, an exchange for each message, and what it was to do.

use core::time::Duration;

use mcp_proto::client::http::{Exchange, HttpMethod, ReplyHead};
use mcp_proto::client::{ClientConfig, Event};
use mcp_proto::rpc::Message;
use mcp_proto::server::http::ExchangeId;
use mcp_proto::{Instant, Machine, Outbox};

use super::app::{AnyClient, User};
use super::net::App;
use super::site::Site;
use crate::http::{ClientApplication, HttpClient, Sent, State};

pub(crate) struct Browser {
    pub(crate) client: HttpClient<Visitor>,
    /// After so many bytes of event streams the connection breaks.
    pub(crate) cut: Option<usize>,
    /// The bytes of event streams so far.
    pub(crate) streamed: usize,
    /// Every request, in short.
    pub(crate) sent: Vec<String>,
}

/// The application, and the exchanges that it has closed.
pub(crate) struct Visitor {
    user: User,
    closed: Vec<ExchangeId>,
}

impl ClientApplication for Visitor {
    /// The exchange at the site, and the request in short; from when it was sent.
    type Name = Option<(ExchangeId, String)>;

    fn name(&mut self, _: &Exchange, _: &[u8]) -> Self::Name {
        None
    }

    fn on(
        &mut self,
        now: Instant,
        machine: &mut AnyClient,
        event: Event<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) {
        let _ = self.user.on(now, machine, event, outbox);
    }

    fn closed(&mut self, name: &Self::Name) {
        self.closed
            .extend(name.iter().map(|(exchange, _)| *exchange));
    }
}

impl Browser {
    pub(crate) fn new(config: ClientConfig<'static>, todo: &[&'static str]) -> Self {
        let visitor = Visitor {
            user: User::new(todo),
            closed: Vec::new(),
        };
        Self {
            client: HttpClient::new(config, visitor),
            cut: None,
            streamed: 0,
            sent: Vec::new(),
        }
    }

    pub(crate) fn log(&self) -> &[String] {
        &self.client.app.user.log
    }

    /// The same call by call, and without what may be lost with the connection of the session's
    /// own stream.
    pub(crate) fn answers(&self) -> Vec<&str> {
        let own = |line: &&str| !line.starts_with("notifications/") && *line != "asked roots/list";
        let lines = self.log().iter().map(String::as_str);
        let mut lines: Vec<&str> = lines.filter(own).collect();
        lines.sort_by_key(|line| line.split(' ').next());
        lines
    }

    pub(crate) fn do_next(&mut self, todo: &[&'static str]) {
        self.client.app.user.todo.extend(todo);
    }

    /// Runs until nothing moves and nothing is due within `horizon`.
    pub(crate) fn run(&mut self, now: &mut Instant, site: &mut Site, horizon: Duration) {
        let end = *now + horizon;
        self.client.link.machine.handle_timeout(*now);
        site.handle_timeout(*now);
        for _ in 0..100_000 {
            if self.turn(*now, site) {
                continue;
            }
            let flights = self
                .client
                .flights
                .iter()
                .filter_map(|flight| match flight.state {
                    State::Due(at) => Some(at),
                    _ => None,
                });
            let machines = [self.client.link.machine.poll_timeout(), site.next_timeout()];
            let next = flights.chain(machines.into_iter().flatten()).min();
            match next {
                Some(next) if next <= end => {
                    assert!(next > *now, "a deadline that has passed already");
                    *now = next;
                    self.client.link.machine.handle_timeout(*now);
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
        let mut worked = self.client.work(now);
        for exchange in core::mem::take(&mut self.client.app.closed) {
            site.hang_up(exchange);
            worked = true;
        }
        for at in 0..self.client.flights.len() {
            worked |= match &self.client.flights[at].state {
                State::Due(due) if *due <= now => {
                    self.start(now, site, at);
                    self.receive(now, site, at);
                    true
                }
                State::Due(_) | State::Over => false,
                State::Sent => self.receive(now, site, at),
                State::Reading(_) => self.read(now, site, at),
            };
        }
        let HttpClient { link, app, .. } = &mut self.client;
        worked || app.user.idle(now, &mut link.machine, &mut link.outbox)
    }

    /// Sends a request.
    fn start(&mut self, now: Instant, site: &mut Site, at: usize) {
        let flight = &mut self.client.flights[at];
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
        exchange.fields(&self.client.origin, &message, &mut |name, value| {
            head.fields.push((name.into(), value.into()));
            if name == "last-event-id" {
                last = String::from_utf8(value.into()).unwrap();
            }
        });
        let id = site.request(now, &head, body);
        flight.name = Some((id, format!("{method} {last}")));
        flight.state = State::Sent;
    }

    /// Reads the reply, as far as that is no stream; says whether it has come.
    fn receive(&mut self, now: Instant, site: &mut Site, at: usize) -> bool {
        let name = self.client.flights[at].name.as_ref();
        let (id, request) = name.expect("it was sent");
        let Some(reply) = site.reply(*id) else {
            return false;
        };
        let status = reply.head.status;
        self.sent.push(format!("{request} {status}"));
        let head = ReplyHead {
            content_type: reply.head.field("content-type").map(str::as_bytes),
            session: reply.head.field("mcp-session-id").map(str::as_bytes),
            ..ReplyHead::new(status)
        };
        self.client.head(now, at, &head, &reply.body);
        true
    }

    /// Reads what has come of a stream; says whether anything has.
    fn read(&mut self, now: Instant, site: &mut Site, at: usize) -> bool {
        let name = self.client.flights[at].name.as_ref();
        let stream = name.expect("it was sent").0;
        let (mut bytes, mut ended) = site.read(stream);
        if bytes.is_empty() && !ended {
            return false;
        }
        let left = self
            .cut
            .map_or(usize::MAX, |cut| cut.saturating_sub(self.streamed));
        if left <= bytes.len() && self.cut.take().is_some() {
            bytes.truncate(left);
            ended = true;
        }
        self.streamed += bytes.len();
        self.client.events(now, at, &bytes);
        if ended {
            site.hang_up(stream);
            self.client.end(now, at);
        }
        true
    }
}
