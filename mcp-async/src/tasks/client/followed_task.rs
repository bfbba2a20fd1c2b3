//! A task that is followed.

use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::collections::VecDeque;

use mcp_proto::Instant;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::code;

use super::End;
use super::event::{TaskEvent, TaskState};
use super::options::TaskOptions;
use super::pace::Pace;
use super::requests::{Params, Requests};
use crate::client::{CallError, Client};
use crate::error::TaskError;
use crate::runtime::{BoxFuture, Sleep};

/// A task, what is known of it, and its polls. Dropping it cancels the task, unless it is over or
/// no longer [owned](Self::disown).
pub(super) struct FollowedTask {
    pub(super) requests: Requests,
    pub(super) pace: Pace,
    pub(super) sleep: Sleep,
    /// The changes that were not reported yet.
    pub(super) events: VecDeque<TaskEvent>,
    /// The time of the next poll.
    pub(super) due: Instant,
    /// The time at which the call ends without a result.
    pub(super) deadline: Option<Instant>,
    state: Option<TaskState>,
    end: Option<End>,
    is_owned: bool,
    /// The time at which the server first sent the task's status: the task's age is at least the time since.
    known_since: Option<Instant>,
    expires: Option<Instant>,
    getting: Option<BoxFuture<'static, Result<RawBuf, CallError>>>,
}

/// The results of [`FollowedTask::poll_get`].
pub(super) enum Polled {
    /// A poll has begun.
    Begun,
    Answer(RawBuf),
    /// The time until which no poll was to begin has come.
    Elapsed,
    /// A poll or the whole failed.
    Failed,
}

impl FollowedTask {
    /// A task of which nothing is known but its id: it is polled at once.
    pub(super) fn new(
        client: Client,
        id: String,
        timeout: Option<Duration>,
        options: &TaskOptions,
    ) -> Self {
        Self {
            pace: Pace::new(options.longest_pause),
            sleep: Sleep::after(client.runtime(), Duration::ZERO),
            events: VecDeque::new(),
            due: client.runtime().now(),
            deadline: None,
            state: None,
            end: None,
            is_owned: true,
            known_since: None,
            expires: None,
            getting: None,
            requests: Requests {
                client,
                id,
                timeout,
            },
        }
    }

    /// Begins with the state in which the server created it.
    #[must_use]
    pub(super) fn in_state(mut self, state: TaskState) -> Self {
        let is_over = state.status.is_terminal();
        self.note(state);
        if !is_over {
            self.due = self.now() + self.pace.pause();
        }
        self
    }

    pub(super) fn id(&self) -> &str {
        &self.requests.id
    }

    pub(super) const fn state(&self) -> Option<&TaskState> {
        self.state.as_ref()
    }

    pub(super) const fn is_over(&self) -> bool {
        self.end.is_some()
    }

    /// Returns true if the lifetime of the task is over: the server keeps it no longer.
    pub(super) fn is_expired(&self) -> bool {
        is_due(self.expires, self.now())
    }

    /// The outcome; an error when it is taken again.
    pub(super) fn take_end(&mut self) -> Option<End> {
        let end = self.end.as_mut()?;
        Some(core::mem::replace(end, Err(CallError::Closed)))
    }

    /// Dropping it leaves the task alone from now on.
    pub(super) const fn disown(&mut self) {
        self.is_owned = false;
    }

    /// Asks the server to cancel the task; it ends later.
    pub(super) async fn cancel(&mut self) -> Result<(), CallError> {
        if self.is_over() {
            return Ok(());
        }
        self.requests.clone().cancel().await?;
        self.disown();
        self.pace.changed();
        self.due = self.now();
        Ok(())
    }

    /// Ready when a poll begins or has an answer, or a time has come. Polls begin only without
    /// `until`.
    pub(super) fn poll_get(
        &mut self,
        until: Option<Instant>,
        cx: &mut Context<'_>,
    ) -> Poll<Polled> {
        if self.is_over() {
            return Poll::Ready(Polled::Failed);
        }
        loop {
            let now = self.now();
            if let Some(getting) = &mut self.getting {
                if let Poll::Ready(answer) = getting.as_mut().poll(cx) {
                    self.getting = None;
                    return Poll::Ready(match answer {
                        Ok(answer) => Polled::Answer(answer),
                        Err(error) => {
                            self.poll_failed(error);
                            Polled::Failed
                        }
                    });
                }
            } else if until.is_none() && (self.due <= now || is_due(self.expires, now)) {
                self.getting = Some(Box::pin(self.requests.clone().get()));
                return Poll::Ready(Polled::Begun);
            }
            if is_due(self.deadline, now) {
                self.fail(CallError::Timeout);
                return Poll::Ready(Polled::Failed);
            }
            if is_due(until, now) {
                return Poll::Ready(Polled::Elapsed);
            }
            let polls = self.getting.is_none() && until.is_none();
            let get = [Some(self.due), self.expires].into_iter();
            let get = get.filter(|_| polls).flatten();
            let times = get.chain(self.deadline).chain(until);
            let Some(next) = times.min() else {
                return Poll::Pending;
            };
            self.sleep.reset(next);
            ready!(self.sleep.poll_done(cx));
        }
    }

    fn poll_failed(&mut self, error: CallError) {
        if self.is_expired() {
            self.fail(CallError::Task(TaskError::Expired));
            return;
        }
        // An unknown task cannot be cancelled.
        if matches!(&error, CallError::Server(error) if error.code == code::INVALID_PARAMS) {
            self.disown();
        }
        self.retry(error);
    }

    /// Polls again later if that may succeed, unless too much failed in a row.
    pub(super) fn retry(&mut self, error: CallError) {
        if self.requests.may_succeed(&error)
            && let Some(pause) = self.pace.failed()
        {
            let again = self.now() + pause;
            self.due = self.requests.client.earliest(again);
        } else {
            self.fail(error);
        }
    }

    /// Notes what the server says of the task.
    pub(super) fn note(&mut self, state: TaskState) {
        let since = *self.known_since.get_or_insert(self.requests.now());
        // TK-65: a sum that is too large is the end of time.
        self.expires = state.ttl.map(|ttl| since + ttl);
        self.pace.set_interval(state.poll_interval);
        let last = self.state.as_ref();
        if !last.is_some_and(|last| last.is_like(&state)) {
            self.events.push_back(TaskEvent::State(state.clone()));
        }
        match last == Some(&state) {
            true => self.pace.unchanged(),
            false => self.pace.changed(),
        }
        self.state = Some(state);
    }

    /// The task is over.
    pub(super) fn finish(&mut self, end: End) {
        self.disown();
        self.end_with(end);
    }

    /// The task is followed no longer, and cancelled where that is of use.
    pub(super) fn fail(&mut self, error: CallError) {
        if let CallError::Task(TaskError::Expired) = error {
            self.disown();
        }
        self.end_with(Err(error));
    }

    fn end_with(&mut self, end: End) {
        if self.is_over() {
            return;
        }
        self.end = Some(end);
        self.getting = None;
        self.abandon();
    }

    /// Sends the cancellation that is due, without waiting for its answer (TK-54).
    fn abandon(&mut self) {
        if core::mem::take(&mut self.is_owned) {
            let params = Params { task_id: self.id() };
            self.requests.client.send_later("tasks/cancel", &params);
        }
    }

    pub(super) fn now(&self) -> Instant {
        self.requests.now()
    }
}

impl Drop for FollowedTask {
    fn drop(&mut self) {
        if !self.is_over() {
            self.abandon();
        }
    }
}

pub(super) fn is_due(time: Option<Instant>, now: Instant) -> bool {
    time.is_some_and(|time| time <= now)
}

pub(super) const fn invalid(why: &'static str) -> CallError {
    CallError::Task(TaskError::Invalid(why))
}
