//! Renews the process in the store, removes tasks that have expired, and finds those that have lost
//! their process.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::collections::HashSet;
use std::sync::{Arc, Weak};

use super::engine::Engine;
use super::kept::Repair;
use super::settings::INTERVAL;
use super::time::millis;
use crate::error::ErrorReply;
use crate::runtime::{RuntimeHandle, Sleep, race};
use crate::server::jitter;

impl Engine {
    /// Lets a task of the runtime look after the store, if none does.
    pub(super) fn begin_sweeps(self: &Arc<Self>) {
        if !self.sweeps.swap(true, Ordering::AcqRel) {
            let weak = Arc::downgrade(self);
            self.runtime()
                .spawn(Box::pin(maintain(weak, self.runtime().clone())));
        }
    }

    /// Looks after a store that others write to although no task runs here.
    pub(super) fn begin_to_look(self: &Arc<Self>) {
        if self.tasks.store.is_shared() {
            self.begin_sweeps();
        }
    }

    async fn sweep(self: &Arc<Self>) -> Result<(), ErrorReply> {
        let now = self.time();
        self.kept().forget_until(now);
        // The failure of one does not keep the others.
        self.repair().await;
        let _ = self.remove_expired(now.saturating_sub(millis(KEPT))).await;
        if !self.may_find_orphans() {
            return Ok(());
        }
        let orphaned = self.ask(|store| store.orphaned(BATCH)).await?;
        if !orphaned.is_empty() && !self.is_known_to_live().await? {
            return Ok(());
        }
        for record in orphaned {
            if record.boot != self.boot {
                let _ = self.fail(record, LOST).await;
            }
        }
        Ok(())
    }

    /// Makes the changes that the store has not made. The next sweep tries again those that fail.
    pub(super) async fn repair(self: &Arc<Self>) {
        let mut failures = 0;
        let repairs = self.kept().take_repairs();
        for repair in repairs {
            // A store that is down is not asked for each.
            if failures < FAILURES && self.is_repaired(&repair).await {
                continue;
            }
            failures = failures.saturating_add(1);
            self.kept().repair(repair);
        }
        if failures > 0 {
            self.begin_sweeps();
        }
    }

    async fn is_repaired(&self, repair: &Repair) -> bool {
        let repaired = match repair {
            Repair::Remove(id) => self.ask(|store| store.remove(id)).await,
            Repair::Fail(id, message) => match self.ask(|store| store.load(id)).await {
                Ok(Some(record)) => self.fail(record, message).await.map(drop),
                Ok(None) => Ok(()),
                Err(error) => Err(error),
            },
        };
        repaired.is_ok()
    }

    /// Removes the records that have expired at this time.
    async fn remove_expired(&self, at: u64) -> Result<(), ErrorReply> {
        let mut removed = HashSet::new();
        loop {
            let expired = self.ask(|store| store.expired(at, BATCH)).await?;
            let is_full = expired.len() >= BATCH;
            let mut is_new = true;
            for record in expired {
                let _ = self.ask(|store| store.remove(&record.id)).await;
                is_new &= removed.insert(record.id);
            }
            // A store that still returns a removed record has a pause.
            if !is_full || !is_new {
                return Ok(());
            }
        }
    }

    /// Returns true if there is neither a task nor a change to look after. The next task begins the
    /// sweeps again.
    fn is_idle(&self) -> bool {
        if self.tasks.store.is_shared() {
            return false;
        }
        let kept = self.kept();
        let idle = kept.is_empty();
        if idle {
            self.sweeps.store(false, Ordering::Release);
        }
        idle
    }
}

/// Sweeps, and renews the process at the same time, so that a slow sweep does not delay a renewal.
async fn maintain(engine: Weak<Engine>, runtime: RuntimeHandle) {
    let renewals = renew(Weak::clone(&engine), &runtime);
    race(renewals, sweep(engine, &runtime)).await;
}

async fn renew(engine: Weak<Engine>, runtime: &RuntimeHandle) {
    loop {
        Sleep::after(runtime, jitter(INTERVAL)).await;
        let Some(engine) = engine.upgrade() else {
            return;
        };
        // A store that fails is asked again.
        let _ = engine.renew().await;
    }
}

async fn sweep(engine: Weak<Engine>, runtime: &RuntimeHandle) {
    loop {
        Sleep::after(runtime, INTERVAL).await;
        let Some(engine) = engine.upgrade() else {
            return;
        };
        // A store that fails is asked again.
        let _ = engine.sweep().await;
        if engine.is_idle() {
            return;
        }
    }
}

/// The records that the store returns at a time.
const BATCH: usize = 32;

/// Failures after which the store is left alone until the next sweep.
const FAILURES: u32 = 4;

/// The status message of a task whose process has ended.
pub(super) const LOST: &str = "the process that worked on the task has ended";
/// The time for which a task can be read after it has expired.
pub(super) const KEPT: Duration = Duration::from_secs(2);
