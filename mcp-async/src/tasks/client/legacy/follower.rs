//! Follows a task of 2025-11-25 to its end.

use core::task::{Context, Poll, ready};
use core::time::Duration;

use mcp_proto::Instant;
use mcp_proto::json::RawBuf;

use super::super::event::{TaskEvent, TaskState};
use super::super::followed_task::{FollowedTask, Polled, invalid};
use super::super::options::TaskOptions;
use crate::client::{Boxed, CallError, Client};
use crate::error::TaskError;
use crate::model::{Task, TaskStatus};

/// A task and the request for its result.
///
/// ```text
///   Polling ---- it needs input, or is over ----> Polling, and waiting for its result
///      ^                                                 |
///      `-------------- the request failed ---------------'
/// ```
pub(in super::super) struct Follower {
    task: FollowedTask,
    fetching: Option<Fetching>,
    /// The number of requests for the result that have failed.
    failed_fetches: u32,
}

/// The request for the result, during which the server asks its questions (TK-11).
struct Fetching {
    result: Boxed<Result<RawBuf, CallError>>,
    /// The time until which the result is waited for, once the task is over.
    until: Option<Instant>,
}

impl Follower {
    /// Follows a task that the server has just created.
    pub(in super::super) fn created(
        client: Client,
        options: &TaskOptions,
        task: &Task,
        timeout: Option<Duration>,
    ) -> Self {
        let followed = FollowedTask::new(client, task.task_id.clone(), timeout, options);
        Self::new(followed.in_state(TaskState::of_core(task)))
    }

    /// Follows a task of which nothing is known but its id.
    pub(in super::super) fn resumed(client: Client, options: &TaskOptions, id: String) -> Self {
        Self::new(FollowedTask::new(client, id, None, options))
    }

    const fn new(task: FollowedTask) -> Self {
        Self {
            task,
            fetching: None,
            failed_fetches: 0,
        }
    }

    pub(in super::super) const fn task(&self) -> &FollowedTask {
        &self.task
    }

    pub(in super::super) const fn task_mut(&mut self) -> &mut FollowedTask {
        &mut self.task
    }

    /// The next change; `None` when the task is over.
    pub(in super::super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        loop {
            if self.task.is_over() {
                self.fetching = None;
            }
            if let Some(event) = self.task.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if self.task.is_over() {
                return Poll::Ready(None);
            }
            let polled = [self.poll_fetch(cx), self.poll_get(cx)];
            if polled.iter().all(Poll::is_pending) {
                return Poll::Pending;
            }
        }
    }

    /// Ready when the request for the result is over.
    fn poll_fetch(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(fetching) = &mut self.fetching else {
            return Poll::Pending;
        };
        let Poll::Ready(answer) = fetching.result.as_mut().poll(cx) else {
            return Poll::Pending;
        };
        self.fetching = None;
        match answer {
            // TK-12
            Ok(result) => self.task.finish(Ok(result)),
            Err(error @ CallError::Server(_)) => {
                // A task that waits for input is cancelled: nothing else would end it (TK-62).
                self.task.fail(match self.task.is_expired() {
                    true => CallError::Task(TaskError::Expired),
                    false => error,
                });
            }
            Err(error) => self.fetch_failed(error),
        }
        Poll::Ready(())
    }

    /// Ready when a poll has an answer, or a time has come.
    fn poll_get(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let until = self.fetching.as_ref().and_then(|fetching| fetching.until);
        match ready!(self.task.poll_get(until, cx)) {
            Polled::Answer(task) => self.received(&task),
            Polled::Elapsed => {
                self.fetching = None;
                self.fetch_failed(CallError::Timeout);
            }
            Polled::Begun | Polled::Failed => {}
        }
        Poll::Ready(())
    }

    fn received(&mut self, answer: &RawBuf) {
        match answer.decode::<Task>() {
            Ok(task) if task.task_id != self.task.id() => {
                self.task.fail(invalid("it is about another task"));
            }
            Ok(task) => self.accept(&task),
            Err(error) => self.task.fail(CallError::Decode(error)),
        }
    }

    /// Asks for the result again later, unless that has failed too often: polls that succeed
    /// meanwhile do not count.
    fn fetch_failed(&mut self, error: CallError) {
        self.failed_fetches = self.failed_fetches.saturating_add(1);
        match self.failed_fetches {
            ..=FETCHES => self.task.retry(error),
            _ => self.task.fail(error),
        }
    }

    /// Takes the state of the task that the server has sent.
    fn accept(&mut self, task: &Task) {
        self.task.note(TaskState::of_core(task));
        if task.status == TaskStatus::Cancelled {
            let cancelled = TaskError::Cancelled(task.status_message.clone());
            self.task.finish(Err(CallError::Task(cancelled)));
        } else if task.status.is_terminal() {
            self.task.disown();
            let timeout = self.task.requests.timeout.unwrap_or(PATIENCE);
            self.fetch().until = Some(self.task.now() + timeout);
        } else if self.task.is_expired() {
            self.task.fail(CallError::Task(TaskError::Expired));
        } else {
            if task.status == TaskStatus::InputRequired {
                self.fetch();
            }
            self.task.due = self.task.now() + self.task.pace.pause();
        }
    }

    /// Returns the request for the result; a new one if none runs.
    fn fetch(&mut self) -> &mut Fetching {
        let requests = &self.task.requests;
        self.fetching.get_or_insert_with(|| Fetching {
            result: Box::pin(requests.clone().result(LONGEST)),
            until: None,
        })
    }
}

/// The number of requests for the result that may fail.
const FETCHES: u32 = 10;
/// The time for which the follower waits for the result of a task that waits for input: its
/// questions may take long.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The time for which the follower waits for the result of a task that is over, unless the call has
/// a timeout.
const PATIENCE: Duration = Duration::from_secs(60);
