//! The task of the runtime that runs the handler of a task.

use core::future::{Future, poll_fn};
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::Instant;
use mcp_proto::json::RawBuf;
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::code;

use super::super::store::{TaskQuestion, TaskRecord};
use super::engine::{Engine, FIRST_PAUSE};
use super::kept::Repair;
use super::runs::{Running, SHUTDOWN};
use super::sweep::KEPT;
use super::time::millis;
use crate::error::ErrorReply;
use crate::runtime::{BoxFuture, Sleep};
use crate::server::DetachedCall;

/// A task and its handler. The record is the one that the store has, as far as is known here.
struct Run {
    engine: Arc<Engine>,
    record: TaskRecord,
    /// The handler, until the task has ended.
    call: Option<DetachedCall>,
    /// The outcome of the call, until the store has it.
    outcome: Option<Result<Arc<RawBuf>, ErrorReply>>,
    message: Option<String>,
    /// The record may have to be another one than the store has.
    is_changed: bool,
    /// The bytes of the answers that were taken.
    answered: usize,
    /// The next record, on its way to the store.
    write: Option<BoxFuture<'static, Written>>,
    /// The newest record, when there is one.
    newer: Option<BoxFuture<'static, Option<TaskRecord>>>,
    /// The number of writes in a row that have failed.
    failures: u32,
    /// The time at which the store failed first since it last took a record.
    failed_since: Option<Instant>,
    /// The end of the task's time.
    expiry: Option<Sleep>,
    _running: Running,
    /// The number of the task among those that are kept.
    number: u64,
    /// Ready when the task has to end with its server. Created when the handler waits.
    closed: Option<BoxFuture<'static, ()>>,
    /// The end of the time that the store has after the task was stopped with its server.
    stopped: Option<Sleep>,
}

/// True if the store has taken a record, and the record that it has then.
type Written = (bool, Result<Option<TaskRecord>, ErrorReply>);

impl Engine {
    /// Runs the handler of a task until the task has ended. The future has as long a life as the task, and
    /// there are many: it holds the state once, and what rarely happens in an allocation of its own.
    pub(super) fn run(
        self: Arc<Self>,
        record: TaskRecord,
        call: DetachedCall,
        (running, number): (Running, u64),
    ) -> impl Future<Output = ()> + Send {
        let ttl = record.ttl.map(Duration::from_millis);
        let expiry = ttl.map(|ttl| self.sleep(ttl));
        let mut run = Run {
            engine: self,
            record,
            call: Some(call),
            outcome: None,
            message: None,
            is_changed: false,
            answered: 0,
            write: None,
            newer: None,
            failures: 0,
            failed_since: None,
            expiry,
            _running: running,
            number,
            closed: None,
            stopped: None,
        };
        async move {
            // A handler that ends at once needs neither a timer nor a watch, but a task that has to end does not begin it.
            let engine = &run.engine;
            let begins =
                ttl != Some(Duration::ZERO) && !engine.runs.is_closed(engine.runtime().now());
            let is_over =
                begins && poll_fn(|cx| Poll::Ready(run.poll_work(cx) == Poll::Ready(true))).await;
            if !is_over {
                poll_fn(|cx| run.poll(cx)).await;
            }
            let engine = Arc::clone(&run.engine);
            drop(run);
            // The tasks that made room for this one.
            if engine.kept().has_removals() {
                Box::pin(engine.repair()).await;
            }
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let max = self.engine.tasks.max_total_bytes;
        let mut kept = self.engine.kept();
        kept.end(self.number, self.record.len(), max);
        if !self.record.status.is_terminal() {
            let message = match self.stopped {
                Some(_) => SHUTDOWN,
                None => UNFINISHED,
            };
            kept.repair(Repair::Fail(Arc::clone(&self.record.id), message));
        }
    }
}

impl Run {
    /// Ready when the store has the end of the task, does not know the task any more, or has failed
    /// for good.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(expiry) = &mut self.expiry
            && expiry.poll_done(cx).is_ready()
        {
            self.expiry = None;
            self.stop(EXPIRED);
        }
        if self.poll_shutdown(cx).is_ready() {
            return Poll::Ready(());
        }
        loop {
            if self.poll_newer(cx).is_ready() || ready!(self.poll_work(cx)) {
                return Poll::Ready(());
            }
        }
    }

    /// Runs the handler and writes changes. Returns `Ready(true)` when nothing is left to do, and `Ready(false)` when the task has
    /// changed.
    fn poll_work(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let changed = self.poll_call(cx).is_ready();
        if self.is_changed && self.write.is_none() {
            self.is_changed = false;
            self.write = self.next().map(|next| self.replace(next));
        }
        match self.poll_write(cx) {
            Poll::Pending if changed => Poll::Ready(false),
            written => written,
        }
    }

    /// Ends the task with its server. Ready when the store has had its time.
    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.stopped.is_none() {
            let engine = &self.engine;
            let closed = self.closed.get_or_insert_with(|| {
                let engine = Arc::clone(engine);
                Box::pin(async move { engine.runs.closed(engine.runtime()).await })
            });
            ready!(closed.as_mut().poll(cx));
            if self.outcome.is_none() {
                self.stop(SHUTDOWN);
            }
            // A store that has failed is asked at once.
            if self.failures > 0 {
                (self.write, self.is_changed) = (None, true);
            }
            self.stopped = Some(self.engine.sleep(self.engine.tasks.store_timeout));
        }
        match &mut self.stopped {
            Some(stopped) => stopped.poll_done(cx),
            None => Poll::Pending,
        }
    }

    /// Runs the handler. Ready when something about it has changed.
    fn poll_call(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else {
            return Poll::Pending;
        };
        let polled = core::pin::pin!(call.changed()).poll(cx);
        if polled.is_pending() {
            return Poll::Pending;
        }
        self.is_changed = true;
        if let Some(message) = call.take_status() {
            self.message = Some(shortened(message));
        }
        if let Some(outcome) = call.take_outcome() {
            self.outcome = Some(outcome.map(Arc::new));
            self.call = None;
        } else if call.questions().len() > self.engine.tasks.max_questions {
            self.stop("limit reached: questions of a task");
        }
        Poll::Ready(())
    }

    /// Waits for what others have done with the task. Ready when it has ended.
    fn poll_newer(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        loop {
            let (engine, record) = (&self.engine, &self.record);
            let newer = &mut self.newer;
            let newer = newer.get_or_insert_with(|| engine.newer(record));
            let newest = ready!(newer.as_mut().poll(cx));
            self.newer = None;
            let Some(newest) = newest else {
                return Poll::Ready(());
            };
            self.take(newest);
            if self.record.status.is_terminal() {
                return Poll::Ready(());
            }
        }
    }

    /// Takes the answers that others have received.
    fn take(&mut self, record: TaskRecord) {
        for (key, answer) in &record.answers {
            // The record may have been read before: only what is new counts.
            let call = self.call.as_ref();
            if call.is_some_and(|call| call.answer(key, answer.clone())) {
                let bytes = key.len().saturating_add(answer.as_raw().as_bytes().len());
                self.answered = self.answered.saturating_add(bytes);
            }
        }
        for (key, error) in &record.refusals {
            if let Some(call) = &self.call {
                call.refuse(key, error.clone().into());
            }
        }
        self.record = record;
        self.is_changed = true;
    }

    /// Ready when the store has answered, with whether nothing is left to do.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let Some(write) = &mut self.write else {
            return Poll::Pending;
        };
        let (is_written, newest) = ready!(write.as_mut().poll(cx));
        self.write = None;
        if is_written {
            (self.failures, self.failed_since) = (0, None);
        } else {
            self.is_changed = true;
            self.failures = self.failures.saturating_add(1);
            self.failed_since.get_or_insert(self.engine.now());
        }
        match newest {
            // Another process may have written since.
            Ok(Some(newest)) if newest.version > self.record.version => {
                self.newer = None;
                match is_written {
                    true => self.record = newest,
                    false => self.take(newest),
                }
            }
            Ok(None) => return Poll::Ready(true),
            _ => {}
        }
        Poll::Ready(self.record.status.is_terminal() || self.has_given_up())
    }

    /// Returns true if the store has failed until the task is to be forgotten; without a lifetime, for half
    /// an hour. Other processes mark the task as failed when this one has ended.
    fn has_given_up(&self) -> bool {
        let over = self
            .record
            .expires_at()
            .map(|at| at.saturating_add(millis(KEPT)));
        let Some(since) = self.failed_since else {
            return false;
        };
        match over {
            Some(at) => self.engine.time() >= at,
            None => {
                let now = self.engine.now();
                self.outcome.is_some() && now >= since + LONGEST_OUTAGE
            }
        }
    }

    /// The task ends with this error, and its handler stops.
    fn stop(&mut self, message: &'static str) {
        self.call = None;
        self.is_changed = true;
        self.outcome = Some(Err(ErrorReply::new(code::INTERNAL_ERROR, message)));
    }

    /// The record as it has to be; `None` if the store has it.
    fn next(&self) -> Option<TaskRecord> {
        let mut next = self.record.clone();
        if let Some(message) = &self.message {
            next.message = Some(message.clone());
        }
        match (&self.outcome, &self.call) {
            (Some(Ok(result)), _) => {
                next.end(TaskStatus::Completed);
                next.result = Some(Arc::clone(result));
            }
            (Some(Err(error)), _) => next.fail(error.clone()),
            (None, Some(call)) => {
                // The answers of the record were taken.
                next.answers.clear();
                next.refusals.clear();
                let open = questions(call);
                let before = next.withdrawn.drain(..).chain(next.questions.drain(..));
                let is_open = |key: &str| open.iter().any(|asked| asked.key == key);
                let mut withdrawn: Vec<_> = before.filter(|asked| !is_open(&asked.key)).collect();
                let surplus = withdrawn
                    .len()
                    .saturating_sub(self.engine.tasks.max_questions);
                withdrawn.drain(..surplus);
                (next.questions, next.withdrawn) = (open, withdrawn);
                next.status = match next.questions.is_empty() {
                    true => TaskStatus::Working,
                    false => TaskStatus::InputRequired,
                };
            }
            (None, None) => return None,
        }
        if next == self.record {
            return None;
        }
        let limit = match next.len().saturating_add(self.answered) > self.engine.tasks.max_bytes {
            true => Some(BYTES),
            false => (!next.is_shallow()).then_some("limit reached: depth of a task"),
        };
        if let Some(limit) = limit {
            next.result = None;
            next.fail(ErrorReply::new(code::INTERNAL_ERROR, limit));
        }
        next.version = next.version.saturating_add(1);
        next.updated = self.engine.time().max(next.updated);
        Some(next)
    }

    /// Writes the record, and returns whether the store has taken it, and which one it has.
    fn replace(&self, next: TaskRecord) -> BoxFuture<'static, Written> {
        let (engine, failures) = (Arc::clone(&self.engine), self.failures);
        Box::pin(async move {
            match engine.ask(|store| store.replace(&next)).await {
                Ok(true) => return (true, Ok(Some(next))),
                // Another process was faster: its record decides what comes next.
                Ok(false) if failures < CONFLICTS => {}
                // The store is left alone for longer after each failure.
                _ => {
                    let doublings = failures.saturating_add(1).min(6);
                    let pause = FIRST_PAUSE.saturating_mul(1 << doublings);
                    engine.pause(pause).await;
                }
            }
            // It may have been written nevertheless.
            let newest = engine.newest(&next.id, next.owner()).await;
            (false, newest)
        })
    }
}

fn questions(call: &DetachedCall) -> Vec<TaskQuestion> {
    let open = call.questions().into_iter();
    open.map(|question| TaskQuestion {
        key: question.key,
        method: question.method,
        params: question.params,
    })
    .collect()
}

/// A status message is for people.
fn shortened(mut message: String) -> String {
    if message.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|at| message.is_char_boundary(*at));
        message.truncate(end.unwrap_or(0));
    }
    message
}

/// The status message of a task that had no more time.
pub(super) const EXPIRED: &str = "the task has expired";
/// The status message of a task whose end the store did not take.
const UNFINISHED: &str = "the end of the task was lost";
/// The status message of a task whose record is too large.
pub(super) const BYTES: &str = "limit reached: bytes of a task";
/// The longest status message, in bytes.
const LONGEST: usize = 4 << 10;
/// More writers than these in a row, all of them faster, are a fault of the store.
const CONFLICTS: u32 = 16;
/// The time for which the store may fail until the end of a task without a lifetime is not written any more.
const LONGEST_OUTAGE: Duration = Duration::from_secs(30 * 60);
