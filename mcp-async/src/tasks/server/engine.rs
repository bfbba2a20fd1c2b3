//! The tasks of one server, in one process.

use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, AtomicU64};
use core::task::{Context, Poll};
use core::time::Duration;
use std::panic::catch_unwind;
use std::sync::{Arc, MutexGuard, OnceLock};

use mcp_proto::Instant;
use mcp_proto::rpc::code;
use pin_project_lite::pin_project;

use super::super::store::{Answer, DynTaskStore, TaskRecord, TaskStoreError};
use super::asked::AskedQuestions;
use super::kept::KeptTasks;
use super::polls::Polls;
use super::runs::Runs;
use super::settings::Tasks;
use super::time::{TimeOfDay, millis};
use crate::connection::Notify;
use crate::error::ErrorReply;
use crate::observe;
use crate::random;
use crate::runtime::{BoxFuture, ManualRuntime, RuntimeHandle, Sleep, race, within};
use crate::server::layers::Semaphore;
use crate::server::{CallContext, Ownership, Principal};
use crate::sync::Lock;

/// The state of its tasks that the connections of a server share.
pub(super) struct Engine {
    pub(super) tasks: Tasks,
    /// The first runtime that the server is served on.
    runtime: OnceLock<RuntimeHandle>,
    /// Time stands still until then.
    unserved: RuntimeHandle,
    time: TimeOfDay,
    /// The name of this run of the process; empty where the system has no random numbers.
    pub(super) boot: Arc<str>,
    kept: Lock<KeptTasks>,
    pub(super) runs: Arc<Runs>,
    pub(super) polls: Polls,
    /// A task of the runtime removes what has expired.
    pub(super) sweeps: AtomicBool,
    ownership: Lock<Ownership>,
    /// Lets one renewal begin after the other: each names the lease of the one before.
    pub(super) renewals: Arc<Semaphore>,
    /// The store has taken a renewal.
    pub(super) renewed: Notify,
    /// The questions that this process asks clients of 2025-11-25 now.
    pub(super) asked: Arc<AskedQuestions>,
    /// The number of calls that a bound kept in their exchange.
    pub(super) kept_in_exchange: AtomicU64,
}

impl Engine {
    pub(super) fn new(tasks: Tasks) -> Arc<Self> {
        let ownership = Lock::new(Ownership::new(tasks.effective_lease()));
        Arc::new(Self {
            tasks,
            runtime: OnceLock::new(),
            unserved: ManualRuntime::default().into(),
            time: TimeOfDay::default(),
            boot: random::id().unwrap_or_default().into(),
            kept: Lock::default(),
            runs: Arc::default(),
            polls: Polls::default(),
            sweeps: AtomicBool::new(false),
            ownership,
            renewals: Semaphore::new(1),
            renewed: Notify::default(),
            asked: Arc::default(),
            kept_in_exchange: AtomicU64::new(0),
        })
    }

    /// The runtime that tasks run on.
    pub(super) fn runtime(&self) -> &RuntimeHandle {
        self.runtime.get().unwrap_or(&self.unserved)
    }

    pub(super) fn set_runtime(&self, runtime: &RuntimeHandle) {
        self.runtime.get_or_init(|| runtime.clone());
    }

    pub(super) fn now(&self) -> Instant {
        self.runtime().now()
    }

    /// Done after this time.
    pub(super) fn sleep(&self, time: Duration) -> Sleep {
        Sleep::after(self.runtime(), time)
    }

    /// The time of day that all times of tasks use, in milliseconds since 1970.
    pub(super) fn time(&self) -> u64 {
        self.time.now(&self.tasks.time, self.now())
    }

    pub(super) fn ttl(&self) -> Option<u64> {
        self.tasks.ttl.map(millis)
    }

    pub(super) fn store(&self) -> &dyn DynTaskStore {
        &*self.tasks.store
    }

    /// Calls the store, and waits for it, for a limited time.
    pub(super) async fn ask<'a, T>(
        &'a self,
        call: impl FnOnce(&'a dyn DynTaskStore) -> Answer<'a, T>,
    ) -> Result<T, ErrorReply> {
        let future = async { call(self.store()).await };
        let asked = Caught { future };
        match within(self.runtime(), self.tasks.store_timeout, asked).await {
            Some(Some(Ok(value))) => return Ok(value),
            Some(Some(Err(error))) => observe::task_store_failed(&error),
            Some(None) => observe::task_store_failed(&TaskStoreError::new("a panic")),
            None => observe::task_store_late(),
        }
        Err(failed())
    }

    /// Waits for so long after the store has failed, or until it takes a renewal: it is back then, and may be away
    /// again soon.
    pub(super) fn pause(&self, pause: Duration) -> BoxFuture<'static, ()> {
        let pause = race(self.renewed.notified(), self.sleep(pause));
        Box::pin(async {
            pause.await;
        })
    }

    /// The next newer record of a task; `None` if there is no record any more. A store that fails is
    /// asked again.
    pub(super) fn newer(
        self: &Arc<Self>,
        record: &TaskRecord,
    ) -> BoxFuture<'static, Option<TaskRecord>> {
        let (engine, version) = (Arc::clone(self), record.version);
        let (id, owner) = (record.id.clone(), record.owner.clone());
        Box::pin(async move {
            let mut failures = 0_u32;
            loop {
                engine.watch(&id, version).await;
                failures = match engine.newest(&id, owner.as_deref()).await {
                    Ok(Some(newest)) if newest.version > version => return Some(newest),
                    // A watch may end without a reason.
                    Ok(Some(_)) => 0,
                    Ok(None) => return None,
                    // A store that has failed is asked less and less often.
                    Err(_) => failures.saturating_add(1),
                };
                let pause = FIRST_PAUSE.saturating_mul(1 << failures.min(6));
                engine.pause(pause).await;
            }
        })
    }

    /// Waits until there may be a later version of a record.
    async fn watch(&self, id: &str, version: u64) {
        let future = async { self.store().watch(id, version).await };
        let watch = Caught { future };
        let limit = (!self.store().watches_are_prompt()).then_some(LOOK);
        drop(within(self.runtime(), limit, watch).await);
    }

    /// The newest record of a task of this owner.
    pub(super) async fn newest(
        &self,
        id: &str,
        owner: Option<&str>,
    ) -> Result<Option<TaskRecord>, ErrorReply> {
        match self.ask(|store| store.load(id)).await? {
            Some(record) if record.id() != id || record.owner() != owner => {
                observe::task_store_failed(&TaskStoreError::new("the record of another task"));
                Err(failed())
            }
            record => Ok(record),
        }
    }

    /// Returns true if the process that works on a task may have ended; only then [`is_orphan`](Self::is_orphan) has to ask the
    /// store.
    pub(super) fn may_be_orphan(&self, record: &TaskRecord) -> bool {
        !record.status.is_terminal() && record.boot != self.boot && self.may_find_orphans()
    }

    /// Returns true if the process that works on a task has ended.
    pub(super) async fn is_orphan(&self, record: &TaskRecord) -> Result<bool, ErrorReply> {
        let alive = self.ask(|store| store.is_alive(&record.boot)).await?;
        Ok(!alive && self.is_known_to_live().await?)
    }

    /// Returns true if the store still has the lease of this process. A store that has lost this
    /// lease may have lost those of processes that live; then this process begins a new one.
    pub(super) async fn is_known_to_live(&self) -> Result<bool, ErrorReply> {
        if !self.store().is_shared() {
            return Ok(true);
        }
        let lost = self.ownership().number();
        let alive = self.ask(|store| store.is_alive(&self.boot)).await?;
        if !alive {
            self.ownership().failed();
            self.renew_unless(|ownership, _| ownership.number() != lost)
                .await?;
        }
        Ok(alive && self.may_find_orphans())
    }

    /// Changes a record, whatever its version is meanwhile. `change` returns the next record, or
    /// nothing if there is nothing to change. Returns the newest record, `None` if there is none.
    pub(super) async fn change(
        &self,
        mut record: TaskRecord,
        change: impl Fn(&TaskRecord) -> Result<Option<TaskRecord>, ErrorReply>,
    ) -> Result<Option<TaskRecord>, ErrorReply> {
        for _ in 0..ATTEMPTS {
            let Some(mut next) = change(&record)? else {
                return Ok(Some(record));
            };
            next.version = record.version.saturating_add(1);
            next.updated = self.time().max(record.updated);
            if self.ask(|store| store.replace(&next)).await? {
                return Ok(Some(next));
            }
            match self.newest(&record.id, record.owner()).await? {
                Some(newest) => record = newest,
                None => return Ok(None),
            }
        }
        Err(ErrorReply::new(
            code::INTERNAL_ERROR,
            "limit reached: changes of a task at the same time",
        ))
    }

    /// Marks a task as failed, unless it has ended.
    pub(super) async fn fail(
        &self,
        record: TaskRecord,
        message: &'static str,
    ) -> Result<Option<TaskRecord>, ErrorReply> {
        let error = ErrorReply::new(code::INTERNAL_ERROR, message);
        let fail = |next: &mut TaskRecord| next.fail(error.clone());
        self.change(record, |record| Ok(record.ended_by(fail)))
            .await
    }

    /// Returns true if a process that the store does not know is dead. After an outage of a store
    /// that processes share the others may not have renewed themselves yet.
    pub(super) fn may_find_orphans(&self) -> bool {
        let now = self.now();
        !self.store().is_shared() || self.ownership().may_displace(now)
    }

    /// Returns true if no other process can have declared the tasks of this lease failed.
    pub(super) fn has_lease(&self, lease: u64) -> bool {
        let now = self.now();
        let ownership = self.ownership();
        ownership.number() == lease && ownership.holds(now)
    }

    pub(super) fn ownership(&self) -> MutexGuard<'_, Ownership> {
        self.ownership.lock()
    }

    pub(super) fn kept(&self) -> MutexGuard<'_, KeptTasks> {
        self.kept.lock()
    }
}

pin_project! {
    /// A future that returns `None` if the inner one panics, which the hook has reported.
    // An async function would have room for the future twice.
    struct Caught<F> {
        #[pin]
        future: F,
    }
}

impl<F: Future> Future for Caught<F> {
    type Output = Option<F::Output>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<F::Output>> {
        match catch_unwind(AssertUnwindSafe(|| self.project().future.poll(cx))) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    }
}

fn failed() -> ErrorReply {
    ErrorReply::new(code::INTERNAL_ERROR, "the store of tasks failed")
}

/// The name of the principal that a call belongs to.
pub(super) fn owner(context: &CallContext) -> Option<Arc<str>> {
    context.principal().map(Principal::name).map(Arc::from)
}

/// More writers than these at the same time are a fault of the store.
const ATTEMPTS: usize = 64;
/// The interval at which a store is read whose watches may resolve late.
const LOOK: Duration = Duration::from_millis(500);
/// The pause after the first failure of the store.
pub(super) const FIRST_PAUSE: Duration = Duration::from_millis(50);
