//! The follower of a task, in whichever revision.

use core::future::poll_fn;
use core::task::{Context, Poll};
use core::time::Duration;

use mcp_proto::revision::Tasks;

use super::event::TaskEvent;
use super::followed_task::{FollowedTask, invalid};
use super::follower::Follower;
use super::options::options;
use super::{End, created, legacy};
use crate::client::{Client, Continuation};
use crate::model::{DetailedTask, Task};

/// Follows a task of the extension, or of 2025-11-25.
pub(super) enum AnyFollower {
    Extension(Box<Follower>),
    Core(Box<legacy::Follower>),
}

/// Continues from the answer that created a task of the extension.
pub(super) async fn follow(continuation: Continuation) -> End {
    let task = created(continuation.result())?;
    let client = continuation.client().clone();
    let follower = AnyFollower::created(client, &task, continuation.timeout());
    follower.end(continuation.max_duration()).await
}

/// Continues from the answer that created a task of 2025-11-25.
pub(super) async fn follow_core(continuation: Continuation) -> End {
    let task = legacy::created(continuation.result()).ok_or(invalid("there is none"))??;
    let client = continuation.client().clone();
    let follower = AnyFollower::created_core(client, &task, continuation.timeout());
    follower.end(continuation.max_duration()).await
}

impl AnyFollower {
    /// Follows a task of the extension that the server has just created.
    pub(super) fn created(client: Client, task: &DetailedTask, timeout: Option<Duration>) -> Self {
        let options = options(&client);
        let follower = Follower::created(client, &options, task, timeout);
        Self::Extension(Box::new(follower))
    }

    /// Follows a task of 2025-11-25 that the server has just created.
    pub(super) fn created_core(client: Client, task: &Task, timeout: Option<Duration>) -> Self {
        let options = options(&client);
        let follower = legacy::Follower::created(client, &options, task, timeout);
        Self::Core(Box::new(follower))
    }

    /// Follows a task of which nothing is known but its id.
    pub(super) fn resumed(client: Client, id: String) -> Self {
        let options = options(&client);
        match client.info().revision.tasks() {
            Tasks::Core => {
                let follower = legacy::Follower::resumed(client, &options, id);
                Self::Core(Box::new(follower))
            }
            _ => Self::Extension(Box::new(Follower::resumed(client, &options, id))),
        }
    }

    pub(super) const fn task(&self) -> &FollowedTask {
        match self {
            Self::Extension(follower) => follower.task(),
            Self::Core(follower) => follower.task(),
        }
    }

    pub(super) const fn task_mut(&mut self) -> &mut FollowedTask {
        match self {
            Self::Extension(follower) => follower.task_mut(),
            Self::Core(follower) => follower.task_mut(),
        }
    }

    /// The next change; `None` when the task is over.
    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        match self {
            Self::Extension(follower) => follower.poll_event(cx),
            Self::Core(follower) => follower.poll_event(cx),
        }
    }

    /// The outcome; once.
    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            let polled = self.poll_event(cx);
            if let Some(end) = self.task_mut().take_end() {
                return Poll::Ready(end);
            }
            if polled.is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Waits for the outcome, so long at most.
    async fn end(mut self, max_duration: Option<Duration>) -> End {
        let task = self.task_mut();
        task.deadline = max_duration.map(|duration| task.now() + duration);
        poll_fn(|cx| self.poll_end(cx)).await
    }
}
