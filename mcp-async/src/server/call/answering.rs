//! Converts the output of a handler to an answer.

use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, ready};

use mcp_proto::Outcome;
use pin_project_lite::pin_project;

use super::context::CallContext;
use super::reply::{Reply, Settled};
use crate::connection::Answered;

pin_project! {
    /// A handler's future, and then its output until there is room for it: both in one
    /// allocation.
    pub(in crate::server) struct Answering<F, R> {
        // Dropped first: helper tasks that the future wakes when it is dropped find the call over.
        exit: Exit,
        // Gone when the call was suspended.
        #[pin]
        future: Option<F>,
        reply: Option<R>,
    }
}

/// The part that is compiled once, and not for each handler.
struct Exit {
    suspended: Option<Settled<()>>,
    context: CallContext,
    answered: bool,
}

impl<F, R> Answering<F, R> {
    pub(in crate::server) const fn new(context: CallContext, future: F) -> Self {
        Self {
            exit: Exit {
                suspended: None,
                context,
                answered: false,
            },
            future: Some(future),
            reply: None,
        }
    }
}

impl<R: Reply, F: Future<Output = R>> Future for Answering<F, R> {
    type Output = Answered;

    fn poll(self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Answered> {
        let mut this = self.project();
        if this.reply.is_none()
            && let Some(future) = this.future.as_mut().as_pin_mut()
        {
            match future.poll(cx) {
                Poll::Ready(reply) => *this.reply = Some(reply),
                Poll::Pending => {
                    ready!(this.exit.poll_suspend(cx));
                    this.future.set(None);
                }
            }
        }
        let reply = this.reply.as_ref().map(|reply| reply as &dyn Reply);
        this.exit.poll_answer(cx, reply)
    }
}

impl Exit {
    /// Ready when a question that the handler asked in this poll, or another task on its behalf, ends
    /// the round.
    fn poll_suspend(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        self.suspended = Some(ready!(self.context.poll_suspend(cx)));
        Poll::Ready(())
    }

    /// Writes the answer, as soon as there is one and room for it.
    fn poll_answer(
        &mut self,
        cx: &mut task::Context<'_>,
        reply: Option<&dyn Reply>,
    ) -> Poll<Answered> {
        let tool_failed = reply.is_some_and(Reply::is_tool_error);
        let mut answered = Poll::Pending;
        let context = &self.context;
        let send = &mut |outcome: Outcome<'_>| answered = context.poll_respond(cx, outcome);
        match (reply, &self.suspended) {
            (Some(reply), _) => reply.with_outcome(send),
            (None, Some(input)) => input.with_outcome(send),
            (None, None) => {}
        }
        self.answered = answered.is_ready();
        match tool_failed {
            true => answered.map(Answered::of_failed_tool),
            false => answered,
        }
    }
}

impl Drop for Exit {
    fn drop(&mut self) {
        if !self.answered {
            self.context.forget();
        }
    }
}
