//! The follower of a task, in whichever revision.

use core::task::{Context, Poll};

use super::End;
use super::event::{TaskEvent, TaskState};
use super::follower::Follower;
use super::legacy;
use crate::client::{CallError, Client};

/// Follows a task of the extension, or of 2025-11-25.
pub(super) enum AnyFollower {
    Extension(Box<Follower>),
    Core(Box<legacy::Follower>),
}

impl AnyFollower {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Extension(follower) => follower.id(),
            Self::Core(follower) => follower.id(),
        }
    }

    pub(super) fn state(&self) -> Option<&TaskState> {
        match self {
            Self::Extension(follower) => follower.state(),
            Self::Core(follower) => follower.state(),
        }
    }

    pub(super) fn client(&self) -> &Client<()> {
        match self {
            Self::Extension(follower) => follower.client(),
            Self::Core(follower) => follower.client(),
        }
    }

    pub(super) fn disown(&mut self) {
        match self {
            Self::Extension(follower) => follower.disown(),
            Self::Core(follower) => follower.disown(),
        }
    }

    pub(super) async fn cancel(&mut self) -> Result<(), CallError> {
        match self {
            Self::Extension(follower) => follower.cancel().await,
            Self::Core(follower) => follower.cancel().await,
        }
    }

    pub(super) fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskEvent>> {
        match self {
            Self::Extension(follower) => follower.poll_event(cx),
            Self::Core(follower) => follower.poll_event(cx),
        }
    }

    pub(super) fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        match self {
            Self::Extension(follower) => follower.poll_end(cx),
            Self::Core(follower) => follower.poll_end(cx),
        }
    }
}
