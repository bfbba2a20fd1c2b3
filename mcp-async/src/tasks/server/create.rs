//! From a call to a task.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::rpc::code;

use super::super::store::TaskRecord;
use super::engine::Engine;
use super::kept::{Bounds, OF_OWNER, Repair};
use super::runs::Running;
use super::shown::CreatedTask;
use super::sweep::KEPT;
use super::time::millis;
use crate::error::ErrorReply;
use crate::observe;
use crate::random;
use crate::server::{DetachedCall, Ownership};

impl Engine {
    /// Makes a task of the call, and returns the result that says so.
    pub(super) async fn create(
        self: Arc<Self>,
        owner: Option<Arc<str>>,
        call: DetachedCall,
    ) -> Result<CreatedTask, ErrorReply> {
        let begun = self.begin(owner, call, |record| record);
        begun.await.map(CreatedTask)
    }

    /// Makes a task of the call. `complete` completes its record.
    pub(super) async fn begin(
        self: Arc<Self>,
        owner: Option<Arc<str>>,
        call: DetachedCall,
        complete: impl FnOnce(TaskRecord) -> TaskRecord,
    ) -> Result<TaskRecord, ErrorReply> {
        // Without random numbers other processes could not find the tasks of this one.
        if self.boot.is_empty() {
            return Err(ErrorReply::internal());
        }
        // TK-49
        let id = random::id().map_err(|_| ErrorReply::internal())?.into();
        let mut place = self.reserve(&owner, id)?;
        self.renew().await?;
        // The lease in which the record is written: a later one begins where others have failed the task.
        let lease = self.ownership().number();
        if let Some(removed) = &place.removed {
            Box::pin(self.ask(|store| store.remove(removed))).await?;
            place.removed = None;
        }
        let boot = Arc::clone(&self.boot);
        let mut record =
            TaskRecord::from_shared(Arc::clone(&place.id), boot, self.time()).with_ttl(self.ttl());
        record.owner = owner;
        record.poll = Some(millis(self.tasks.poll_interval));
        record = complete(record);
        // TK-34: the client is answered when every process can find the task.
        if !self.ask(|store| store.create(&record)).await? {
            return Err(ErrorReply::internal());
        }
        let Some(running) = place.running.take() else {
            return Err(ErrorReply::internal());
        };
        let number = place.number;
        drop(place);
        if let Some(at) = record.expires_at() {
            self.kept().leaves(number, at.saturating_add(millis(KEPT)));
        }
        if self.store().is_shared() {
            let engine = Arc::downgrade(&self);
            call.counts_while(move || engine.upgrade().is_some_and(|it| it.has_lease(lease)));
        }
        call.detach();
        let run = Arc::clone(&self).run(record.clone(), call, (running, number));
        self.runtime().spawn(Box::pin(run));
        self.begin_sweeps();
        Ok(record)
    }

    /// Renews the lease of this process, if it may end soon.
    pub(super) async fn renew(&self) -> Result<(), ErrorReply> {
        let recent = self.tasks.effective_lease() / 3;
        self.renew_unless(|ownership, now| ownership.was_renewed_within(now, recent))
            .await
    }

    /// Renews the lease of this process, unless the condition holds already, or after the renewal that is under way.
    pub(super) async fn renew_unless(
        &self,
        holds: impl Fn(&Ownership, Instant) -> bool + Send + Sync,
    ) -> Result<(), ErrorReply> {
        let holds = || holds(&self.ownership(), self.now());
        if holds() {
            return Ok(());
        }
        let renewed = self.ask(|store| {
            Box::pin(async {
                let _turn = Arc::clone(&self.renewals).acquire(()).await;
                if holds() {
                    return Ok(());
                }
                let (sent, last) = (self.now(), self.ownership().number());
                let lease = self.tasks.effective_lease();
                let number = store.renew(&self.boot, last, lease).await?;
                self.ownership().announced(sent, number);
                Ok(())
            })
        });
        // Boxed: it is rare, and its future is large.
        let renewed = Box::pin(renewed).await;
        match renewed {
            Ok(()) => self.renewed.notify_waiters(),
            Err(_) => self.ownership().failed(),
        }
        renewed
    }

    /// Counts a new task, which may take the place of another one.
    fn reserve(
        self: &Arc<Self>,
        owner: &Option<Arc<str>>,
        id: Arc<str>,
    ) -> Result<Place, ErrorReply> {
        let refused = |limit: &'static str| {
            let code = match limit {
                OF_OWNER => code::TOO_MANY_REQUESTS,
                _ => code::OVERLOADED,
            };
            ErrorReply::new(code, limit)
        };
        let now = self.now();
        let running = self.runs.begin(now, self.tasks.max_running);
        let running = running.map_err(refused)?;
        let added = self.kept().add(&id, owner, self.bounds());
        let (number, removed) = added.map_err(refused)?;
        Ok(Place {
            engine: Arc::clone(self),
            id,
            number,
            removed,
            running: Some(running),
        })
    }

    const fn bounds(&self) -> Bounds {
        Bounds {
            all: self.tasks.max,
            per_owner: self.tasks.max_per_owner,
        }
    }

    /// Returns true if a call that need not become a task runs in its exchange: a further task of
    /// this owner would exceed a bound, or the server ends.
    pub(super) fn stays_in_exchange(&self, owner: &Option<Arc<str>>) -> bool {
        let now = self.now();
        let may_run = self.runs.may_begin(now, self.tasks.max_running);
        let may_begin = may_run.and_then(|()| self.kept().may_add(owner, self.bounds()));
        may_begin
            .inspect_err(|limit| {
                self.kept_in_exchange.fetch_add(1, Ordering::Relaxed);
                observe::kept_in_exchange(limit);
            })
            .is_err()
    }
}

/// A task that is being created. If it is not, what the store may have of it is removed.
struct Place {
    engine: Arc<Engine>,
    id: Arc<str>,
    number: u64,
    /// The task whose place it has, until the store has removed that.
    removed: Option<Arc<str>>,
    /// `None` once the task has been created.
    running: Option<Running>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.running.is_none() {
            return;
        }
        {
            let mut kept = self.engine.kept();
            kept.remove(self.number);
            if let Some(removed) = self.removed.take() {
                kept.repair(Repair::Remove(removed));
            }
        }
        let (engine, id) = (Arc::clone(&self.engine), Arc::clone(&self.id));
        let runtime = engine.runtime().clone();
        runtime.spawn(Box::pin(async move {
            // An attempt that was given up may still create the record, some time later.
            for pause in [0, 1, 10] {
                engine.sleep(Duration::from_secs(pause)).await;
                let _ = engine.ask(|store| store.remove(&id)).await;
                engine.repair().await;
            }
        }));
    }
}
