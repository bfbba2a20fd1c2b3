//! A connection whose messages come and go in exchanges: what a driver is to a pair of byte
//! streams, without the streams.

use core::convert::Infallible;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use http::request::Parts;
use mcp_proto::rpc::{Incoming, Messages};
use mcp_proto::server::Event;
use mcp_proto::{Action, Channel, Instant, Machine as _, Source};

use crate::connection::{
    Alarm, Calls, Core, Frame, LARGE, Outbound, Shared, Work, Worked, poll_work,
};
use crate::observe::{self, Transport};
use crate::runtime::{Clock, Now, Timer};
use crate::server::{BoxService, Keys, Machine, Peer, Side};

/// A machine with its service, its calls and its time.
///
/// It is driven by whoever holds it: [`handle`](Self::handle) a message, take a
/// [`turn`](Self::turn), and [`poll`](Self::poll) while something is still going on. Dropping it
/// ends every request.
pub(super) struct Conversation<C: Clock> {
    calls: Calls<Side<BoxService>>,
    clock: C,
    /// Made when there is something to wait for.
    timer: Option<C::Timer>,
    /// What it was armed for; it may still fire.
    armed: Option<Instant>,
    /// Since it was asked to end, when it does so at the latest.
    ending: Option<Instant>,
    grace: Duration,
    /// Who is told that it has ended.
    leave: Option<Leave>,
}

/// Is told of the end of a connection.
pub(super) type Leave = Arc<dyn Fn(&Peer) + Send + Sync>;

/// A body. A handler that keeps a part of a large one keeps all of it instead of a copy.
pub(super) enum Text {
    Small(Vec<u8>),
    Large(Arc<Vec<u8>>),
}

/// What a conversation begins with.
pub(super) struct Beginning<C> {
    pub(super) machine: Machine,
    pub(super) service: BoxService,
    pub(super) keys: Option<Keys>,
    pub(super) principal: Option<Arc<str>>,
    pub(super) clock: C,
    /// The same, for handles.
    pub(super) now: Arc<dyn Now>,
    pub(super) grace: Duration,
}

impl<C: Clock> Conversation<C> {
    pub(super) fn new(beginning: Beginning<C>, outbound: impl Outbound) -> Self {
        let Beginning {
            machine,
            service,
            keys,
            principal,
            clock,
            now,
            grace,
        } = beginning;
        let limits = machine.config().limits;
        let shared = Shared::new(machine, &limits, now, Transport::Http, outbound);
        if let Some(keys) = keys {
            shared.lock().beside.rounds.set_keys(keys);
        }
        let side = Side::new(service, Peer::new(Arc::clone(&shared)), principal);
        Self {
            calls: Calls::new(side, shared),
            clock,
            timer: None,
            armed: None,
            ending: None,
            grace,
            leave: None,
        }
    }
}

impl<C: Clock> Conversation<C> {
    /// The handle that reaches its client.
    pub(super) const fn peer(&self) -> &Peer {
        &self.calls.role.peer
    }

    /// Tells somebody when it ends.
    pub(super) fn leaves(&mut self, leave: &Leave) {
        self.leave = Some(Arc::clone(leave));
    }

    pub(super) const fn shared(&self) -> &Arc<Shared<Machine>> {
        &self.calls.shared
    }

    pub(super) fn now(&self) -> Instant {
        self.clock.now()
    }

    /// Looks at the machine and at what it has to send.
    pub(super) fn with<T>(&self, look: impl FnOnce(&mut Core<Machine>) -> T) -> T {
        look(&mut self.calls.shared.lock())
    }

    /// Takes the messages of one body, and says which HTTP status it has if there is no answer to
    /// it.
    pub(super) fn take_in(
        &mut self,
        from: &Source<'_>,
        head: &Arc<Parts>,
        text: &Text,
        depth: u8,
    ) -> Option<u16> {
        self.calls.role.arrived.head = Some(Arc::clone(head));
        let mut status = None;
        let mut answered = false;
        let mut several = false;
        for incoming in Messages::new(text.bytes(), depth) {
            several |= matches!(incoming, Incoming::BatchStart);
            match self.handle(from, incoming, text.frame()) {
                None => answered = true,
                Some(other) => status = Some(other),
            }
        }
        // Calls that run keep the head themselves. Its fields share the storage that they were
        // read into, which an idle session must not hold.
        self.calls.role.arrived.head = None;
        let accepted = several.then_some(ACCEPTED);
        accepted.or(status).filter(|_| !answered)
    }

    /// Takes one message, and says which HTTP status it has if there is no answer to it.
    fn handle(
        &mut self,
        from: &Source<'_>,
        incoming: Incoming<'_>,
        frame: Frame<'_>,
    ) -> Option<u16> {
        let now = self.now();
        self.calls.role.arrived.channel = from.channel();
        let (event, status) = {
            let core = &mut *self.calls.shared.lock();
            core.now = now;
            let action = core.machine.handle(now, from, incoming);
            let status = action.http_status();
            let event = match action {
                Action::Event(event) => event,
                Action::Reply(reply) => {
                    let told = core.machine.told(&reply);
                    // There is no output that could be too full for it.
                    let _ = core.put(|machine, out| machine.reply(now, reply, out));
                    told?
                }
                Action::Ignore(why) => {
                    observe::ignored(why);
                    return status;
                }
            };
            (event, status)
        };
        self.take(event, frame, now);
        status
    }

    /// Does what there is to do now, as far as one turn goes; whether there is more.
    pub(super) fn turn(&mut self) -> bool {
        let now = self.now();
        self.calls.expire(now);
        self.wind_down(now);
        for _ in 0..WORK {
            if self.calls.poll_woken() {
                continue;
            }
            self.calls.pay(now);
            let event = self.next_event(now);
            match event {
                Some(event) => self.take(event, None, now),
                None => return false,
            }
        }
        true
    }

    /// Whether it has ended by itself, or was asked to and has nothing left to do.
    pub(super) fn is_over(&self) -> bool {
        let late = self.ending.is_some_and(|ending| ending <= self.now());
        self.with(|core| {
            // What a store does not have yet, nobody has read.
            let done = || core.machine.in_flight() == 0 && (late || !core.outbound.awaits_store());
            core.machine.is_closed() || (core.closing && done())
        })
    }

    /// Ends every request.
    pub(super) fn end(&mut self) {
        self.calls.end();
    }

    /// Takes turns until there is nothing to do, and wakes the task when that changes, at
    /// `deadline` at the latest. The caller looks at what there is to send.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, deadline: Option<Instant>) {
        let turns = &mut Turns {
            conversation: self,
            deadline,
        };
        let _ = poll_work(turns, cx);
    }

    /// What wakes its task.
    pub(super) fn alarm(&self) -> &Alarm {
        &self.calls.shared.alarm
    }

    /// The task is another one: what was registered for the last one is void.
    pub(super) const fn begin_in_new_task(&mut self) {
        self.armed = None;
    }

    /// Tells those who wait that there is room again.
    pub(super) fn was_read(&self) {
        let waiting = self.calls.shared.lock().take_room();
        waiting.into_iter().for_each(Waker::wake);
    }

    fn take(&mut self, event: Event<'_>, frame: Frame<'_>, now: Instant) {
        if let Event::Answer { token, .. } = &event {
            self.with(|core| core.outbound.answered(*token));
        }
        let effect = self.calls.dispatch(event, frame);
        // What the machine gives up, its channels end.
        let _ = self.calls.carry_out(effect, now);
    }

    /// What follows from time and state: messages leave, and events are returned.
    fn next_event(&self, now: Instant) -> Option<Event<'static>> {
        let core = &mut *self.calls.shared.lock();
        core.now = now;
        if core.machine.poll_timeout().is_some_and(|due| due <= now) {
            core.machine.handle_timeout(now);
        }
        // One channel that is full blocks no other.
        while let Some(channel) = core.next_channel() {
            let sent = core.put(|machine, out| machine.poll_transmit(now, channel, out));
            if !matches!(sent, Ok(Some(_))) {
                break;
            }
        }
        core.machine.poll_event()
    }

    /// After a handle asked for the end, what runs may finish, and listens end.
    fn wind_down(&mut self, now: Instant) {
        let core = &mut *self.calls.shared.lock();
        if !core.closing {
            return;
        }
        let ending = *self.ending.get_or_insert(now + self.grace);
        if core.machine.in_flight() == 0 || ending <= now {
            core.machine.cancel_all();
        }
    }

    /// Waits for what it is the first to wait for, `deadline` included.
    pub(super) fn arm(&mut self, cx: &mut Context<'_>, deadline: Option<Instant>) -> Poll<()> {
        let timeout = self.calls.shared.lock().machine.poll_timeout();
        let now = self.now();
        let ending = self.ending.filter(|ending| *ending > now);
        let deadlines = [timeout, deadline, ending, self.calls.jobs.deadline()];
        let Some(next) = deadlines.into_iter().flatten().min() else {
            return Poll::Pending;
        };
        if self.armed.is_some_and(|armed| armed <= next && armed > now) {
            return Poll::Pending;
        }
        let timer = self.timer.get_or_insert_with(|| self.clock.timer());
        let due = timer.poll_until(next, cx);
        self.armed = due.is_pending().then_some(next);
        due
    }
}

/// One poll of a conversation.
struct Turns<'c, C: Clock> {
    conversation: &'c mut Conversation<C>,
    deadline: Option<Instant>,
}

impl<C: Clock> Work for Turns<'_, C> {
    /// There is always a next turn.
    type Output = Infallible;

    fn alarm(&self) -> &Alarm {
        self.conversation.alarm()
    }

    fn begin_in_new_task(&mut self) {
        self.conversation.begin_in_new_task();
    }

    fn work(&mut self, _: &mut Context<'_>) -> Worked<Infallible> {
        match self.conversation.turn() {
            true => Worked::Enough,
            false => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.conversation.arm(cx, self.deadline).is_ready() {
            // The caller has to look first: what is due may be its own.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

impl Text {
    pub(super) fn new(body: Vec<u8>) -> Self {
        if body.len() >= LARGE {
            Self::Large(Arc::new(body))
        } else {
            Self::Small(body)
        }
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large(bytes) => bytes,
        }
    }

    const fn frame(&self) -> Frame<'_> {
        match self {
            Self::Small(_) => None,
            Self::Large(bytes) => Some(bytes),
        }
    }
}

impl<C: Clock> Drop for Conversation<C> {
    fn drop(&mut self) {
        self.calls.end();
        if let Some(leave) = &self.leave {
            leave(&self.calls.role.peer);
        }
    }
}

impl Core<Machine> {
    /// A channel that is owed a message and has room for it.
    fn next_channel(&self) -> Option<Channel> {
        self.machine
            .next_channel_where(|channel| self.outbound.has_room(channel))
    }
}

/// What was taken in, and wants no answer.
const ACCEPTED: u16 = 202;

/// Messages and polls of handlers in one turn: see the driver of byte streams.
const WORK: u32 = 128;
