//! A call whose end is noticed, however it comes.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use mcp_proto::Instant;

use crate::call_outcome::CallOutcome;
use crate::connection::{Answered, Job, discard};
use crate::server::{Call, CallContext, Service};

/// Notices the end of one call.
pub(super) trait Observer: Send + Unpin + 'static {
    /// Runs a part of the call.
    fn run<T>(&self, part: impl FnOnce() -> T) -> T {
        part()
    }

    /// The call has ended after this time. Called once.
    fn ended(&mut self, end: CallEnd, duration: Duration);
}

/// The end of a call.
#[derive(Clone, Copy)]
pub(super) enum CallEnd {
    Answered(CallOutcome),
    Panicked,
    /// The time limit of the job was over.
    TimedOut,
    /// The client cancelled the call, or the connection has ended.
    Cancelled,
}

/// Lets the service answer the call before this observer.
pub(super) fn observed(call: Call<'_>, service: &dyn Service, observer: impl Observer) -> Job {
    let context = call.context().clone();
    let mut observed = Observed {
        observer,
        began: context.now(),
        context,
        limit: None,
        polling: true,
        job: None,
    };
    let job = observed.observer.run(|| service.call(call));
    observed.limit = job.limit();
    observed.polling = false;
    job.wrap(|job| {
        observed.job = Some(job);
        observed
    })
}

/// A job before its observer.
struct Observed<O: Observer> {
    observer: O,
    context: CallContext,
    began: Instant,
    limit: Option<Duration>,
    /// True while the handler runs: if the job is dropped meanwhile, the handler has panicked.
    polling: bool,
    /// `None` before it is there and after it is answered.
    job: Option<Job>,
}

impl<O: Observer> Observed<O> {
    fn end(&mut self, end: CallEnd) {
        let duration = self.context.now().saturating_since(self.began);
        self.observer.ended(end, duration);
    }
}

impl<O: Observer> Future for Observed<O> {
    type Output = Answered;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answered> {
        let this = self.get_mut();
        let slot = &mut this.job;
        this.polling = slot.is_some();
        let polled = this.observer.run(|| {
            let Some(job) = slot else {
                return Poll::Pending;
            };
            let polled = Pin::new(job).poll(cx);
            if polled.is_ready() {
                *slot = None;
            }
            polled
        });
        this.polling = false;
        if let Poll::Ready(answered) = &polled {
            this.end(CallEnd::Answered(answered.outcome()));
        }
        polled
    }
}

impl<O: Observer> Drop for Observed<O> {
    fn drop(&mut self) {
        if let Some(job) = self.job.take() {
            self.observer.run(|| discard(job));
        } else if !self.polling {
            return;
        }
        let now = self.context.now();
        let is_late = self.limit.is_some_and(|limit| self.began + limit <= now);
        self.end(match (self.polling, is_late) {
            (true, _) => CallEnd::Panicked,
            (false, true) => CallEnd::TimedOut,
            (false, false) => CallEnd::Cancelled,
        });
    }
}
