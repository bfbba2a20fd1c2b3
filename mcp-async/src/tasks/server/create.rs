//! From a call to a task.

use core::sync::atomic::Ordering;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::rpc::code;

use super::super::store::TaskRecord;
use super::engine::{Counts, Engine, millis, random_id};
use super::run::SHUTDOWN;
use super::runs::Running;
use super::shown::created;
use super::sweep::KEPT;
use crate::error::ErrorReply;
use crate::server::DetachedCall;

impl Engine {
    /// Makes a task of the call, and returns the result that says so.
    pub(super) async fn create(
        self: Arc<Self>,
        owner: Option<Arc<str>>,
        call: DetachedCall,
    ) -> Result<RawBuf, ErrorReply> {
        created(&self.begin(owner, call, |record| record).await?)
    }

    /// Makes a task of the call. `complete` completes its record.
    pub(super) async fn begin(
        self: Arc<Self>,
        owner: Option<Arc<str>>,
        call: DetachedCall,
        complete: impl FnOnce(TaskRecord) -> TaskRecord,
    ) -> Result<TaskRecord, ErrorReply> {
        let id = random_id().ok_or(ErrorReply::internal())?;
        let mut place = self.reserve(owner.as_ref(), id)?;
        self.renew(self.time()).await?;
        let mut record = TaskRecord::new(&*place.id, &*self.boot, self.time())
            .with_owner(owner.as_deref())
            .with_ttl(self.ttl());
        record.poll = Some(millis(self.tasks.poll_interval));
        record = complete(record);
        // TK-34: the client is answered when every process can find the task.
        if !self.ask(self.store().create(&record)).await? {
            return Err(ErrorReply::internal());
        }
        place.is_taken = true;
        let Some(running) = place.running.take() else {
            return Err(ErrorReply::internal());
        };
        drop(place);
        self.keep(&record, owner);
        call.detach();
        let run = Arc::clone(&self).run(record.clone(), call, running);
        (self.executor.spawn)(Box::pin(run));
        self.begin_sweeps();
        Ok(record)
    }

    /// Tells the store that this process is alive, if it may forget that soon.
    pub(super) async fn renew(&self, now: u64) -> Result<(), ErrorReply> {
        let until = self.alive_until.load(Ordering::Relaxed);
        let lease = self.tasks.effective_lease();
        if until > now.saturating_add(millis(lease / 3 * 2)) {
            return Ok(());
        }
        let until = now.saturating_add(millis(lease));
        self.ask(self.store().renew(&self.boot, until)).await?;
        self.alive_until.store(until, Ordering::Relaxed);
        Ok(())
    }

    /// Counts a new task.
    fn reserve(
        self: &Arc<Self>,
        owner: Option<&Arc<str>>,
        id: String,
    ) -> Result<Place, ErrorReply> {
        let counts = &mut *self.counts();
        if let Some((code, limit)) = self.reached(counts, owner) {
            return Err(ErrorReply::new(code, limit));
        }
        let now = (self.executor.now)();
        let Some(running) = self.runs.begin(now) else {
            return Err(ErrorReply::new(code::INTERNAL_ERROR, SHUTDOWN));
        };
        if let Some(owner) = owner {
            let count = counts.owners.entry(Arc::clone(owner)).or_default();
            *count = count.saturating_add(1);
        }
        counts.all = counts.all.saturating_add(1);
        Ok(Place {
            running: Some(running),
            engine: Arc::clone(self),
            owner: owner.cloned(),
            id,
            is_taken: false,
        })
    }

    /// The bound that a further task of this owner would exceed: its error code and message.
    fn reached(&self, counts: &Counts, owner: Option<&Arc<str>>) -> Option<(i64, &'static str)> {
        if counts.all >= self.tasks.max {
            return Some((code::OVERLOADED, "limit reached: tasks"));
        }
        let of_owner = counts.owners.get(owner?).copied().unwrap_or(0);
        (of_owner >= self.tasks.max_per_owner).then_some((
            code::TOO_MANY_REQUESTS,
            "limit reached: tasks of one principal",
        ))
    }

    /// Whether a further task of this owner would exceed a bound, or the server ends.
    pub(super) fn is_full(&self, owner: Option<&Arc<str>>) -> bool {
        let is_over = !self.runs.are_allowed((self.executor.now)());
        is_over || self.reached(&self.counts(), owner).is_some()
    }

    /// Notes when the task is forgotten.
    fn keep(&self, record: &TaskRecord, owner: Option<Arc<str>>) {
        let Some(at) = record.expires_at() else {
            return;
        };
        let counts = &mut *self.counts();
        let number = counts.numbers;
        counts.numbers = counts.numbers.wrapping_add(1);
        let at = at.saturating_add(millis(KEPT));
        counts.leaving.insert((at, number, owner));
    }
}

/// A task that is being created. If it is not, what the store may have of it is removed.
struct Place {
    engine: Arc<Engine>,
    owner: Option<Arc<str>>,
    id: String,
    is_taken: bool,
    running: Option<Running>,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.is_taken {
            return;
        }
        self.engine.counts().release(self.owner.as_ref());
        let (engine, id) = (Arc::clone(&self.engine), core::mem::take(&mut self.id));
        (engine.executor.spawn)(Box::pin(async move {
            // An attempt that was given up may still create the record, some time later.
            for pause in [0, 1, 10] {
                (engine.executor.sleep)(Duration::from_secs(pause)).await;
                let _ = engine.ask(engine.store().remove(&id)).await;
            }
        }));
    }
}
