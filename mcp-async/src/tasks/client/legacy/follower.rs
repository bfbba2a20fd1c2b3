//! Follows a task of 2025-11-25 to its end.

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;
use std::collections::VecDeque;

use mcp_proto::Instant;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::code;

use super::super::End;
use super::super::event::{TaskEvent, TaskState};
use super::super::options::TaskOptions;
use super::super::pace::Pace;
use super::super::requests::{Params, Requests};
use crate::client::{Boxed, CallError, Client, Continuation};
use crate::error::TaskError;
use crate::model::{Task, TaskStatus};
use crate::runtime::Timer;

/// A task, and what is known of it. Dropping it cancels the task, unless it is over or no longer
/// [owned](Self::disown).
///
/// ```text
///   Polling ---- it needs input, or is over ----> Polling, and waiting for its result
///      ^                                                 |
///      `-------------- the request failed ---------------'
/// ```
pub(in super::super) struct Follower {
    requests: Requests,
    state: Option<TaskState>,
    end: Option<End>,
    events: VecDeque<TaskEvent>,
    is_owned: bool,
    timer: Box<dyn Timer>,
    /// When it is polled next.
    due: Instant,
    /// When the server first sent its status: its age is at least the time since.
    known_since: Option<Instant>,
    expires: Option<Instant>,
    /// When the call ends without a result.
    deadline: Option<Instant>,
    pace: Pace,
    getting: Option<Boxed<Result<RawBuf, CallError>>>,
    fetching: Option<Fetching>,
    /// How many requests for the result have failed.
    failed_fetches: u32,
}

/// The request for the result, during which the server asks its questions (TK-11).
struct Fetching {
    result: Boxed<Result<RawBuf, CallError>>,
    /// Until when the result is waited for, once the task is over.
    until: Option<Instant>,
}

/// Continues from the answer that created a task.
pub(in super::super) async fn follow(continuation: Continuation, options: TaskOptions) -> End {
    let task = match super::created(continuation.result()) {
        Some(task) => task?,
        None => return Err(invalid("there is none")),
    };
    let client = continuation.client().clone();
    let mut follower = Follower::created(client, &options, &task, continuation.timeout());
    follower.deadline = continuation
        .max_duration()
        .map(|duration| follower.now() + duration);
    poll_fn(|cx| follower.poll_end(cx)).await
}

impl Follower {
    /// Follows a task that the server has just created.
    pub(in super::super) fn created(
        client: Client<()>,
        options: &TaskOptions,
        task: &Task,
        timeout: Option<Duration>,
    ) -> Self {
        let mut follower = Self::new(client, options, task.task_id.clone(), timeout);
        follower.note(task);
        follower.due = match task.status.is_terminal() {
            true => follower.now(),
            false => follower.now() + follower.pace.pause(),
        };
        follower
    }

    /// Follows a task of which nothing is known but its id.
    pub(in super::super) fn resumed(client: Client<()>, options: &TaskOptions, id: String) -> Self {
        Self::new(client, options, id, None)
    }

    fn new(
        client: Client<()>,
        options: &TaskOptions,
        id: String,
        timeout: Option<Duration>,
    ) -> Self {
        let now = client.clock().now();
        Self {
            timer: client.clock().boxed_timer(),
            pace: Pace::new(options.longest_pause),
            requests: Requests {
                client,
                id,
                timeout,
            },
            state: None,
            end: None,
            events: VecDeque::new(),
            is_owned: true,
            due: now,
            known_since: None,
            expires: None,
            deadline: None,
            getting: None,
            fetching: None,
            failed_fetches: 0,
        }
    }

    pub(in super::super) fn id(&self) -> &str {
        &self.requests.id
    }

    pub(in super::super) const fn state(&self) -> Option<&TaskState> {
        self.state.as_ref()
    }

    pub(in super::super) const fn client(&self) -> &Client<()> {
        &self.requests.client
    }

    /// Dropping it leaves the task alone from now on.
    pub(in super::super) const fn disown(&mut self) {
        self.is_owned = false;
    }

    /// Asks the server to cancel the task.
    pub(in super::super) async fn cancel(&mut self) -> Result<(), CallError> {
        if self.end.is_some() {
            return Ok(());
        }
        self.requests.clone().cancel().await?;
        self.disown();
        self.pace.changed();
        self.due = self.now();
        Ok(())
    }

    /// The next change; `None` when the task is over.
    pub(in super::super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Poll::Ready(Some(event));
            }
            if self.end.is_some() {
                return Poll::Ready(None);
            }
            let polled = [self.poll_fetch(cx), self.poll_get(cx)];
            if polled.iter().all(Poll::is_pending) {
                return Poll::Pending;
            }
        }
    }

    /// The outcome; once.
    pub(in super::super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            let polled = self.poll_event(cx);
            if self.end.is_some() {
                let end = self.end.replace(Err(CallError::Closed));
                return Poll::Ready(end.unwrap_or(Err(CallError::Closed)));
            }
            if polled.is_pending() {
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
            Ok(result) => self.finish(Ok(result)),
            Err(error @ CallError::Server(_)) => {
                let is_over = is_due(self.expires, self.now());
                // A task that waits for input is cancelled: nothing else would end it (TK-62).
                self.fail(match is_over {
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
        if self.end.is_some() {
            return Poll::Ready(());
        }
        let now = self.now();
        let until = self.fetching.as_ref().and_then(|fetching| fetching.until);
        if let Some(getting) = &mut self.getting {
            if let Poll::Ready(answer) = getting.as_mut().poll(cx) {
                self.getting = None;
                match answer {
                    Ok(task) => self.received(&task),
                    Err(error) => self.poll_failed(error),
                }
                return Poll::Ready(());
            }
        } else if until.is_none() && (self.due <= now || is_due(self.expires, now)) {
            self.getting = Some(Box::pin(self.requests.clone().get()));
            return Poll::Ready(());
        }
        if is_due(self.deadline, now) {
            self.fail(CallError::Timeout);
            return Poll::Ready(());
        }
        if is_due(until, now) {
            self.fetching = None;
            self.fetch_failed(CallError::Timeout);
            return Poll::Ready(());
        }
        let get = [Some(self.due), self.expires].into_iter();
        let get = get.filter(|_| self.getting.is_none() && until.is_none());
        let next = get.chain([self.deadline, until]).flatten().min();
        match next {
            Some(next) => self.timer.poll_until(next, cx),
            None => Poll::Pending,
        }
    }

    fn received(&mut self, answer: &RawBuf) {
        match answer.decode::<Task>() {
            Ok(task) if task.task_id != self.requests.id => {
                self.fail(invalid("it is about another task"));
            }
            Ok(task) => self.accept(&task),
            Err(error) => self.fail(CallError::Decode(error)),
        }
    }

    fn poll_failed(&mut self, error: CallError) {
        if is_due(self.expires, self.now()) {
            self.fail(CallError::Task(TaskError::Expired));
        } else if self.requests.may_succeed(&error) {
            self.retry(error);
        } else {
            // An unknown task cannot be cancelled.
            if matches!(&error, CallError::Server(error) if error.code == code::INVALID_PARAMS) {
                self.disown();
            }
            self.fail(error);
        }
    }

    /// Asks for the result again later, unless that has failed too often: polls that succeed
    /// meanwhile do not count.
    fn fetch_failed(&mut self, error: CallError) {
        self.failed_fetches = self.failed_fetches.saturating_add(1);
        match self.failed_fetches {
            ..=FETCHES => self.retry(error),
            _ => self.fail(error),
        }
    }

    /// Polls again later, unless too much failed.
    fn retry(&mut self, error: CallError) {
        match self.pace.failed() {
            Some(pause) if self.requests.may_succeed(&error) => {
                let again = self.now() + pause;
                self.due = self.requests.client.earliest(again);
            }
            _ => self.fail(error),
        }
    }

    /// What the server says of the task.
    fn accept(&mut self, task: &Task) {
        if self.note(task) {
            self.pace.changed();
        } else {
            self.pace.unchanged();
        }
        let now = self.now();
        if task.status == TaskStatus::Cancelled {
            let cancelled = TaskError::Cancelled(task.status_message.clone());
            self.finish(Err(CallError::Task(cancelled)));
        } else if task.status.is_terminal() {
            self.disown();
            let timeout = self.requests.timeout.unwrap_or(PATIENCE);
            self.fetch().until = Some(now + timeout);
        } else if is_due(self.expires, now) {
            self.fail(CallError::Task(TaskError::Expired));
        } else {
            if task.status == TaskStatus::InputRequired {
                self.fetch();
            }
            self.due = now + self.pace.pause();
        }
    }

    /// Returns the request for the result; a new one if none runs.
    fn fetch(&mut self) -> &mut Fetching {
        let requests = &self.requests;
        self.fetching.get_or_insert_with(|| Fetching {
            result: Box::pin(requests.clone().result(LONGEST)),
            until: None,
        })
    }

    /// Notes the state; returns whether it is another one.
    fn note(&mut self, task: &Task) -> bool {
        let now = self.now();
        let state = TaskState::of_core(task);
        let since = *self.known_since.get_or_insert(now);
        self.expires = state.ttl.map(|ttl| since + ttl);
        self.pace.set_interval(state.poll_interval);
        let last = self.state.as_ref();
        if !last.is_some_and(|last| last.is_like(&state)) {
            self.events.push_back(TaskEvent::State(state.clone()));
        }
        let changed = last != Some(&state);
        self.state = Some(state);
        changed
    }

    /// The task is over.
    fn finish(&mut self, end: End) {
        self.disown();
        self.fail_with(end);
    }

    /// The task is followed no longer, and cancelled where that is of use.
    fn fail(&mut self, error: CallError) {
        if let CallError::Task(TaskError::Expired) = error {
            self.disown();
        }
        self.fail_with(Err(error));
    }

    fn fail_with(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(end);
        self.abandon();
        self.getting = None;
        self.fetching = None;
    }

    /// Sends the cancellation that is due, without waiting for its answer.
    fn abandon(&mut self) {
        if core::mem::take(&mut self.is_owned) {
            let params = Params {
                task_id: &self.requests.id,
            };
            self.requests.client.send_later("tasks/cancel", &params);
        }
    }

    fn now(&self) -> Instant {
        self.requests.client.clock().now()
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        if self.end.is_none() {
            self.abandon();
        }
    }
}

/// How many requests for the result may fail.
const FETCHES: u32 = 10;
/// How long the result of a task that waits for input is waited for: its questions may take long.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// How long the result of a task that is over is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

fn is_due(time: Option<Instant>, now: Instant) -> bool {
    time.is_some_and(|time| time <= now)
}

const fn invalid(why: &'static str) -> CallError {
    CallError::Task(TaskError::Invalid(why))
}
