//! Two pipes and a clock. [`Net`] is the only place that chops, pauses and breaks. What both sides
//! are told and what crosses the pipes is written down, so that two runs can be compared.

use core::time::Duration;
use std::collections::VecDeque;

use mcp_proto::{Instant, Link, Machine, Outbox, TurnEnd, Verdict};

use super::START;

/// The application on one side.
pub(crate) trait App<M: Machine> {
    /// Something happened; what is to be said about it goes into `outbox` now.
    fn on(
        &mut self,
        now: Instant,
        machine: &mut M,
        event: M::Event<'_>,
        outbox: &mut Outbox<Vec<u8>>,
    ) -> Verdict;

    /// Nothing moves any more: the application may do something by itself. Returns whether it did.
    fn idle(&mut self, now: Instant, machine: &mut M, outbox: &mut Outbox<Vec<u8>>) -> bool {
        let _ = (now, machine, outbox);
        false
    }

    fn next_timeout(&self) -> Option<Instant> {
        None
    }

    fn handle_timeout(&mut self, now: Instant, machine: &mut M, outbox: &mut Outbox<Vec<u8>>) {
        let _ = (now, machine, outbox);
    }
}

/// A machine with its buffers, and its application.
pub(crate) struct Side<M, A> {
    pub(crate) link: Link<M, Vec<u8>, Vec<u8>>,
    pub(crate) app: A,
    /// Every byte that left.
    pub(crate) sent: Vec<u8>,
    wire: VecDeque<u8>,
    hung_up: bool,
    /// It does nothing before that.
    awake: Instant,
}

/// What goes wrong on the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cut {
    /// Nothing.
    None,
    /// All bytes arrive one by one.
    Crumbs,
    /// The wire to that side rests after so many bytes until nothing else moves, and again after each so many more.
    Rest(To, usize, usize),
    /// The wire to that side ends after so many bytes, and the other with it.
    Break(To, usize),
}

/// Where a wire leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    Client,
    Server,
}

/// Both sides and the clock.
pub(crate) struct Net<C, CA, S, SA> {
    pub(crate) now: Instant,
    pub(crate) client: Side<C, CA>,
    pub(crate) server: Side<S, SA>,
    cut: Cut,
    broken: bool,
}

impl<C, CA, S, SA> Net<C, CA, S, SA>
where
    C: Machine,
    CA: App<C>,
    S: Machine,
    SA: App<S>,
{
    pub(crate) fn new(client: (C, CA), server: (S, SA), cut: Cut) -> Self {
        Self {
            now: START,
            client: Side::new(client.0, client.1),
            server: Side::new(server.0, server.1),
            cut,
            broken: false,
        }
    }

    /// Runs until nothing moves and no deadline lies within `horizon` of the start.
    pub(crate) fn run(&mut self, horizon: Duration) {
        let end = self.now + horizon;
        // A conversation that does not settle is a machine that spins.
        for _ in 0..1_000_000 {
            if self.turn() || self.resume() || self.idle() {
                continue;
            }
            let awake = [self.client.awake, self.server.awake];
            let next = [
                self.client.link.machine.poll_timeout(),
                self.server.link.machine.poll_timeout(),
                self.client.app.next_timeout(),
                self.server.app.next_timeout(),
            ]
            .into_iter()
            .flatten()
            .chain(awake.into_iter().filter(|awake| *awake > self.now))
            .min();
            match next {
                Some(next) if next <= end => {
                    assert!(next > self.now, "a deadline that has passed already");
                    self.now = next;
                    self.client.handle_timeout(self.now);
                    self.server.handle_timeout(self.now);
                }
                _ => return,
            }
        }
        panic!("the two never come to rest");
    }

    /// Ends both wires, as a peer that is gone.
    pub(crate) fn hang_up(&mut self) {
        self.client.hang_up();
        self.server.hang_up();
        self.broken = true;
        self.run(Duration::ZERO);
    }

    /// Lets one side begin later.
    pub(crate) fn sleep(&mut self, side: To, time: Duration) {
        match side {
            To::Client => self.client.awake = self.now + time,
            To::Server => self.server.awake = self.now + time,
        }
    }

    /// Whether the cut happened: a longer one lies behind the end of the conversation.
    pub(crate) fn was_cut(&self) -> bool {
        match self.cut {
            Cut::None | Cut::Crumbs => true,
            Cut::Rest(..) => false,
            Cut::Break(..) => self.broken,
        }
    }

    fn turn(&mut self) -> bool {
        let worked = self.client.work(self.now) | self.server.work(self.now);
        let to_server = self.deliver(To::Server);
        let to_client = self.deliver(To::Client);
        worked | to_server | to_client
    }

    fn deliver(&mut self, to: To) -> bool {
        let (from, into) = match to {
            To::Server => (
                (&mut self.client.wire, self.client.sent.len()),
                &mut self.server.link.inbox,
            ),
            To::Client => (
                (&mut self.server.wire, self.server.sent.len()),
                &mut self.client.link.inbox,
            ),
        };
        let (wire, sent) = from;
        let arrived = sent - wire.len();
        let most = match self.cut {
            Cut::None => usize::MAX,
            Cut::Crumbs => 1,
            Cut::Rest(side, at, _) | Cut::Break(side, at) if side == to => {
                at.saturating_sub(arrived)
            }
            Cut::Rest(..) | Cut::Break(..) => usize::MAX,
        };
        let ends = matches!(self.cut, Cut::Break(side, at) if side == to && arrived >= at);
        if ends && !self.broken {
            self.hang_up_both();
            return true;
        }
        let mut moved = false;
        let mut left = most.min(wire.len());
        while left > 0 {
            let Some(spare) = into.spare_mut() else {
                break;
            };
            let count = spare.len().min(left);
            spare[..count].copy_from_slice(&wire.make_contiguous()[..count]);
            wire.drain(..count);
            into.filled(count);
            left -= count;
            moved = true;
        }
        moved
    }

    fn hang_up_both(&mut self) {
        self.broken = true;
        self.client.wire.clear();
        self.server.wire.clear();
        self.client.hang_up();
        self.server.hang_up();
    }

    /// A rested wire goes on.
    fn resume(&mut self) -> bool {
        let Cut::Rest(to, at, more) = self.cut else {
            return false;
        };
        let waiting = match to {
            To::Server => !self.client.wire.is_empty(),
            To::Client => !self.server.wire.is_empty(),
        };
        if waiting {
            self.cut = Cut::Rest(to, at + more, more);
        }
        waiting
    }

    fn idle(&mut self) -> bool {
        self.client.idle(self.now) || self.server.idle(self.now)
    }
}

impl<M: Machine, A: App<M>> Side<M, A> {
    fn new(machine: M, app: A) -> Self {
        Self {
            link: Link::new(machine, Vec::new(), Vec::new()).unwrap(),
            app,
            sent: Vec::new(),
            wire: VecDeque::new(),
            hung_up: false,
            awake: Instant::ZERO,
        }
    }

    /// Turns until there is nothing to do, and moves what was written to the wire.
    fn work(&mut self, now: Instant) -> bool {
        let mut worked = false;
        if now < self.awake {
            return false;
        }
        loop {
            let app = &mut self.app;
            let rest = self.link.turn(now, |machine, event, outbox| {
                worked = true;
                app.on(now, machine, event, outbox)
            });
            let flushed = self.flush();
            worked |= flushed;
            match rest {
                TurnEnd::Full => assert!(flushed, "full, and nothing to drain"),
                TurnEnd::Empty => return worked,
            }
        }
    }

    fn flush(&mut self) -> bool {
        let pending = self.link.outbox.pending();
        let count = pending.len();
        if !self.hung_up {
            self.sent.extend(pending);
            self.wire.extend(pending);
        }
        self.link.outbox.consume(count);
        count > 0
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.link.machine.handle_timeout(now);
        let (machine, outbox) = (&mut self.link.machine, &mut self.link.outbox);
        self.app.handle_timeout(now, machine, outbox);
    }

    fn idle(&mut self, now: Instant) -> bool {
        self.app
            .idle(now, &mut self.link.machine, &mut self.link.outbox)
    }

    fn hang_up(&mut self) {
        if !self.hung_up {
            self.hung_up = true;
            self.link.machine.hang_up();
        }
    }
}
