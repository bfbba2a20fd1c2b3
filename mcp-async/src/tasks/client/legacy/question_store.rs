//! The tasks of questions in their store, and the futures that run them.

use core::future::poll_fn;
use core::pin::Pin;
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use mcp_proto::json::RawBuf;
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::code;
use mcp_proto::{Payload, Revision};

use crate::client::Answer;
use crate::connection::guarded;
use crate::error::ErrorReply;
use crate::payload::encode;
use crate::random;
use crate::runtime::{Either, RuntimeHandle, Sleep, race};
use crate::sync::Lock;
use crate::tasks::legacy::outcome;
use crate::tasks::store::{MemoryTaskStore, TaskRecord, TaskStore};
use crate::tasks::time::{ReadTime, TimeOfDay, millis};

/// The tasks of one client, in a store of their own.
pub(super) struct QuestionStore {
    store: MemoryTaskStore,
    /// The oldest first.
    kept: Lock<Vec<KeptTask>>,
    day: TimeOfDay,
    read: ReadTime,
}

/// A task that the store has.
struct KeptTask {
    id: String,
    /// The time from which on it is unknown; read from here, as its record may be large.
    expires_at: Option<u64>,
    /// The server has received its result, or has cancelled it.
    may_leave: bool,
}

impl Default for QuestionStore {
    fn default() -> Self {
        Self {
            store: MemoryTaskStore::new(),
            kept: Lock::default(),
            day: TimeOfDay::default(),
            read: Arc::new(SystemTime::now),
        }
    }
}

impl QuestionStore {
    /// Adds a task, and returns its record. If there are too many, the oldest whose result the server
    /// has received, or that was cancelled, makes room (TK-20).
    pub(super) fn create(
        &self,
        runtime: &RuntimeHandle,
        ttl: Duration,
        max: usize,
    ) -> Result<TaskRecord, ErrorReply> {
        // TK-19
        let id = random::id().map_err(|_| ErrorReply::internal())?;
        let time = self.time(runtime);
        let mut record = TaskRecord::new(&*id, "", time).with_ttl(Some(millis(ttl)));
        record.is_core = true;
        record.poll = Some(POLL_INTERVAL);
        let removed = {
            let kept = &mut *self.kept.lock();
            let removed = match kept.len() < max {
                true => None,
                false => {
                    let is_over = |task: &KeptTask| task.expires_at.is_some_and(|at| time >= at);
                    let over = kept.iter().position(is_over);
                    let over = over.or_else(|| kept.iter().position(|task| task.may_leave));
                    let limit = "limit reached: tasks of questions";
                    let full = || ErrorReply::new(code::INTERNAL_ERROR, limit);
                    Some(kept.remove(over.ok_or_else(full)?))
                }
            };
            self.store.add(&record);
            kept.push(KeptTask {
                id,
                expires_at: record.expires_at(),
                may_leave: false,
            });
            removed
        };
        if let Some(removed) = removed {
            self.store.forget(&removed.id);
        }
        Ok(record)
    }

    pub(super) fn get(&self, id: &str, runtime: &RuntimeHandle) -> Result<TaskRecord, ErrorReply> {
        let task = self.find(id, self.time(runtime));
        task.ok_or_else(|| ErrorReply::invalid_params("the task is unknown"))
    }

    pub(super) fn list(&self, runtime: &RuntimeHandle) -> Vec<TaskRecord> {
        let time = self.time(runtime);
        let ids: Vec<String> = self
            .kept
            .lock()
            .iter()
            .map(|task| task.id.clone())
            .collect();
        let tasks = ids.iter().filter_map(|id| self.find(id, time));
        tasks.collect()
    }

    /// Ends a task, unless it is over (TK-14, TK-15).
    pub(super) fn cancel(
        &self,
        id: &str,
        runtime: &RuntimeHandle,
    ) -> Result<TaskRecord, ErrorReply> {
        let error = ErrorReply::invalid_params("the task was cancelled");
        let record = self.end(id, runtime, |record| {
            record.end(TaskStatus::Cancelled);
            record.message = Some(error.message.to_string());
            record.error = Some(error.clone().into());
        })?;
        self.leave(id);
        Ok(record)
    }

    /// Waits for the outcome of a task.
    pub(super) async fn outcome(
        &self,
        id: &str,
        runtime: &RuntimeHandle,
    ) -> Result<RawBuf, ErrorReply> {
        loop {
            let record = self.get(id, runtime)?;
            if record.status.is_terminal() {
                self.leave(id);
                return outcome(record);
            }
            drop(self.store.watch(id, record.version).await);
        }
    }

    /// Ends a task, unless it is over.
    fn end(
        &self,
        id: &str,
        runtime: &RuntimeHandle,
        end: impl Fn(&mut TaskRecord),
    ) -> Result<TaskRecord, ErrorReply> {
        loop {
            let ended = self.get(id, runtime)?.ended_by(&end);
            let mut record = ended.ok_or_else(|| ErrorReply::invalid_params("the task is over"))?;
            record.version = record.version.saturating_add(1);
            record.updated = self.time(runtime);
            // Otherwise it has ended meanwhile.
            if self.store.exchange(&record) {
                return Ok(record);
            }
        }
    }

    /// The task makes room for another one when there are too many.
    fn leave(&self, id: &str) {
        let mut kept = self.kept.lock();
        if let Some(task) = kept.iter_mut().find(|task| task.id == id) {
            task.may_leave = true;
        }
    }

    /// The record of a task whose time is not over.
    fn find(&self, id: &str, time: u64) -> Option<TaskRecord> {
        let record = self.store.get(id)?;
        record
            .expires_at()
            .is_none_or(|at| time < at)
            .then_some(record)
    }

    fn time(&self, runtime: &RuntimeHandle) -> u64 {
        self.day.now(&self.read, runtime.now())
    }
}

/// The callback of a task, and the task itself: dropping it removes both.
pub(super) struct Run {
    tasks: Arc<QuestionStore>,
    runtime: RuntimeHandle,
    record: TaskRecord,
}

impl Run {
    pub(super) const fn new(
        tasks: Arc<QuestionStore>,
        runtime: RuntimeHandle,
        record: TaskRecord,
    ) -> Self {
        Self {
            tasks,
            runtime,
            record,
        }
    }

    /// Gives the task its answer, and keeps it until its time is over, or another task takes its
    /// place.
    pub(super) async fn run(self, answer: Answer, expiry: Sleep) {
        race(expiry, self.answer(answer)).await;
    }

    async fn answer(&self, mut answer: Answer) {
        let Self { tasks, record, .. } = self;
        let (id, store) = (&*record.id, &tasks.store);
        let replied = poll_fn(|cx| {
            let polled = guarded(|| Pin::new(&mut answer).poll(cx));
            polled.unwrap_or(Poll::Ready(Err(ErrorReply::internal())))
        });
        // A task that is cancelled or removed stops its callback.
        if let Either::Right(replied) = race(store.watch(id, record.version), replied).await {
            let outcome = replied.and_then(|value| encoded(&*value));
            // One that has ended meanwhile stays as it is.
            let _ = tasks.end(id, &self.runtime, |record| match outcome.clone() {
                Ok(result) => {
                    record.end(TaskStatus::Completed);
                    record.result = Some(result.into());
                }
                Err(error) => record.fail(error),
            });
        }
        drop(answer);
        while let Some(record) = store.get(id) {
            drop(store.watch(id, record.version).await);
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let id = &self.record.id;
        self.tasks.kept.lock().retain(|task| *task.id != **id);
        self.tasks.store.forget(id);
    }
}

/// An answer as it is sent.
pub(super) fn encoded(answer: &dyn Payload) -> Result<RawBuf, ErrorReply> {
    encode(answer, Revision::V2025_11_25).map_err(|_| ErrorReply::internal())
}

/// In milliseconds: most questions are answered by a user.
const POLL_INTERVAL: u64 = 1000;
