//! A session's life in the stores: its events on their way there, and its record kept fresh.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::server::http::streams::Append;
use mcp_proto::{Channel, Instant};

use super::session::Session;
use super::sharing::{Saved, Sharing};
use super::streams::SessionStreams;
use crate::connection::Shared;
use crate::http::{EventStore, StoredEvent};
use crate::observe;
use crate::server::Machine;

/// Polled by the task of the session; without stores there is nothing to do.
pub(super) struct Keeper {
    sharing: Sharing,
    id: Arc<str>,
    principal: Option<Arc<str>>,
    /// How long the record is to be kept.
    keep: Duration,
    saved: Option<Saved>,
    saved_at: Instant,
    saving: Option<Work>,
    appending: Vec<Appending>,
    forgetting: Option<Work>,
}

/// An event that the store does not have yet.
struct Appending {
    channel: Channel,
    sequence: u64,
    work: Work,
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Keeper {
    /// `saved` is what the store has by now, and `keep` how long it is to be kept.
    pub(super) fn new(
        sharing: Sharing,
        session: &Session,
        keep: Duration,
        saved: Option<Saved>,
        now: Instant,
    ) -> Self {
        Self {
            sharing,
            id: Arc::clone(session.id()),
            principal: session.principal().cloned(),
            keep,
            saved,
            saved_at: now,
            saving: None,
            appending: Vec::new(),
            forgetting: None,
        }
    }

    /// When the record has to be saved again, if the session is in use then.
    pub(super) fn due(&self) -> Option<Instant> {
        let saves = self.sharing.sessions.is_some() && self.saving.is_none();
        saves.then(|| self.saved_at + self.keep / 2)
    }

    /// Does what there is to do, and wakes the task when a store is done. `used` says when the
    /// session was in use. No store is called under the lock.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>, shared: &Shared<Machine>, used: Instant) {
        self.save(cx, shared, used);
        self.append(cx, shared);
    }

    /// Lets the stores forget the session, once nothing is on its way to them any more: what
    /// comes after would bring it back.
    pub(super) fn poll_forget(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(saving) = &mut self.saving {
            ready!(saving.as_mut().poll(cx));
            self.saving = None;
        }
        self.appending
            .retain_mut(|appending| appending.work.as_mut().poll(cx).is_pending());
        if !self.appending.is_empty() {
            return Poll::Pending;
        }
        let forgetting = self.forgetting.get_or_insert_with(|| {
            let forget = self.sharing.clone().forget(Arc::clone(&self.id));
            Box::pin(forget) as Work
        });
        forgetting.as_mut().poll(cx)
    }

    fn save(&mut self, cx: &mut Context<'_>, shared: &Shared<Machine>, used: Instant) {
        let Some(store) = &self.sharing.sessions else {
            return;
        };
        let saving = self.saving.as_mut();
        if saving.is_some_and(|work| work.as_mut().poll(cx).is_pending()) {
            return;
        }
        self.saving = None;
        let now = shared.now();
        let fades = self.saved_at + self.keep / 2 <= now && self.saved_at < used;
        let saved = {
            let core = shared.lock();
            let saved = self.saved.as_ref();
            let current = saved.is_some_and(|saved| saved.is_current(&core.machine));
            let stale = fades || !current;
            stale
                .then(|| Saved::of(&core.machine, self.principal.as_deref()))
                .flatten()
        };
        let Some(saved) = saved else {
            return;
        };
        let (store, id, keep) = (Arc::clone(store), Arc::clone(&self.id), self.keep);
        let record = saved.write();
        let mut work: Work = Box::pin(async move {
            if let Err(error) = store.save(&id, &record, keep).await {
                observe::store_failed(&error);
            }
        });
        self.saved = Some(saved);
        self.saved_at = now;
        if work.as_mut().poll(cx).is_pending() {
            self.saving = Some(work);
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
                    work: begin(store, &self.id, append),
                });
            }
        }
        let mut settled = Vec::new();
        self.appending.retain_mut(|appending| {
            let pending = appending.work.as_mut().poll(cx).is_pending();
            if !pending {
                settled.push((appending.channel, appending.sequence));
            }
            pending
        });
        if settled.is_empty() {
            return;
        }
        // What nobody reads may go once it is settled, so there may be room again.
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
fn begin(store: &Arc<dyn EventStore>, session: &Arc<str>, append: Append<'_>) -> Work {
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
            stream: channel.number(),
            sequence,
            message: &message,
            end,
        };
        if let Err(error) = store.append(event).await {
            observe::store_failed(&error);
        }
    })
}
