//! A legacy session, as its exchanges see it: they bring messages to its task, and read its
//! streams.

use core::future::poll_fn;
use core::sync::atomic::{AtomicU64, Ordering};
use core::task::Poll;
use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard};

use http::request::Parts;
use mcp_proto::http::OwnedPost;
use mcp_proto::rpc::OwnedMessages;
use mcp_proto::server::http::streams::StreamReader;
use mcp_proto::{Channel, Instant};

use crate::connection::{Shared, Text};
use crate::runtime::SharedTask;
use crate::server::{Machine, Peer, ServerStreams};
use crate::shares::{CallerId, Share};
use crate::sync::{Lock, Waiters};

/// State of a session that its exchanges and its task share.
pub(in crate::http::server) struct Session {
    id: Arc<str>,
    principal: Option<Arc<str>>,
    /// The epoch in which this process owns it.
    epoch: u32,
    /// The lease of this process in which the store has confirmed that.
    confirmed: AtomicU64,
    pub(in crate::http::server) shared: Arc<Shared<Machine>>,
    /// Does what there is to do for it.
    pub(in crate::http::server) task: SharedTask,
    inner: Lock<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Bodies that the machine did not have yet.
    posted: VecDeque<Posted>,
    /// The bytes of these bodies, their heads estimated.
    waiting: usize,
    /// The time of the last request to the session.
    used: Instant,
    /// True if the client has ended the session.
    deleted: bool,
    /// True if another process owns the session now, or has ended it.
    displaced: bool,
    /// Set when the session has ended in this process: true if the stores have forgotten it.
    gone: Option<bool>,
    /// The tasks that wait for the end of the session.
    watchers: Waiters,
    /// The places of its calls, where these have no streams of their own that keep them.
    calls: Option<Share<CallerId>>,
}

/// The state that a session's exchanges set for its task.
pub(in crate::http::server) struct SessionState {
    /// The time of the last request to the session.
    pub(in crate::http::server) used: Instant,
    /// True if the client has ended the session.
    pub(in crate::http::server) deleted: bool,
    /// True if the session is to end in this process only.
    pub(in crate::http::server) displaced: bool,
}

/// A body on its way to the machine.
pub(in crate::http::server) struct Posted {
    pub(in crate::http::server) channel: Channel,
    pub(in crate::http::server) post: OwnedPost,
    pub(in crate::http::server) head: Arc<Parts>,
    pub(in crate::http::server) body: OwnedMessages<Text>,
}

impl Posted {
    /// The bytes that it takes while it waits, its head estimated.
    fn weight(&self) -> usize {
        self.body.text().as_ref().len().saturating_add(HEAD)
    }
}

impl Session {
    pub(in crate::http::server) fn new(
        id: Arc<str>,
        principal: Option<Arc<str>>,
        epoch: u32,
        lease: u64,
        shared: Arc<Shared<Machine>>,
    ) -> Arc<Self> {
        let used = shared.now();
        Arc::new(Self {
            id,
            principal,
            epoch,
            confirmed: AtomicU64::new(lease),
            shared,
            task: SharedTask::default(),
            inner: Lock::new(Inner {
                used,
                ..Inner::default()
            }),
        })
    }

    pub(in crate::http::server) const fn id(&self) -> &Arc<str> {
        &self.id
    }

    pub(in crate::http::server) const fn principal(&self) -> Option<&Arc<str>> {
        self.principal.as_ref()
    }

    pub(in crate::http::server) const fn epoch(&self) -> u32 {
        self.epoch
    }

    /// The lease of this process in which the store has confirmed that it owns the session.
    pub(in crate::http::server) fn confirmed(&self) -> u64 {
        self.confirmed.load(Ordering::Acquire)
    }

    /// The store has confirmed in this lease that this process owns it.
    pub(in crate::http::server) fn confirm(&self, lease: u64) {
        self.confirmed.store(lease, Ordering::Release);
    }

    /// Returns whether this principal may use it: one that is over exists no more, and its existence is hidden from
    /// all others (SH-43).
    pub(in crate::http::server) fn is_open_to(&self, principal: Option<&str>) -> bool {
        self.principal.as_deref() == principal && !self.is_deleted()
    }

    /// Looks at its streams; `None` if it is over.
    pub(in crate::http::server) fn streams<T>(
        &self,
        look: impl FnOnce(&mut ServerStreams) -> T,
    ) -> Option<T> {
        self.shared.lock().outbound.as_deref_mut().map(look)
    }

    /// Returns true if the revision of the session has priming events (SH-12).
    pub(in crate::http::server) fn polls(&self) -> bool {
        let revision = self.shared.lock().machine.revision();
        revision.is_some_and(mcp_proto::Revision::has_event_polling)
    }

    /// Gives a body to the machine, at once if nothing else is being done for the session; `false` if `limit` bytes wait
    /// for it already. One body may always wait, whatever its length.
    pub(in crate::http::server) fn post(&self, posted: Posted, limit: usize) -> bool {
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
        if !self.task.poll_in_place() {
            self.wake_task();
        }
        true
    }

    /// Keeps the places of its calls from now on.
    pub(in crate::http::server) fn keep_calls(&self, calls: Share<CallerId>) {
        self.inner().calls = Some(calls);
    }

    /// Takes places for so many more calls; `false` if its caller may not have so many.
    pub(in crate::http::server) fn add_calls(&self, calls: usize) -> bool {
        let kept = &mut self.inner().calls;
        kept.as_mut().is_none_or(|kept| kept.grow_by(calls))
    }

    /// So many of its calls run, in addition to those that the machine did not have yet.
    pub(in crate::http::server) fn set_running(&self, calls: usize) {
        let inner = &mut *self.inner();
        if inner.posted.is_empty()
            && let Some(kept) = &mut inner.calls
        {
            kept.set(calls);
        }
    }

    /// The next body that the machine did not have yet.
    pub(in crate::http::server) fn next_posted(&self) -> Option<Posted> {
        let mut inner = self.inner();
        let posted = inner.posted.pop_front()?;
        inner.waiting = inner.waiting.saturating_sub(posted.weight());
        Some(posted)
    }

    /// Something was asked of it.
    pub(in crate::http::server) fn touch(&self) {
        let now = self.shared.now();
        self.inner().used = now;
    }

    /// Returns the state that its exchanges set for its task, in addition to bodies.
    pub(in crate::http::server) fn state(&self) -> SessionState {
        let inner = self.inner();
        SessionState {
            used: inner.used,
            deleted: inner.deleted,
            displaced: inner.displaced,
        }
    }

    /// Lets the task look at what is new.
    pub(in crate::http::server) fn wake_task(&self) {
        self.shared.driver_waker.wake();
    }

    /// Tells those who wait for room that something was read.
    pub(in crate::http::server) fn was_read(&self) {
        let waiting = self.shared.lock().take_room();
        waiting.wake();
    }

    /// Wakes the tasks that wait for news.
    pub(in crate::http::server) fn wake(&self) {
        let mut woken = Waiters::new();
        self.streams(|streams| streams.take_woken(&mut woken));
        woken.wake();
    }

    /// The client wants no more of it (SH-31); `false` if it said so before.
    pub(in crate::http::server) fn delete(&self) -> bool {
        let first = !core::mem::replace(&mut self.inner().deleted, true);
        self.wake_task();
        first
    }

    /// Returns true if the session is over for its client. It is still registered, so that it is
    /// not taken over from a store that has not forgotten it yet.
    pub(in crate::http::server) fn is_deleted(&self) -> bool {
        self.inner().deleted
    }

    /// Returns true if another process may continue the session once it is over here.
    pub(in crate::http::server) fn may_continue(&self) -> bool {
        // Only sessions that processes share were ever confirmed.
        self.confirmed() != 0 && !self.is_deleted()
    }

    /// Returns true if the client sent anything after `initialize`.
    pub(super) fn is_confirmed(&self) -> bool {
        let snapshot = self.shared.lock().machine.snapshot();
        snapshot.is_some_and(|snapshot| snapshot.ready)
    }

    /// Ends it in this process: another one owns it, or has ended it.
    pub(in crate::http::server) fn displace(&self) {
        self.inner().displaced = true;
        self.wake_task();
    }

    /// Waits until it has ended here. Returns whether the stores have forgotten it, which is what a
    /// client wants that ends it.
    pub(in crate::http::server) async fn gone(&self) -> bool {
        poll_fn(|cx| {
            let mut inner = self.inner();
            match inner.gone {
                Some(forgotten) => Poll::Ready(forgotten),
                None => {
                    inner.watchers.register(cx);
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// It has ended here.
    pub(in crate::http::server) fn leave(&self, forgotten: bool) {
        let watchers = {
            let mut inner = self.inner();
            inner.gone = Some(forgotten);
            inner.watchers.take()
        };
        watchers.wake();
    }

    /// Ends it in good order.
    pub(in crate::http::server) fn shutdown(&self) {
        Peer::new(Arc::clone(&self.shared)).shutdown();
    }

    /// A request was answered by one body or a status, which ended its reader.
    pub(in crate::http::server) fn answered(&self) {
        let (waiting, has_eased) = {
            let mut core = self.shared.lock();
            let mut waiting = core.take_room();
            let has_eased = core.outbound.as_mut().is_some_and(|streams| {
                streams.take_woken(&mut waiting);
                streams.take_eased()
            });
            (waiting, has_eased)
        };
        self.touch();
        // The task looks for idleness at intervals of its own. It is woken only if streams have room again, or if processes
        // share the session.
        if has_eased || self.confirmed() != 0 {
            self.wake_task();
        }
        waiting.wake();
    }

    /// No longer reads a stream.
    pub(in crate::http::server) fn detach(&self, reader: &StreamReader) {
        // Until now it was in use, and its task must not see it idle without knowing that.
        self.touch();
        let woken = {
            let mut core = self.shared.lock();
            let mut woken = core.take_room();
            if let Some(streams) = &mut core.outbound {
                streams.detach(reader);
                streams.take_woken(&mut woken);
            }
            woken
        };
        // From now on it may be idle.
        self.wake_task();
        woken.wake();
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }
}

/// The bytes that a body takes in addition to its text, the head of its request above all.
const HEAD: usize = 1 << 10;
