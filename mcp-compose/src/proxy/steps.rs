//! The progress of a call, on its way to the caller.

use core::future::poll_fn;
use core::task::Poll;
use std::collections::VecDeque;
use std::sync::Arc;

use mcp_async::client::Progress;
use mcp_async::runtime::BoxFuture;
use mcp_async::server::CallContext;

use crate::watch::Watch;

/// A step of a call, which its caller is told.
pub(super) struct Step {
    progress: f64,
    total: Option<f64>,
    message: Option<String>,
}

/// The steps that the caller was not told yet. Clones are the same.
#[derive(Clone, Default)]
pub(super) struct Steps(Arc<Watch<VecDeque<Step>>>);

/// A call with its steps.
pub(super) struct WithSteps<T> {
    call: BoxFuture<'static, T>,
    /// `None` if the caller does not want to know of them.
    steps: Option<Steps>,
    ended: Option<T>,
}

/// The next event of a call.
pub(super) enum Next<T> {
    Step(Step),
    Ended(T),
}

impl Steps {
    /// Adds a step. Of many that the caller has not taken, the newest takes the place of the one before.
    pub(super) fn add(&self, step: &Progress<'_>) {
        let step = Step {
            progress: step.progress,
            total: step.total,
            message: step.message.map(str::to_owned),
        };
        self.0.change(|steps| {
            if steps.len() >= MOST {
                steps.pop_back();
            }
            steps.push_back(step);
        });
    }
}

impl<T> WithSteps<T> {
    pub(super) fn new(call: BoxFuture<'static, T>, steps: Option<Steps>) -> Self {
        Self {
            call,
            steps,
            ended: None,
        }
    }

    /// Waits for the next step, or the end after all steps. The end comes once.
    pub(super) async fn next(&mut self) -> Next<T> {
        poll_fn(|context| {
            if self.ended.is_none()
                && let Poll::Ready(output) = self.call.as_mut().poll(context)
            {
                self.ended = Some(output);
            }
            let steps = self.steps.as_ref();
            if let Some(step) = steps.and_then(|steps| steps.0.change(VecDeque::pop_front)) {
                return Poll::Ready(Next::Step(step));
            }
            let ended = self.ended.take();
            ended.map_or(Poll::Pending, |output| Poll::Ready(Next::Ended(output)))
        })
        .await
    }
}

impl Step {
    pub(super) async fn tell(&self, cx: &CallContext) {
        let mut progress = cx.progress(self.progress);
        if let Some(total) = self.total {
            progress = progress.total(total);
        }
        if let Some(message) = &self.message {
            progress = progress.message(message);
        }
        progress.await;
    }
}

/// The steps that wait until the caller has taken them.
const MOST: usize = 32;
