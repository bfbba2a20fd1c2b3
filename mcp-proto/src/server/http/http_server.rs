//! All sessions and exchanges of one endpoint, and their order of work.

use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::commands::Commands;
use super::deadlines::{Deadlines, Due};
use super::entry::{Entry, Kind};
use super::exchange::{Exchange, State};
use super::ids::{ExchangeId, ServerId};
use super::streams::StreamLimits;
use crate::config_error::ConfigError;
use crate::http::{Endpoint, HttpLimits, Refusal};
use crate::outbox::Outbox;
use crate::prepared_config::PreparedConfig;
use crate::server::{Event, Growing, ServerConfig};
use crate::time::Instant;

/// The server's side of an endpoint without sockets: requests go in, events come out, answers go
/// in, responses come out. See the [module](super) for the loop around it.
///
/// Each session has a machine, a [`Server`](crate::server::Server), and so has each request of a revision without
/// sessions. An event comes with the name of its machine; with the token of the event it is the address for an
/// answer that comes later.
///
/// - A session belongs to the principal that opened it. For all others it does not exist.
/// - A session ends when the client deletes it, after
///   [`HttpLimits::session_idle`], or by [`end`](Self::end).
/// - A client that hangs up cancels its request of 2026-07-28. In a session the request continues,
///   and the client can resume the stream.
/// - An answer that is given before [`finish`](Self::finish) leaves as one JSON body.
pub struct HttpServer<'c> {
    pub(super) endpoint: Endpoint<'c>,
    pub(super) prepared: PreparedConfig<ServerConfig<'c>>,
    pub(super) options: HttpOptions,
    pub(super) machines: BTreeMap<ServerId, Entry<'c>>,
    /// Machines that belong to one exchange each. The others are those of sessions: that have
    /// begun, whose handshake is under way, or whose last streams are read.
    pub(super) alone: usize,
    pub(super) sessions: BTreeMap<Box<str>, ServerId>,
    pub(super) exchanges: BTreeMap<ExchangeId, Exchange>,
    /// The bytes of the bodies that are arriving.
    pub(super) body_bytes: usize,
    /// Machines that may have something to say.
    dirty: VecDeque<ServerId>,
    /// Exchanges that have something to write.
    ready: VecDeque<ExchangeId>,
    pub(super) deadlines: Deadlines,
    /// The buffer in which machines write.
    pub(super) outbox: Outbox<Vec<u8>>,
    ids: u64,
}

/// The bounds of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HttpOptions {
    /// The bounds of bodies and sessions. The driver must enforce the time within which a head has
    /// to arrive.
    pub limits: HttpLimits,
    /// The bounds of the streams of one session.
    pub streams: StreamLimits,
    /// Requests without a session that may run at a time.
    pub exchanges: usize,
    /// Bytes that the bodies of all requests may take while they arrive.
    pub bodies: usize,
    /// The time within which the body of a request has to arrive.
    pub body_timeout: Duration,
    /// After how long an event stream without events carries a comment (SH-42).
    pub keep_alive: Duration,
}

/// The result of [`HttpServer::step`].
#[derive(Debug)]
#[must_use = "a request whose event is dropped is never answered"]
#[expect(
    clippy::large_enum_variant,
    reason = "an event of another variant than a request is small, and no step is kept"
)]
pub enum HttpStep {
    /// Something for the application that no message has caused: a cancellation, the end of a session.
    Event {
        /// The machine that it comes from.
        machine: ServerId,
        /// The event.
        event: Event<'static>,
    },
    /// The exchange has a [response](HttpServer::response), or more of one, to
    /// [read](HttpServer::read).
    Ready(ExchangeId),
    /// Nothing to do until something arrives or time passes.
    Idle,
}

impl<'c> HttpServer<'c> {
    /// An endpoint without sessions. It serves the revisions of `config`, whatever the endpoint
    /// says.
    ///
    /// # Errors
    ///
    /// See [`ConfigError`].
    pub fn new(
        endpoint: Endpoint<'c>,
        config: impl Into<PreparedConfig<ServerConfig<'c>>>,
        options: HttpOptions,
    ) -> Result<Self, ConfigError> {
        let prepared = config.into();
        prepared.check::<Growing>()?;
        Ok(Self {
            endpoint: Endpoint {
                revisions: prepared.revisions,
                ..endpoint
            },
            outbox: Outbox::new(Vec::new(), &prepared.limits),
            prepared,
            options,
            machines: BTreeMap::new(),
            alone: 0,
            sessions: BTreeMap::new(),
            exchanges: BTreeMap::new(),
            body_bytes: 0,
            dirty: VecDeque::new(),
            ready: VecDeque::new(),
            deadlines: Deadlines::default(),
            ids: 0,
        })
    }

    /// Does one thing, in this order: what is due by now, messages that follow from state, events
    /// of time and teardown, a response that can be written.
    pub fn step(&mut self, now: Instant) -> HttpStep {
        self.expire(now);
        if let Some((machine, event)) = self.next_event(now) {
            return HttpStep::Event { machine, event };
        }
        if let Some(exchange) = self.next_ready() {
            return HttpStep::Ready(exchange);
        }
        if self.outbox.capacity() > SPARE {
            self.outbox = Outbox::new(Vec::new(), &self.prepared.limits);
        }
        HttpStep::Idle
    }

    /// Returns the time by which [`step`](Self::step) must be called; `None` for never. The answer
    /// is valid after `step` has returned [`Idle`](HttpStep::Idle).
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.deadlines.next()
    }

    /// Access to a machine, for the application's answers and for what it says by
    /// itself; `None` if the machine is gone, and its requests with it. Call
    /// [`step`](Self::step) afterwards.
    pub fn commands(&mut self, machine: ServerId) -> Option<Commands<'_, 'c>> {
        self.mark(machine);
        Some(Commands {
            id: machine,
            entry: self.machines.get_mut(&machine)?,
            outbox: &mut self.outbox,
        })
    }

    /// Calls `each` with every machine, for what concerns all of them: a list that changed, a
    /// resource that was updated. Call [`step`](Self::step) afterwards.
    pub fn for_each(&mut self, mut each: impl FnMut(Commands<'_, 'c>)) {
        for (id, entry) in &mut self.machines {
            mark(&mut self.dirty, *id, entry);
            each(Commands {
                id: *id,
                entry,
                outbox: &mut self.outbox,
            });
        }
    }

    /// The sessions: their ids, and their machines.
    pub fn sessions(&self) -> impl Iterator<Item = (&str, ServerId)> {
        self.sessions.iter().map(|(id, machine)| (&**id, *machine))
    }

    /// Returns the number of requests without a session that are under way.
    pub const fn exchanges(&self) -> usize {
        self.alone
    }

    /// Ends a machine: its requests are cancelled, its streams end after what is on them, and
    /// the id of its session is unknown from now on.
    pub fn end(&mut self, now: Instant, machine: ServerId) {
        if let Some(entry) = self.machines.get_mut(&machine) {
            entry.close();
            mark(&mut self.dirty, machine, entry);
            self.forget_session(machine);
            self.wake_readers(now, machine);
        }
    }

    /// A machine whose state may have changed is looked at in the next step.
    pub(super) fn mark(&mut self, machine: ServerId) {
        if let Some(entry) = self.machines.get_mut(&machine) {
            mark(&mut self.dirty, machine, entry);
        }
    }

    /// One of the next steps returns this exchange, which may have something to write.
    pub(super) fn mark_ready(&mut self, exchange: ExchangeId) {
        if let Some(found) = self.exchanges.get_mut(&exchange)
            && !core::mem::replace(&mut found.queued, true)
        {
            self.ready.push_back(exchange);
        }
    }

    pub(super) const fn next_id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    /// Advances the machines whose state may have changed: messages go to their streams, and events
    /// are returned.
    fn next_event(&mut self, now: Instant) -> Option<(ServerId, Event<'static>)> {
        while let Some(id) = self.dirty.front().copied() {
            let Some(entry) = self.machines.get_mut(&id) else {
                self.dirty.pop_front();
                continue;
            };
            let Some(event) = entry.conversation(&mut self.outbox).next_event(now) else {
                self.dirty.pop_front();
                entry.dirty = false;
                self.settle(now, id);
                continue;
            };
            entry.note(&event);
            if matches!(event, Event::Closed) {
                entry.close();
                let is_alone = entry.is_alone();
                self.forget_session(id);
                self.wake_readers(now, id);
                if is_alone {
                    continue;
                }
            }
            return Some((id, event));
        }
        None
    }

    /// A machine has nothing to say at present: its readers are notified.
    fn settle(&mut self, now: Instant, id: ServerId) {
        let idle = self.options.limits.session_idle;
        while let Some(exchange) = self.machines.get_mut(&id).and_then(Entry::next_news) {
            self.decide(now, exchange);
        }
        let Some(entry) = self.machines.get_mut(&id) else {
            return;
        };
        let over = entry.closing && !entry.streams().has_readers();
        let at = entry.deadline(idle).filter(|_| !over);
        self.deadlines.arm(Due::Machine(id), &mut entry.armed, at);
        if over && let Some(entry) = self.machines.remove(&id) {
            self.alone -= usize::from(entry.is_alone());
        }
    }

    fn expire(&mut self, now: Instant) {
        let idle = self.options.limits.session_idle;
        while let Some(due) = self.deadlines.pop_due(now) {
            match due {
                Due::Machine(id) => {
                    let Some(entry) = self.machines.get_mut(&id) else {
                        continue;
                    };
                    entry.armed = None;
                    mark(&mut self.dirty, id, entry);
                    if entry.expiry(idle).is_some_and(|expiry| expiry.is_due(now)) {
                        self.end(now, id);
                    }
                }
                Due::Exchange(id) => {
                    let Some(exchange) = self.exchanges.get_mut(&id) else {
                        continue;
                    };
                    exchange.due = None;
                    if matches!(exchange.state, State::Receiving { .. }) {
                        self.refuse_body(id, Refusal::BodyLate);
                    } else {
                        self.decide(now, id);
                    }
                }
            }
        }
    }

    fn next_ready(&mut self) -> Option<ExchangeId> {
        while let Some(id) = self.ready.pop_front() {
            if let Some(exchange) = self.exchanges.get_mut(&id) {
                exchange.queued = false;
                return Some(id);
            }
        }
        None
    }

    fn forget_session(&mut self, machine: ServerId) {
        if let Some(entry) = self.machines.get_mut(&machine)
            && let Kind::Session(id) = &entry.kind
        {
            self.sessions.remove(id);
        }
    }

    /// The exchanges that read streams of this machine have to look at them again.
    fn wake_readers(&mut self, now: Instant, machine: ServerId) {
        let Some(entry) = self.machines.get(&machine) else {
            return;
        };
        let readers: Vec<ExchangeId> = entry.readers().collect();
        for exchange in readers {
            self.decide(now, exchange);
        }
    }
}

/// A machine is looked at in the next step.
fn mark(dirty: &mut VecDeque<ServerId>, id: ServerId, entry: &mut Entry<'_>) {
    if !core::mem::replace(&mut entry.dirty, true) {
        dirty.push_back(id);
    }
}

/// The capacity that the buffer for messages keeps while idle.
const SPARE: usize = 64 << 10;

impl Default for HttpOptions {
    /// Those of [`HttpLimits`] and [`StreamLimits`], 10,000 requests without a session, 256 MiB of
    /// bodies, 30 s for a body and a comment after 15 s.
    fn default() -> Self {
        Self {
            limits: HttpLimits::DEFAULT,
            streams: StreamLimits::default(),
            exchanges: 10_000,
            bodies: 256 << 20,
            body_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
        }
    }
}

impl fmt::Debug for HttpServer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("machines", &self.machines.len())
            .field("sessions", &self.sessions.len())
            .field("exchanges", &self.exchanges.len())
            .finish_non_exhaustive()
    }
}
