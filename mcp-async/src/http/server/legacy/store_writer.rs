//! Writes a session to the store: its events and its record.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::server::http::streams::Append;
use mcp_proto::{Channel, Instant};

use crate::connection::{Notified, Shared};
use crate::http::server::endpoint::session::Session;
use crate::http::server::processes::Processes;
use crate::http::server::processes::sharing::Saved;
use crate::http::{StoreError, StoredEvent};
use crate::observe;
use crate::server::{Decision, Machine, SessionClient};

/// Polled by the task of a session that processes share.
pub(super) struct StoreWriter {
    processes: Arc<Processes>,
    id: Arc<str>,
    principal: Option<Arc<str>>,
    client: SessionClient,
    /// The time for which the store keeps the record.
    keep: Duration,
    /// The epoch in which this process owns the session.
    epoch: u32,
    /// The record that the store has.
    saved: Option<Saved>,
    /// Another process has taken the session over: nothing more is written.
    displaced: bool,
    saved_at: Instant,
    saving: Option<Saving>,
    /// The time at which a save that failed is repeated.
    retry_at: Option<Instant>,
    retry: Retry,
    appending: Vec<Appending>,
    /// While something waits to be repeated: the next announcement that the store takes.
    back: Option<Notified>,
    /// The time since which the store does not have the record that clients may rely on.
    unsaved_since: Option<Instant>,
    /// The time since which this process may not serve the session.
    unserved_since: Option<Instant>,
    /// The time at which the readers were interrupted last.
    interrupted: Option<Instant>,
    ending: Option<Work>,
}

/// A record on its way to the store.
struct Saving {
    saved: Saved,
    began: Instant,
    work: Work,
}

/// An event that the store does not have yet.
struct Appending {
    channel: Channel,
    sequence: u64,
    message: Arc<[u8]>,
    end: bool,
    began: Instant,
    state: Attempt,
    retry: Retry,
}

enum Attempt {
    Runs(Work),
    /// The last one has failed; when the next one begins.
    Waits(Instant),
}

/// The wait after the next failure.
struct Retry(Duration);

type Work = Pin<Box<dyn Future<Output = Output> + Send>>;

/// The outcome of a write.
enum Output {
    Done,
    Failed,
    /// Another process has taken the session over, or ended it.
    Displaced,
}

/// The state of the record that the client may rely on once it is answered.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::http::server) enum RecordState {
    Complete,
    /// Not yet.
    Saving,
    /// The store has refused it.
    Failed,
}

/// The state in which the session leaves the store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// The client has ended the session.
    Removed,
    /// The session waits for its next owner.
    Released,
}

impl StoreWriter {
    /// `keep` says how long the record is to be kept, `saved` is what the store has.
    pub(super) fn new(
        processes: &Arc<Processes>,
        session: &Session,
        keep: Duration,
        saved: Option<Saved>,
        now: Instant,
    ) -> Self {
        Self {
            processes: Arc::clone(processes),
            id: Arc::clone(session.id()),
            principal: session.principal().cloned(),
            client: saved
                .as_ref()
                .map_or_else(SessionClient::default, |saved| saved.client.clone()),
            keep,
            epoch: session.epoch(),
            saved,
            displaced: false,
            saved_at: now,
            saving: None,
            retry_at: None,
            retry: Retry::FIRST,
            appending: Vec::new(),
            back: None,
            unsaved_since: None,
            unserved_since: None,
            interrupted: None,
            ending: None,
        }
    }

    /// Returns true if the lease of this process is good, and the session was confirmed in it.
    pub(super) fn may_serve(&self, session: &Session) -> bool {
        self.processes.decide(session.confirmed()) == Decision::Serve
    }

    /// Returns the next time after `now` at which there is something to do, if nothing happens before: the record
    /// is saved again, if the session is in use then, or a write that has failed is repeated. A session with
    /// readers is looked at once in each lease.
    pub(super) fn due(&self, now: Instant, in_use: bool) -> Option<Instant> {
        let save = self.saving.is_none();
        let save = save.then(|| self.retry_at.unwrap_or(self.saved_at + self.keep / 2));
        let appends = self
            .appending
            .iter()
            .filter_map(|appending| match appending.state {
                Attempt::Waits(at) => Some(at),
                Attempt::Runs(_) => None,
            });
        // The record of a session that is not in use may be due for long.
        let look = in_use.then(|| self.interrupts_at().unwrap_or(now + self.lease()));
        let all = save.into_iter().chain(appends).chain(look);
        all.filter(|due| *due > now).min()
    }

    /// Returns the time at which the readers are to be interrupted: after a whole lease in which the store did not
    /// take an event or the record, or this process could not serve the session. Another process may own the
    /// session by then.
    fn interrupts_at(&self) -> Option<Instant> {
        let append = self.appending.first().map(|appending| appending.began);
        let since = [append, self.unsaved_since, self.unserved_since];
        let since = since.into_iter().flatten().min()?;
        Some(self.interrupted.unwrap_or(since).max(since) + self.lease())
    }

    /// Returns whether the readers are to be interrupted now.
    pub(super) fn interrupts(&mut self, now: Instant) -> bool {
        let interrupts = self.interrupts_at().is_some_and(|at| at <= now);
        if interrupts {
            self.interrupted = Some(now);
        }
        interrupts
    }

    /// The duration of a lease.
    pub(super) fn lease(&self) -> Duration {
        self.processes.lease()
    }

    /// The session is displaced: counts it.
    pub(super) fn count_displaced(&self) {
        self.processes.counters.displaced.add();
    }

    /// Returns whether the store has all of the session that its client may rely on.
    pub(super) fn has_saved(&self, machine: &Machine) -> bool {
        self.saved
            .as_ref()
            .is_some_and(|saved| saved.is_complete(machine))
    }

    /// Returns true if another process has taken the session over, or ended it.
    pub(super) const fn is_displaced(&self) -> bool {
        self.displaced
    }

    /// Does what there is to do, and wakes the task when the store is done. `used` says when the
    /// session was in use. The store is not called under the lock.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        session: &Session,
        used: Instant,
    ) -> RecordState {
        self.end_waits(cx);
        let shared = &session.shared;
        let kept = self.save(cx, now, shared, used);
        // An answer does not go out before what it acknowledges is saved.
        if !self.displaced && kept == RecordState::Complete {
            self.begin_appends(now, shared);
        }
        let since = |holds: bool, before: Option<Instant>| holds.then(|| before.unwrap_or(now));
        self.unsaved_since = since(kept != RecordState::Complete, self.unsaved_since);
        self.unserved_since = since(!self.may_serve(session), self.unserved_since);
        self.append(cx, now, shared);
        if self.back.is_none() && self.waits() {
            let mut back = self.processes.announcements.taken();
            if Pin::new(&mut back).poll(cx).is_ready() {
                cx.waker().wake_by_ref();
            }
            self.back = Some(back);
        }
        kept
    }

    /// Returns true if a write that has failed waits to be repeated.
    fn waits(&self) -> bool {
        let mut appending = self.appending.iter();
        self.retry_at.is_some() || appending.any(|it| matches!(it.state, Attempt::Waits(_)))
    }

    /// Ends all waits if the store has taken an announcement since something failed: it is back, and may be away
    /// again soon.
    fn end_waits(&mut self, cx: &mut Context<'_>) {
        let is_back = |back: &mut Notified| Pin::new(back).poll(cx).is_ready();
        if !self.back.as_mut().is_some_and(is_back) {
            return;
        }
        self.back = None;
        self.retry_at = None;
        for appending in &mut self.appending {
            if let Attempt::Waits(at) = &mut appending.state {
                *at = Instant::ZERO;
            }
        }
    }

    /// Leaves the store, once nothing is on its way to it any more. Returns whether the store has done
    /// it: not if another process has taken the session over.
    pub(super) fn poll_leave(&mut self, cx: &mut Context<'_>, leaving: Leaving) -> Poll<bool> {
        if let Some(saving) = &mut self.saving {
            // The session ends in any case.
            let _ = ready!(saving.work.as_mut().poll(cx));
            self.saving = None;
        }
        self.appending
            .retain_mut(|appending| match &mut appending.state {
                Attempt::Runs(work) => work.as_mut().poll(cx).is_pending(),
                Attempt::Waits(_) => false,
            });
        if !self.appending.is_empty() {
            return Poll::Pending;
        }
        let (store, id) = (Arc::clone(self.processes.store()), Arc::clone(&self.id));
        let (owner, epoch) = (self.processes.owner(), self.epoch);
        let ending = self.ending.get_or_insert_with(|| {
            Box::pin(async move {
                judge(match leaving {
                    Leaving::Removed => store.remove(&id, epoch).await,
                    Leaving::Released => store.release(&id, &owner).await,
                })
            })
        });
        let output = ready!(ending.as_mut().poll(cx));
        Poll::Ready(matches!(output, Output::Done))
    }

    fn save(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        shared: &Shared<Machine>,
        used: Instant,
    ) -> RecordState {
        let failed = self.poll_saving(cx, now);
        let fades = self.saved_at + self.keep / 2 <= now && self.saved_at < used;
        let (complete, next) = {
            let core = shared.lock();
            let complete = self.has_saved(&core.machine);
            let saved = self.saved.as_ref();
            let enough = saved.is_some_and(|saved| saved.reserves_ids(&core.machine));
            let waits = self.retry_at.is_some_and(|at| now < at);
            let stale = (fades || !complete || !enough) && self.saving.is_none() && !waits;
            let next = (stale && !self.displaced)
                .then(|| Saved::of(&core.machine, &self.client, self.principal.as_deref()))
                .flatten();
            (complete, next)
        };
        if let Some(saved) = next {
            let (store, id) = (Arc::clone(self.processes.store()), Arc::clone(&self.id));
            let (epoch, record, keep) = (self.epoch, saved.write(), self.keep);
            self.saving = Some(Saving {
                saved,
                began: now,
                work: Box::pin(async move { judge(store.save(&id, epoch, &record, keep).await) }),
            });
            if self.poll_saving(cx, now) {
                return RecordState::Failed;
            }
            // A record that was saved at once is compared again.
            if self.saving.is_none() && !complete {
                let core = shared.lock();
                if self.has_saved(&core.machine) {
                    return RecordState::Complete;
                }
            }
        }
        match (complete, failed || self.displaced) {
            (true, _) => RecordState::Complete,
            (false, true) => RecordState::Failed,
            (false, false) => RecordState::Saving,
        }
    }

    /// Drives the save that is under way; whether it has failed now. Then it is repeated, after a longer time
    /// each.
    fn poll_saving(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let Some(saving) = &mut self.saving else {
            return false;
        };
        let Poll::Ready(written) = saving.work.as_mut().poll(cx) else {
            return false;
        };
        let saving = self.saving.take();
        self.retry_at = None;
        match (written, saving) {
            (Output::Done, Some(Saving { saved, began, .. })) => {
                self.saved = Some(saved);
                self.saved_at = began;
                self.retry = Retry::FIRST;
                false
            }
            (Output::Displaced, _) => {
                self.displaced = true;
                true
            }
            (_, _) => {
                self.retry_at = Some(self.retry.next(now));
                true
            }
        }
    }

    fn begin_appends(&mut self, now: Instant, shared: &Shared<Machine>) {
        if let Some(streams) = &mut shared.lock().outbound {
            while let Some(append) = streams.poll_append() {
                let Append {
                    channel,
                    sequence,
                    message,
                    end,
                } = append;
                self.appending.push(Appending {
                    channel,
                    sequence,
                    message: message.into(),
                    end,
                    began: now,
                    state: Attempt::Waits(Instant::ZERO),
                    retry: Retry::FIRST,
                });
            }
        }
    }

    /// Offers the events to the store, until it has taken or refused them.
    fn append(&mut self, cx: &mut Context<'_>, now: Instant, shared: &Shared<Machine>) {
        let mut settled = Vec::new();
        let Self {
            processes,
            id,
            epoch,
            displaced,
            ..
        } = self;
        self.appending.retain_mut(|appending| {
            if let Attempt::Waits(at) = appending.state {
                if now < at {
                    return true;
                }
                appending.state = Attempt::Runs(appending.begin(processes, id, *epoch));
            }
            let Attempt::Runs(work) = &mut appending.state else {
                return true;
            };
            match work.as_mut().poll(cx) {
                Poll::Pending => true,
                // An event that the store refuses is not sent.
                Poll::Ready(Output::Displaced) => {
                    *displaced = true;
                    false
                }
                Poll::Ready(Output::Failed) => {
                    appending.state = Attempt::Waits(appending.retry.next(now));
                    true
                }
                Poll::Ready(Output::Done) => {
                    settled.push((appending.channel, appending.sequence));
                    false
                }
            }
        });
        if settled.is_empty() {
            return;
        }
        // An unread event may be dropped once it is settled, so there may be room again.
        let waiting = {
            let mut core = shared.lock();
            if let Some(streams) = &mut core.outbound {
                for (channel, sequence) in settled {
                    streams.settle(channel, sequence);
                }
            }
            core.take_room()
        };
        waiting.wake();
    }
}

impl Appending {
    /// Returns the future that writes the event to the store.
    fn begin(&self, processes: &Arc<Processes>, session: &Arc<str>, epoch: u32) -> Work {
        let (store, session) = (Arc::clone(processes.store()), Arc::clone(session));
        let (channel, sequence, end) = (self.channel, self.sequence, self.end);
        let message = Arc::clone(&self.message);
        Box::pin(async move {
            let event = StoredEvent {
                session: &session,
                epoch,
                stream: channel.number(),
                sequence,
                message: &message,
                end,
            };
            judge(store.append(event).await)
        })
    }
}

impl Retry {
    const FIRST: Self = Self(Duration::from_millis(100));

    /// Returns the time at which a write that failed now is repeated, and doubles the next pause.
    fn next(&mut self, now: Instant) -> Instant {
        let at = now + self.0;
        self.0 = (2 * self.0).min(MAX_RETRY);
        at
    }
}

/// Reports a failure.
fn judge(written: Result<(), StoreError>) -> Output {
    match written {
        Ok(()) => Output::Done,
        Err(StoreError::Conflict | StoreError::Gone) => Output::Displaced,
        Err(error) => {
            observe::store_failed(&error);
            Output::Failed
        }
    }
}

/// The longest time between two attempts.
const MAX_RETRY: Duration = Duration::from_secs(1);
