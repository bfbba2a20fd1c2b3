//! Removes tasks that have expired, and finds those that have lost their process.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::{Arc, Weak};

use super::engine::{Counts, Engine, millis};
use super::executor::Executor;
use crate::error::ErrorReply;

impl Engine {
    /// Lets a task of the runtime look after the store, if none does.
    pub(super) fn begin_sweeps(self: &Arc<Self>) {
        if !self.sweeps.swap(true, Ordering::AcqRel) {
            let sweeps = sweep(Arc::downgrade(self), self.executor);
            (self.executor.spawn)(Box::pin(sweeps));
        }
    }

    async fn sweep(&self) -> Result<(), ErrorReply> {
        let now = self.time();
        self.counts().forget_until(now);
        self.renew(now).await?;
        let gone = now.saturating_sub(millis(KEPT));
        loop {
            let expired = self.ask(self.store().expired(gone, BATCH)).await?;
            for record in &expired {
                self.ask(self.store().remove(&record.id)).await?;
            }
            if expired.len() < BATCH {
                break;
            }
        }
        let orphaned = self.ask(self.store().orphaned(now, BATCH)).await?;
        for record in orphaned {
            if record.boot != self.boot {
                self.fail(record, LOST).await?;
            }
        }
        Ok(())
    }

    /// Whether there is nothing to look after. The next task begins it again.
    fn is_idle(&self) -> bool {
        if self.tasks.store.is_shared() {
            return false;
        }
        let counts = self.counts();
        let idle = counts.all == 0;
        if idle {
            self.sweeps.store(false, Ordering::Release);
        }
        idle
    }
}

async fn sweep(engine: Weak<Engine>, executor: Executor) {
    loop {
        (executor.sleep)(INTERVAL).await;
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

impl Counts {
    /// The tasks that are forgotten at this time count no more.
    fn forget_until(&mut self, now: u64) {
        while let Some((at, ..)) = self.leaving.first()
            && *at <= now
        {
            let left = self.leaving.pop_first();
            self.release(left.and_then(|(.., owner)| owner).as_ref());
        }
    }

    /// A task of this owner counts no more.
    pub(super) fn release(&mut self, owner: Option<&Arc<str>>) {
        self.all = self.all.saturating_sub(1);
        let Some(owner) = owner else {
            return;
        };
        if let Some(count) = self.owners.get_mut(owner) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.owners.remove(owner);
            }
        }
    }
}

/// The status message of a task whose process has ended.
pub(super) const LOST: &str = "the process that worked on the task has ended";
/// How long a task can be read after it has expired.
pub(super) const KEPT: Duration = Duration::from_secs(2);
/// How long the store takes the process for alive without hearing of it.
pub(super) const LEASE: Duration = Duration::from_millis(1500);
/// How often the store is looked after.
const INTERVAL: Duration = Duration::from_millis(500);
/// The records that the store returns at a time.
const BATCH: usize = 256;
