//! The timer of a connection.

use core::task::{Context, Poll};

use mcp_proto::Instant;

use crate::runtime::{BoxTimer, RuntimeHandle};

/// Wakes the task of a connection at the first of its deadlines.
#[derive(Default)]
pub(crate) struct Alarm {
    /// Made when there is something to wait for.
    timer: Option<BoxTimer>,
    /// The moment for which the timer was armed; it may still fire.
    armed: Option<Instant>,
}

impl Alarm {
    /// The timer was armed for another task.
    pub(crate) const fn forget_task(&mut self) {
        self.armed = None;
    }

    /// Ready when the first of these deadlines has come. The timer is armed only for an earlier moment than the one
    /// that it will fire for: arming costs more than looking in vain now and then.
    pub(crate) fn poll_first(
        &mut self,
        cx: &mut Context<'_>,
        runtime: &RuntimeHandle,
        now: Instant,
        deadlines: impl IntoIterator<Item = Option<Instant>>,
    ) -> Poll<()> {
        let Some(next) = deadlines.into_iter().flatten().min() else {
            return Poll::Pending;
        };
        if self.armed.is_some_and(|armed| armed <= next && armed > now) {
            return Poll::Pending;
        }
        let timer = self.timer.get_or_insert_with(|| runtime.timer());
        let due = timer.as_mut().poll_until(next, cx);
        self.armed = due.is_pending().then_some(next);
        due
    }
}
