//! The tasks of questions, and the futures that run them.

use core::future::Future;
use core::hash::BuildHasher;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::hash::RandomState;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::SystemTime;

use mcp_proto::json::RawBuf;
use mcp_proto::rpc::code;
use mcp_proto::{Instant, Payload, Revision};

use super::super::super::time::{ReadTime, TimeOfDay, iso};
use crate::client::{Reply, guarded};
use crate::encode::encode;
use crate::error::ErrorReply;
use crate::lock::lock;
use crate::model::{Meta, Task, TaskStatus};
use crate::runtime::{RuntimeHandle, Sleep};

/// The tasks of one client, the oldest first.
pub(super) struct QuestionTaskList {
    state: Mutex<State>,
    day: TimeOfDay,
    read: ReadTime,
}

#[derive(Default)]
struct State {
    tasks: Vec<QuestionTask>,
    /// The number of ids and numbers that were drawn.
    drawn: u64,
    random: RandomState,
}

struct QuestionTask {
    task: Task,
    expires: Instant,
    /// The answer to the question, once the task is over.
    outcome: Option<Result<RawBuf, ErrorReply>>,
    /// The server has received that.
    is_delivered: bool,
    /// Of the job, and of the requests for the result, by their numbers.
    waiting: Vec<(u64, Waker)>,
}

impl Default for QuestionTaskList {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            day: TimeOfDay::default(),
            read: Arc::new(SystemTime::now),
        }
    }
}

impl QuestionTaskList {
    /// Adds a task, and returns it with the time of its end. If there are too many, the oldest
    /// whose result the server has received, or that was cancelled, makes room (TK-20).
    pub(super) fn create(
        &self,
        runtime: &RuntimeHandle,
        ttl: Duration,
        max: usize,
    ) -> Result<(Task, Instant), ErrorReply> {
        let now = runtime.now();
        let time = iso(self.day.now(&self.read, now));
        self.remove_expired(now);
        let state = &mut *self.lock();
        if state.tasks.len() >= max {
            let over = state.tasks.iter().position(|task| {
                task.is_delivered || matches!(task.task.status, TaskStatus::Cancelled)
            });
            let Some(over) = over else {
                let message = "limit reached: tasks of questions";
                return Err(ErrorReply::new(code::INTERNAL_ERROR, message));
            };
            state.tasks.remove(over);
        }
        let drawn = state.draw();
        // The key of the hashes comes from the operating system (TK-19).
        let [high, low] = [0, 1].map(|half| state.random.hash_one((drawn, half)));
        let task = Task {
            task_id: format!("{high:016x}{low:016x}"),
            status: TaskStatus::Working,
            status_message: None,
            created_at: time.clone(),
            last_updated_at: time,
            ttl: i64::try_from(ttl.as_millis()).ok(),
            poll_interval: Some(POLL_INTERVAL),
            meta: Meta::new(),
        };
        let expires = now + ttl;
        state.tasks.push(QuestionTask {
            task: task.clone(),
            expires,
            outcome: None,
            is_delivered: false,
            waiting: Vec::new(),
        });
        Ok((task, expires))
    }

    /// Removes the tasks whose time is over; requests for their results are refused.
    fn remove_expired(&self, now: Instant) {
        let expired: Vec<_> = {
            let state = &mut *self.lock();
            let is_over = |task: &mut QuestionTask| task.expires <= now;
            state.tasks.extract_if(.., is_over).collect()
        };
        expired.into_iter().for_each(|task| wake(task.waiting));
    }

    pub(super) fn get(&self, id: &str, runtime: &RuntimeHandle) -> Result<Task, ErrorReply> {
        let now = runtime.now();
        let state = &mut *self.lock();
        let task = state.find(id).filter(|task| now < task.expires);
        task.map(|task| task.task.clone()).ok_or_else(unknown)
    }

    pub(super) fn list(&self, runtime: &RuntimeHandle) -> Vec<Task> {
        let now = runtime.now();
        let state = self.lock();
        let tasks = state.tasks.iter().filter(|task| now < task.expires);
        tasks.map(|task| task.task.clone()).collect()
    }

    /// Ends a task, unless it is over (TK-14, TK-15).
    pub(super) fn cancel(&self, id: &str, runtime: &RuntimeHandle) -> Result<Task, ErrorReply> {
        let now = runtime.now();
        let time = iso(self.day.now(&self.read, now));
        let (task, waiting) = {
            let state = &mut *self.lock();
            let task = state.find(id).filter(|task| now < task.expires);
            let task = task.ok_or_else(unknown)?;
            if task.is_over() {
                return Err(ErrorReply::invalid_params("the task is over"));
            }
            let cancelled = ErrorReply::invalid_params("the task was cancelled");
            let waiting = task.end(TaskStatus::Cancelled, time, Err(cancelled));
            (task.task.clone(), waiting)
        };
        wake(waiting);
        Ok(task)
    }

    /// Waits for the outcome of a task.
    pub(super) fn outcome(self: &Arc<Self>, id: String, runtime: RuntimeHandle) -> TaskOutcome {
        TaskOutcome {
            number: self.lock().draw(),
            runtime,
            tasks: Arc::clone(self),
            id,
        }
    }

    /// Ready when the task is over, or removed.
    fn poll_over(&self, id: &str, cx: &mut Context<'_>) -> Poll<()> {
        let state = &mut *self.lock();
        match state.find(id).filter(|task| !task.is_over()) {
            Some(task) => {
                task.watch(JOB, cx);
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }

    /// Notes the answer to the question, unless the task is over.
    fn answered(&self, id: &str, now: Instant, outcome: Result<RawBuf, ErrorReply>) {
        let time = iso(self.day.now(&self.read, now));
        let status = match &outcome {
            Ok(_) => TaskStatus::Completed,
            Err(_) => TaskStatus::Failed,
        };
        let waiting = {
            let state = &mut *self.lock();
            let task = state.find(id).filter(|task| !task.is_over());
            task.map(|task| task.end(status, time, outcome))
        };
        wake(waiting.unwrap_or_default());
    }

    fn contains(&self, id: &str) -> bool {
        self.lock().find(id).is_some()
    }

    /// Removes a task; waiting requests learn that it is unknown.
    fn remove(&self, id: &str) {
        let removed = {
            let state = &mut *self.lock();
            let at = state.tasks.iter().position(|task| task.task.task_id == id);
            at.map(|at| state.tasks.remove(at))
        };
        wake(removed.map_or_else(Vec::new, |task| task.waiting));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl State {
    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        self.drawn
    }

    fn find(&mut self, id: &str) -> Option<&mut QuestionTask> {
        self.tasks.iter_mut().find(|task| task.task.task_id == id)
    }
}

impl QuestionTask {
    const fn is_over(&self) -> bool {
        self.outcome.is_some()
    }

    /// Notes the outcome; what waits for it is to be woken.
    fn end(
        &mut self,
        status: TaskStatus,
        time: String,
        outcome: Result<RawBuf, ErrorReply>,
    ) -> Vec<(u64, Waker)> {
        let error = outcome.as_ref().err();
        self.task.status = status;
        self.task.status_message = error.map(|error| error.message.to_string());
        self.task.last_updated_at = time;
        self.outcome = Some(outcome);
        core::mem::take(&mut self.waiting)
    }

    fn watch(&mut self, number: u64, cx: &Context<'_>) {
        match self.waiting.iter_mut().find(|(other, _)| *other == number) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => self.waiting.push((number, cx.waker().clone())),
        }
    }
}

/// Waits for the outcome of a task.
pub(super) struct TaskOutcome {
    tasks: Arc<QuestionTaskList>,
    runtime: RuntimeHandle,
    id: String,
    number: u64,
}

impl Future for TaskOutcome {
    type Output = Result<RawBuf, ErrorReply>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let now = self.runtime.now();
        let state = &mut *self.tasks.lock();
        let Some(task) = state.find(&self.id).filter(|task| now < task.expires) else {
            return Poll::Ready(Err(unknown()));
        };
        match &task.outcome {
            Some(outcome) => {
                task.is_delivered = true;
                Poll::Ready(outcome.clone())
            }
            None => {
                task.watch(self.number, cx);
                Poll::Pending
            }
        }
    }
}

impl Drop for TaskOutcome {
    fn drop(&mut self) {
        let _waker = {
            let state = &mut *self.tasks.lock();
            state.find(&self.id).and_then(|task| {
                let mut waiting = task.waiting.iter();
                let at = waiting.position(|(number, _)| *number == self.number)?;
                Some(task.waiting.swap_remove(at))
            })
        };
    }
}

/// Runs the callback of one task, and removes the task at its end; dropping it removes it too.
pub(super) struct Job {
    tasks: Arc<QuestionTaskList>,
    runtime: RuntimeHandle,
    id: String,
    /// Until the question is answered.
    reply: Option<Reply>,
    /// Done when the task expires.
    expiry: Sleep,
}

impl Job {
    pub(super) fn new(
        tasks: Arc<QuestionTaskList>,
        runtime: RuntimeHandle,
        id: String,
        reply: Reply,
        expires: Instant,
    ) -> Self {
        Self {
            expiry: Sleep::until(&runtime, expires),
            tasks,
            runtime,
            id,
            reply: Some(reply),
        }
    }
}

impl Future for Job {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        if let Some(reply) = &mut this.reply {
            let polled = match this.tasks.poll_over(&this.id, cx) {
                Poll::Ready(()) => None,
                Poll::Pending => Some(guarded(|| Pin::new(reply).poll(cx))),
            };
            match polled {
                None => this.reply = None,
                Some(Some(Poll::Pending)) => {}
                Some(replied) => {
                    let outcome = match replied {
                        Some(Poll::Ready(Ok(answer))) => encoded(&*answer),
                        Some(Poll::Ready(Err(error))) => Err(error),
                        _ => Err(ErrorReply::internal()),
                    };
                    this.reply = None;
                    this.tasks.answered(&this.id, this.runtime.now(), outcome);
                }
            }
        }
        // Another task may have taken its place.
        if !this.tasks.contains(&this.id) {
            return Poll::Ready(());
        }
        this.expiry.poll_done(cx)
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        self.tasks.remove(&self.id);
    }
}

/// An answer as it is sent.
pub(super) fn encoded(answer: &dyn Payload) -> Result<RawBuf, ErrorReply> {
    encode(answer, Revision::V2025_11_25).map_err(|_| ErrorReply::internal())
}

fn wake(waiting: Vec<(u64, Waker)>) {
    waiting.into_iter().for_each(|(_, waker)| waker.wake());
}

fn unknown() -> ErrorReply {
    ErrorReply::invalid_params("the task is unknown")
}

/// In milliseconds: most questions are answered by a user.
const POLL_INTERVAL: u64 = 1000;
/// The number of the job of a task among what waits for it.
const JOB: u64 = 0;
