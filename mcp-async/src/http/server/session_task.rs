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
use crate::connection::{Text, Work, Worked, poll_work};
use crate::observe;
use crate::runtime::Clock;

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
    /// Takes a few bodies that were posted; whether there are more.
    fn take_in(&mut self) -> bool {
        for _ in 0..POSTS {
            let Some(posted) = self.session.next_posted() else {
                return false;
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
                &source,
                &posted.head,
                &Text::new(posted.body),
                self.depth,
            );
            // Answers that are there at once come with the verdict.
            self.conversation.turn();
            self.session
                .streams(|streams| streams.was_handled(channel, status));
        }
        true
    }

    /// When it is over if nothing happens; `None` while it is in use: a running request or an
    /// open stream is use.
    fn expiry(&self) -> Option<Instant> {
        let idle = self.conversation.with(|core| {
            core.machine.in_flight() == 0
                && SessionStreams::of(core).is_none_or(|streams| !streams.has_readers())
        });
        idle.then(|| self.session.used() + self.idle)
    }

    /// Lets the stores know what is new.
    fn keep(&mut self, cx: &mut Context<'_>, expiry: Option<Instant>) {
        let used = match expiry {
            Some(_) => self.session.used(),
            None => self.conversation.now(),
        };
        self.store_writer.poll(cx, &self.session.shared, used);
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

    fn is_over(&self, expiry: Option<Instant>) -> bool {
        let now = self.conversation.now();
        let is_read = || self.session.streams(|streams| streams.has_readers());
        if self.ends_with_stream && is_read() != Some(true) {
            return true;
        }
        expiry.is_some_and(|expiry| expiry <= now) || self.conversation.is_over()
    }
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
        ready!(poll_work(this, cx));
        match this.leaving {
            true => this.poll_forget(cx),
            false => Poll::Ready(()),
        }
    }
}

impl<C: Clock> Work for SessionTask<C> {
    type Output = ();

    fn begin(&mut self, cx: &Context<'_>) {
        self.conversation.begin(cx);
    }

    fn rest(&mut self) {
        self.conversation.rest();
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<()> {
        let mut more = self.take_in();
        more |= self.conversation.turn();
        let expiry = self.expiry();
        self.keep(cx, expiry);
        if self.session.is_deleted() {
            // Its requests and streams end at once, before the stores answer, also in a displaced owner.
            self.session.wake();
            self.leaving = true;
            self.close();
            return Worked::Over(());
        }
        if self.store_writer.is_displaced() || self.session.is_displaced() {
            // Its requests and streams end here; the client finds the session where it is now.
            observe::displaced();
            return Worked::Over(());
        }
        self.session.wake();
        if self.is_over(expiry) {
            return Worked::Over(());
        }
        match more {
            true => Worked::Enough,
            false => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = self.conversation.now();
        let due = self.store_writer.due().filter(|due| *due > now);
        let deadline = self.expiry().into_iter().chain(due).min();
        self.conversation.arm(cx, deadline)
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
