//! The task of a legacy session.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::http::{Post, Version};
use mcp_proto::{Channel, Instant, Source};

use super::conversation::Conversation;
use super::session::Session;
use super::sessions::{Place, Sessions};
use super::store_writer::StoreWriter;
use super::streams::SessionStreams;
use crate::connection::{Core, Text, Work, Worked, poll_work};
use crate::observe;
use crate::runtime::Clock;
use crate::server::Machine;

/// Holds the machine of a session, and does what there is to do for it.
pub(super) struct SessionTask<C: Clock> {
    pub(super) session: Arc<Session>,
    pub(super) conversation: Conversation<C>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) idle: Duration,
    pub(super) depth: u8,
    /// Its one stream is its connection (HS-10).
    pub(super) ends_with_stream: bool,
    /// Nothing is left to do but to be forgotten by the stores.
    pub(super) leaving: bool,
    /// The stores have forgotten it.
    pub(super) forgotten: bool,
    pub(super) store_writer: StoreWriter,
    pub(super) _place: Place,
}

impl<C: Clock> SessionTask<C> {
    /// Takes a few bodies that were posted, and does what there is to do; whether there is more.
    fn turn(&mut self, now: Instant) -> bool {
        let mut more = None;
        for _ in 0..POSTS {
            let Some(posted) = self.session.next_posted() else {
                return more.unwrap_or_else(|| self.conversation.turn(now));
            };
            let channel = posted.channel;
            let post = Post {
                version: posted.version.map_or(Version::Absent, Version::Known),
                session: None,
                method: posted.method.as_deref(),
                name: posted.name.as_deref(),
            };
            let source = match channel {
                Channel::PIPE => Source::PIPE,
                channel => Source::post(channel, &post),
            };
            let status = self.conversation.take_in(
                now,
                &source,
                &posted.head,
                &Text::new(posted.body),
                self.depth,
            );
            // Answers that are there at once come with the verdict.
            more = Some(self.conversation.turn(now));
            self.session
                .streams(|streams| streams.was_handled(channel, status));
        }
        true
    }

    /// Lets the stores know what is new.
    fn keep(&mut self, cx: &mut Context<'_>, now: Instant) {
        if !self.store_writer.has_stores() {
            return;
        }
        let used = match self.conversation.with(is_idle) {
            true => self.session.state().used,
            false => now,
        };
        self.store_writer.poll(cx, now, &self.session.shared, used);
    }

    /// Looks at what the turn has left, and wakes the readers of what is new.
    fn look(&self, now: Instant) -> Look {
        let mut woken = Vec::new();
        let (idle, over) = self.conversation.with(|core| {
            let idle = is_idle(core);
            let over = self.conversation.is_over(now, core);
            let is_read = SessionStreams::of(core).is_some_and(|streams| {
                streams.take_woken(&mut woken);
                streams.has_readers()
            });
            (idle, over || (self.ends_with_stream && !is_read))
        });
        woken.into_iter().for_each(Waker::wake);
        let state = self.session.state();
        let expiry = idle.then(|| state.used + self.idle);
        Look {
            expiry,
            deleted: state.deleted,
            displaced: state.displaced || self.store_writer.is_displaced(),
            over: over || expiry.is_some_and(|expiry| expiry <= now),
        }
    }

    /// Waits until the stores have forgotten the session.
    fn poll_forget(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.forgotten = ready!(self.store_writer.poll_forget(cx));
        Poll::Ready(())
    }

    /// Ends every request and every stream, behind what is on it.
    fn close(&mut self) {
        self.conversation.end();
        let woken = self.session.streams(SessionStreams::finish);
        woken.into_iter().flatten().for_each(Waker::wake);
    }
}

/// Whether nothing runs and no stream is read: a running request or an open stream is use.
fn is_idle(core: &mut Core<Machine>) -> bool {
    core.machine.in_flight() == 0
        && SessionStreams::of(core).is_none_or(|streams| !streams.has_readers())
}

/// What a turn has left.
struct Look {
    /// When the session is over if nothing happens; `None` while it is in use.
    expiry: Option<Instant>,
    /// The client has ended it.
    deleted: bool,
    /// Another process owns it now, or has ended it.
    displaced: bool,
    /// It has ended.
    over: bool,
}

/// Everything in it is polled through `&mut` only.
impl<C: Clock> Unpin for SessionTask<C> {}

impl<C: Clock> Future for SessionTask<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.leaving {
            return this.poll_forget(cx);
        }
        let turns = &mut Turns {
            now: this.conversation.now(),
            task: this,
            expiry: None,
        };
        ready!(poll_work(turns, cx));
        match this.leaving {
            true => this.poll_forget(cx),
            false => Poll::Ready(()),
        }
    }
}

/// One poll of the task.
struct Turns<'t, C: Clock> {
    task: &'t mut SessionTask<C>,
    /// When it began.
    now: Instant,
    /// See [`Look::expiry`].
    expiry: Option<Instant>,
}

impl<C: Clock> Work for Turns<'_, C> {
    type Output = ();

    fn begin(&mut self, cx: &Context<'_>) {
        self.task.conversation.begin(cx);
    }

    fn rest(&mut self) {
        self.task.conversation.rest();
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<()> {
        let Self { task, now, expiry } = self;
        let more = task.turn(*now);
        task.keep(cx, *now);
        let look = task.look(*now);
        *expiry = look.expiry;
        if look.deleted {
            // Its requests and streams end at once, before the stores answer, also in a displaced owner.
            task.leaving = true;
            task.close();
            return Worked::Over(());
        }
        if look.displaced {
            // Its requests and streams end here; the client finds the session where it is now.
            observe::displaced();
            return Worked::Over(());
        }
        match (look.over, more) {
            (true, _) => Worked::Over(()),
            (false, true) => Worked::Enough,
            (false, false) => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Self { task, now, expiry } = self;
        let due = task.store_writer.due().filter(|due| *due > *now);
        let deadline = expiry.iter().copied().chain(due).min();
        let due = task.conversation.arm(cx, *now, deadline);
        if due.is_ready() {
            *now = task.conversation.now();
        }
        due
    }
}

impl<C: Clock> Drop for SessionTask<C> {
    /// However it ends, it can no longer be found, and its streams end after their last event.
    fn drop(&mut self) {
        self.sessions.remove(&self.session);
        self.close();
        self.session.leave(self.forgotten);
    }
}

/// Bodies that one turn takes in, before other tasks of the thread get theirs.
const POSTS: u32 = 16;
