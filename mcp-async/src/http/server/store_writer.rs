//! Writes a session to the stores: its events and its record.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::server::http::streams::Append;
use mcp_proto::{Channel, Instant};

use super::session::Session;
use super::sharing::{Owned, Saved, Sharing};
use super::streams::SessionStreams;
use crate::connection::Shared;
use crate::http::{EventStore, StoreError, StoredEvent};
use crate::observe;
use crate::server::{Machine, SessionClient};

/// Polled by the task of the session; without stores there is nothing to do.
pub(super) struct StoreWriter {
    sharing: Sharing,
    id: Arc<str>,
    principal: Option<Arc<str>>,
    client: SessionClient,
    /// How long the record is to be kept.
    keep: Duration,
    owned: Owned,
    /// Another process has taken the session over: nothing more is written.
    displaced: bool,
    saved_at: Instant,
    saving: Option<Saving>,
    /// When a save that failed is repeated, and how long the next wait is.
    retry_at: Option<Instant>,
    retry: Duration,
    appending: Vec<Appending>,
    forgetting: Option<Forgetting>,
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
    work: Work,
}

type Forgetting = Pin<Box<dyn Future<Output = bool> + Send>>;

type Work = Pin<Box<dyn Future<Output = Output> + Send>>;

/// The outcome of a write.
enum Output {
    Done,
    Failed,
    /// Another process has taken the session over, or ended it.
    Displaced,
}

impl StoreWriter {
    /// `keep` says how long the record is to be kept.
    pub(super) fn new(
        sharing: Sharing,
        session: &Session,
        keep: Duration,
        owned: Owned,
        now: Instant,
    ) -> Self {
        Self {
            sharing,
            id: Arc::clone(session.id()),
            principal: session.principal().cloned(),
            client: match &owned.saved {
                Some(saved) => saved.client.clone(),
                None => SessionClient::default(),
            },
            keep,
            owned,
            displaced: false,
            saved_at: now,
            saving: None,
            retry_at: None,
            retry: RETRY,
            appending: Vec::new(),
            forgetting: None,
        }
    }

    /// When the record has to be saved again, if the session is in use then.
    pub(super) fn due(&self) -> Option<Instant> {
        let saves = self.sharing.sessions.is_some() && self.saving.is_none();
        saves.then(|| self.retry_at.unwrap_or(self.saved_at + self.keep / 2))
    }

    /// Whether another process has taken the session over, or ended it.
    pub(super) const fn is_displaced(&self) -> bool {
        self.displaced
    }

    /// Whether there is a store to write to.
    pub(super) const fn has_stores(&self) -> bool {
        self.sharing.sessions.is_some() || self.sharing.events.is_some()
    }

    /// Does what there is to do, and wakes the task when a store is done. `used` says when the
    /// session was in use. No store is called under the lock.
    pub(super) fn poll(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        shared: &Shared<Machine>,
        used: Instant,
    ) {
        self.save(cx, now, shared, used);
        if !self.displaced {
            self.append(cx, shared);
        }
    }

    /// Lets the stores forget the session, once nothing is on its way to them any more. Returns
    /// whether they did.
    pub(super) fn poll_forget(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        if let Some(saving) = &mut self.saving {
            // The session ends in any case.
            let _ = ready!(saving.work.as_mut().poll(cx));
            self.saving = None;
        }
        self.appending
            .retain_mut(|appending| appending.work.as_mut().poll(cx).is_pending());
        if !self.appending.is_empty() {
            return Poll::Pending;
        }
        let forgetting = self.forgetting.get_or_insert_with(|| {
            let forget = self.sharing.clone().forget(Arc::clone(&self.id));
            Box::pin(forget) as Forgetting
        });
        forgetting.as_mut().poll(cx)
    }

    fn save(
        &mut self,
        cx: &mut Context<'_>,
        now: Instant,
        shared: &Shared<Machine>,
        used: Instant,
    ) {
        self.poll_saving(cx, now);
        let Some(store) = &self.sharing.sessions else {
            return;
        };
        let waits = self.retry_at.is_some_and(|at| now < at);
        if self.displaced || self.saving.is_some() || waits {
            return;
        }
        let fades = self.saved_at + self.keep / 2 <= now && self.saved_at < used;
        let saved = {
            let core = shared.lock();
            let saved = self.owned.saved.as_ref();
            let current = saved.is_some_and(|saved| saved.is_current(&core.machine));
            let stale = fades || !current;
            stale
                .then(|| Saved::of(&core.machine, &self.client, self.principal.as_deref()))
                .flatten()
        };
        let Some(saved) = saved else {
            return;
        };
        let (store, id, keep) = (Arc::clone(store), Arc::clone(&self.id), self.keep);
        let (epoch, record) = (self.owned.epoch, saved.write());
        self.saving = Some(Saving {
            saved,
            began: now,
            work: Box::pin(async move { judge(store.save(&id, epoch, &record, keep).await) }),
        });
        self.poll_saving(cx, now);
    }

    /// Drives the save that is under way. One that failed is repeated, after a longer time each.
    fn poll_saving(&mut self, cx: &mut Context<'_>, now: Instant) {
        let Some(saving) = &mut self.saving else {
            return;
        };
        let Poll::Ready(written) = saving.work.as_mut().poll(cx) else {
            return;
        };
        let saving = self.saving.take();
        (self.retry_at, self.owned.saved) = (None, None);
        match (written, saving) {
            (Output::Done, Some(Saving { saved, began, .. })) => {
                self.owned.saved = Some(saved);
                self.saved_at = began;
                self.retry = RETRY;
            }
            (Output::Displaced, _) => self.displaced = true,
            (_, _) => {
                self.retry_at = Some(now + self.retry);
                self.retry = (2 * self.retry).min(MAX_RETRY);
            }
        }
    }

    fn append(&mut self, cx: &mut Context<'_>, shared: &Shared<Machine>) {
        let Some(store) = &self.sharing.events else {
            return;
        };
        if let Some(streams) = SessionStreams::of(&mut shared.lock()) {
            while let Some(append) = streams.poll_append() {
                self.appending.push(Appending {
                    channel: append.channel,
                    sequence: append.sequence,
                    work: begin(store, &self.id, self.owned.epoch, append),
                });
            }
        }
        let mut settled = Vec::new();
        let displaced = &mut self.displaced;
        self.appending.retain_mut(|appending| {
            match appending.work.as_mut().poll(cx) {
                Poll::Pending => return true,
                // What the store refuses is not sent.
                Poll::Ready(Output::Displaced) => *displaced = true,
                Poll::Ready(_) => settled.push((appending.channel, appending.sequence)),
            }
            false
        });
        if settled.is_empty() {
            return;
        }
        // An unread event may be dropped once it is settled, so there may be room again.
        let waiting = {
            let mut core = shared.lock();
            if let Some(streams) = SessionStreams::of(&mut core) {
                for (channel, sequence) in settled {
                    streams.settle(channel, sequence);
                }
            }
            core.take_room()
        };
        waiting.into_iter().for_each(Waker::wake);
    }
}

/// What takes an event to the store, once it is polled.
fn begin(store: &Arc<dyn EventStore>, session: &Arc<str>, epoch: u32, append: Append<'_>) -> Work {
    let Append {
        channel,
        sequence,
        message,
        end,
    } = append;
    let message = message.to_vec();
    let (store, session) = (Arc::clone(store), Arc::clone(session));
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

/// Reports a failure; the session continues without the store then, but not after a conflict.
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

/// After how long a save that failed is repeated for the first time.
const RETRY: Duration = Duration::from_secs(1);

/// The longest time between two of them.
const MAX_RETRY: Duration = Duration::from_secs(60);
