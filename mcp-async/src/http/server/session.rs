//! A legacy session: its machine lives in a task of its own, and exchanges bring it messages and
//! read its streams.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::request::Parts;
use mcp_proto::http::{Post, Version};
use mcp_proto::server::http::streams::Reader;
use mcp_proto::{Channel, Instant, Revision, Source};

use super::conversation::{Conversation, Text};
use super::keeper::Keeper;
use super::sessions::{Place, Sessions};
use super::streams::SessionStreams;
use crate::connection::{Alarm, Shared, Work, Worked, poll_work};
use crate::observe;
use crate::runtime::Clock;
use crate::server::{Machine, Peer};

/// What the exchanges of a session share.
pub(super) struct Session {
    id: Arc<str>,
    principal: Option<Arc<str>>,
    shared: Arc<Shared<Machine>>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Bodies that the machine did not have yet.
    posted: VecDeque<Posted>,
    /// What they take.
    waiting: usize,
    /// When something was last asked of it.
    used: Instant,
    /// The client has ended it.
    deleted: bool,
    /// It has ended, and the stores have forgotten it if the client wanted that.
    gone: bool,
    /// Who waits for that.
    watchers: Vec<Waker>,
}

/// A body on its way to the machine.
pub(super) struct Posted {
    channel: Channel,
    version: Option<Revision>,
    method: Option<Box<[u8]>>,
    name: Option<Box<[u8]>>,
    head: Arc<Parts>,
    body: Vec<u8>,
}

impl Posted {
    pub(super) fn new(channel: Channel, post: &Post<'_>, head: Arc<Parts>, body: Vec<u8>) -> Self {
        let version = match post.version {
            Version::Known(revision) => Some(revision),
            Version::Absent | Version::Unknown(_) => None,
        };
        Self {
            channel,
            version,
            method: post.method.map(Box::from),
            name: post.name.map(Box::from),
            head,
            body,
        }
    }

    /// The bytes that it takes while it waits, its head estimated.
    const fn weight(&self) -> usize {
        self.body.len().saturating_add(HEAD)
    }
}

impl Session {
    pub(super) fn new(
        id: Arc<str>,
        principal: Option<Arc<str>>,
        shared: Arc<Shared<Machine>>,
    ) -> Arc<Self> {
        let used = shared.now();
        Arc::new(Self {
            id,
            principal,
            shared,
            inner: Mutex::new(Inner {
                used,
                ..Inner::default()
            }),
        })
    }

    pub(super) const fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(super) const fn principal(&self) -> Option<&Arc<str>> {
        self.principal.as_ref()
    }

    /// Whether it is this principal's: nobody else may know that it is there (SH-43).
    pub(super) fn belongs_to(&self, principal: Option<&str>) -> bool {
        self.principal.as_deref() == principal
    }

    /// Looks at its streams; `None` if it is over.
    pub(super) fn streams<T>(&self, look: impl FnOnce(&mut SessionStreams) -> T) -> Option<T> {
        let mut core = self.shared.lock();
        SessionStreams::of(&mut core).map(look)
    }

    /// Whether the revision of the session has priming events (SH-12).
    pub(super) fn polls(&self) -> bool {
        let revision = self.shared.lock().machine.revision();
        revision.is_some_and(mcp_proto::Revision::has_event_polling)
    }

    /// Gives a body to the machine; `false` if `limit` bytes wait for it already. One body may
    /// always wait, whatever its length.
    pub(super) fn post(&self, posted: Posted, limit: usize) -> bool {
        let now = self.shared.now();
        {
            let mut inner = self.inner();
            let waiting = inner.waiting.saturating_add(posted.weight());
            if waiting > limit && !inner.posted.is_empty() {
                return false;
            }
            inner.waiting = waiting;
            inner.posted.push_back(posted);
            inner.used = now;
        }
        self.ring();
        true
    }

    /// The next body that the machine did not have yet.
    fn next_posted(&self) -> Option<Posted> {
        let mut inner = self.inner();
        let posted = inner.posted.pop_front()?;
        inner.waiting = inner.waiting.saturating_sub(posted.weight());
        Some(posted)
    }

    /// Something was asked of it.
    pub(super) fn touch(&self) {
        let now = self.shared.now();
        self.inner().used = now;
    }

    /// Lets the task look at what is new.
    pub(super) fn ring(&self) {
        self.shared.alarm.ring();
    }

    /// Tells those who wait for room that something was read.
    pub(super) fn was_read(&self) {
        let waiting = self.shared.lock().take_room();
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Wakes whoever waits for what is new by now.
    pub(super) fn wake(&self) {
        let mut woken = Vec::new();
        self.streams(|streams| streams.take_woken(&mut woken));
        woken.into_iter().for_each(Waker::wake);
    }

    /// The client wants no more of it (SH-31); `false` if it said so before.
    pub(super) fn delete(&self) -> bool {
        let first = !core::mem::replace(&mut self.inner().deleted, true);
        self.ring();
        first
    }

    /// Whether it is over for its client. It is still here, so that nobody takes it over from a
    /// store that has not forgotten it yet.
    pub(super) fn is_deleted(&self) -> bool {
        self.inner().deleted
    }

    /// Waits until it has ended, and the stores have forgotten it if the client wanted that.
    pub(super) async fn gone(&self) {
        poll_fn(|cx| {
            let mut inner = self.inner();
            if inner.gone {
                return Poll::Ready(());
            }
            inner.watchers.push(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn leave(&self) {
        let watchers = {
            let mut inner = self.inner();
            inner.gone = true;
            core::mem::take(&mut inner.watchers)
        };
        watchers.into_iter().for_each(Waker::wake);
    }

    /// Ends it in good order.
    pub(super) fn shutdown(&self) {
        Peer::new(Arc::clone(&self.shared)).shutdown();
    }

    /// No longer reads a stream.
    pub(super) fn detach(&self, reader: &Reader) {
        self.streams(|streams| streams.detach(reader));
        self.touch();
        // From now on it may be idle.
        self.ring();
        self.was_read();
        self.wake();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The life of a session.
pub(super) struct Life<C: Clock> {
    pub(super) session: Arc<Session>,
    pub(super) conversation: Conversation<C>,
    pub(super) sessions: Arc<Sessions>,
    pub(super) idle: Duration,
    pub(super) depth: u8,
    /// Its one stream is its connection (HS-10).
    pub(super) ends_with_stream: bool,
    /// Nothing is left to do but to be forgotten by the stores.
    pub(super) leaving: bool,
    pub(super) keeper: Keeper,
    pub(super) _place: Place,
}

impl<C: Clock> Life<C> {
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
        idle.then(|| self.session.inner().used + self.idle)
    }

    /// Lets the stores know what is new.
    fn keep(&mut self, cx: &mut Context<'_>) {
        let used = match self.expiry() {
            Some(_) => self.session.inner().used,
            None => self.conversation.now(),
        };
        self.keeper.poll(cx, &self.session.shared, used);
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
impl<C: Clock> Unpin for Life<C> {}

impl<C: Clock> Future for Life<C> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        if this.leaving {
            return this.keeper.poll_forget(cx);
        }
        ready!(poll_work(this, cx));
        match this.leaving {
            true => this.keeper.poll_forget(cx),
            false => Poll::Ready(()),
        }
    }
}

impl<C: Clock> Work for Life<C> {
    type Output = ();

    fn alarm(&self) -> &Alarm {
        self.conversation.alarm()
    }

    fn begin_in_new_task(&mut self) {
        self.conversation.begin_in_new_task();
    }

    fn work(&mut self, cx: &mut Context<'_>) -> Worked<()> {
        let mut more = self.take_in();
        more |= self.conversation.turn();
        self.keep(cx);
        if self.keeper.is_displaced() {
            // Its requests and streams end here; the client finds the session where it is now.
            observe::displaced();
            return Worked::Over(());
        }
        self.session.wake();
        if self.session.is_deleted() {
            // What it did ends at once, whatever the stores take.
            self.leaving = true;
            self.close();
            return Worked::Over(());
        }
        if self.is_over(self.expiry()) {
            return Worked::Over(());
        }
        match more {
            true => Worked::Enough,
            false => Worked::None,
        }
    }

    fn poll_rest(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let now = self.conversation.now();
        let due = self.keeper.due().filter(|due| *due > now);
        let deadline = self.expiry().into_iter().chain(due).min();
        self.conversation.arm(cx, deadline)
    }
}

impl<C: Clock> Drop for Life<C> {
    /// Whatever ends it, nobody finds it any more, and its streams end behind what is on them.
    fn drop(&mut self) {
        self.sessions.remove(&self.session);
        self.close();
        self.session.leave();
    }
}

/// Bodies that one turn takes in, before other tasks of the thread get theirs.
const POSTS: u32 = 16;

/// What a body takes beside its bytes, the head of its request above all.
const HEAD: usize = 1 << 10;
