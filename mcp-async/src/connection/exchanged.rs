//! A connection whose messages come and go in exchanges: what the driver is to a pair of byte
//! streams, without the streams.

use core::ops::ControlFlow;
use core::task::{Context, Poll};
use std::sync::Arc;

use mcp_proto::rpc::Incoming;
use mcp_proto::{Action, Instant, Machine};

use super::alarm::Alarm;
use super::calls::{Calls, Event, Role};
use super::frame::Frame;
use super::shared::{Core, Shared};
use crate::observe;

/// A machine with its calls and its time. Whatever holds it hands messages to it, takes a
/// [`turn`](Self::turn) after them, and takes from the outbound what there is to send.
pub(crate) struct Exchanged<X: Role> {
    pub(crate) calls: Calls<X>,
    alarm: Alarm,
    /// The machine has given the connection up.
    given_up: bool,
}

impl<X: Role> Exchanged<X> {
    pub(crate) fn new(role: X, shared: Arc<Shared<X::Machine>>) -> Self {
        Self {
            calls: Calls::new(role, shared),
            alarm: Alarm::default(),
            given_up: false,
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.calls.shared.now()
    }

    /// Looks at the machine and at what it has to send.
    pub(crate) fn with<T>(&self, look: impl FnOnce(&mut Core<X::Machine>) -> T) -> T {
        look(&mut self.calls.shared.lock())
    }

    /// Returns true if the machine has given the connection up.
    pub(crate) const fn is_given_up(&self) -> bool {
        self.given_up
    }

    /// A poll of its task begins.
    pub(crate) fn begin(&mut self, cx: &Context<'_>) {
        if self.calls.shared.driver_waker.begin(cx.waker()) {
            self.alarm.forget_task();
        }
    }

    /// From now on what leaves work wakes the task.
    pub(crate) fn rest(&self) {
        self.calls.shared.driver_waker.rest();
    }

    /// Takes one message. Returns what `look` makes of the machine's verdict, unless the message
    /// has its answer already.
    pub(crate) fn handle<T>(
        &mut self,
        now: Instant,
        from: &<X::Machine as Machine>::Origin<'_>,
        incoming: Incoming<'_>,
        frame: Frame<'_>,
        look: impl FnOnce(&Action<Event<'_, X>, Reply<'_, X>>) -> Option<T>,
    ) -> Option<T> {
        let (mut verdict, mut ignored, mut event) = (None, None, None);
        {
            let core = &mut *self.calls.shared.lock();
            core.now = now;
            let seen = |action: &Action<_, _>| {
                verdict = look(action);
                ignored = match action {
                    Action::Ignore(why) => Some(*why),
                    _ => None,
                };
            };
            // Put where it stays: what is returned through closures is copied each time.
            core.converse(|talk| event = talk.handle(now, from, incoming, seen))?;
        }
        if let Some(why) = ignored {
            observe::ignored(why);
        }
        if let Some(event) = event {
            self.take(&event, frame, now);
        }
        verdict
    }

    /// Does what there is to do now, as far as one turn goes. Returns whether there is more. Jobs
    /// get half of a turn at most, so that one that wakes itself does not hold up the rest.
    pub(crate) fn turn(&mut self, now: Instant) -> bool {
        self.calls.expire(now);
        let mut jobs = WORK / 2;
        for _ in 0..WORK {
            if jobs > 0 && self.calls.poll_woken() {
                jobs -= 1;
                continue;
            }
            self.calls.flush_errors();
            let event = self.next_event(now);
            match event {
                Some(event) => self.take(&event, None, now),
                None => return jobs == 0,
            }
        }
        true
    }

    /// Wakes those who wait for room to send.
    pub(crate) fn wake_senders(&self) {
        let waiting = self.calls.shared.lock().take_room();
        waiting.wake();
    }

    /// Waits for the first of what time brings: for the machine, for its calls, and for one of
    /// these deadlines. Ready when it has come already.
    pub(crate) fn poll_time(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        deadlines: [Option<Instant>; 2],
    ) -> Poll<()> {
        let timeout = self.calls.shared.lock().machine.poll_timeout();
        let own = [timeout, self.calls.jobs.deadline()];
        let deadlines = deadlines.into_iter().chain(own);
        let runtime = &self.calls.shared.runtime;
        self.alarm.poll_first(cx, runtime, now, deadlines)
    }

    fn take(&mut self, event: &Event<'_, X>, frame: Frame<'_>, now: Instant) {
        let effect = self.calls.dispatch(event, frame);
        if let ControlFlow::Break(()) = self.calls.carry_out(effect, now) {
            self.given_up = true;
        }
    }

    /// Returns the next event that follows from time and state; messages leave meanwhile.
    fn next_event(&self, now: Instant) -> Option<Event<'static, X>> {
        let core = &mut *self.calls.shared.lock();
        core.now = now;
        let mut event = None;
        core.converse(|conversation| event = conversation.next_event(now))?;
        event
    }
}

type Reply<'b, X> = <<X as Role>::Machine as Machine>::Reply<'b>;

/// Messages and polls of handlers in one turn: see the driver of byte streams.
const WORK: u32 = 128;
