//! Calls that continue apart from the exchange in which they arrived.

use core::fmt;
use core::future::{Future, poll_fn};
use core::mem;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{self, Poll, Waker};
use std::panic::catch_unwind;
use std::sync::Arc;

use mcp_proto::json::RawBuf;

use super::answering::Answering;
use super::detached_host::{Detach, DetachedHost, MayLeave, Stage};
use super::reply::Reply;
use super::service::{Call, Service};
use crate::connection::{Answered, Job, discard};
use crate::error::ErrorReply;
use crate::observe::{self, Here};
use crate::server::CallContext;

/// A call that runs apart from its exchange, with its handler. Dropping it stops the handler.
///
/// The handler runs while [`changed`](Self::changed) is polled, so a call is driven by one task. Its
/// [`CallContext`] works as before, with these differences:
///
/// - The message of each progress update is the [status](Self::take_status) of the call. Log
///   messages are dropped.
/// - A question waits for its [answer](Self::answer) in every revision; the handler runs once.
/// - The answer of the handler is the [outcome](Self::take_outcome).
#[must_use = "the handler runs while `changed` is polled"]
pub struct DetachedCall {
    job: Option<Job>,
    host: Arc<DetachedHost>,
    span: Here,
}

/// A question that a detached call asks.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenQuestion {
    /// The key, which no other question of the call has.
    pub key: String,
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub method: String,
    /// The parameters.
    pub params: RawBuf,
}

impl Call<'_> {
    /// Begins the call in `service`, and lets it continue apart from its exchange.
    ///
    /// `begin` receives the call when it is to leave the exchange. It makes the call known, gives
    /// it to a task that drives it, and returns the answer of the exchange. A call that the service
    /// answers before a handler runs (see [`Detach`] for when), or whose handler ends in the
    /// exchange, is answered there, and `begin` is not called.
    ///
    /// ```
    /// use mcp_async::ErrorReply;
    /// use mcp_async::server::{Detach, DetachedCall, layers};
    ///
    /// # fn spawn(future: impl Future<Output = ()> + Send + 'static) {}
    /// #[derive(serde::Serialize)]
    /// struct Ticket {
    ///     number: u32,
    /// }
    ///
    /// // Answers each call with a number, and lets its handler run on.
    /// let tickets = layers::around(|call, service| {
    ///     call.detach(service, Detach::Now, |mut call: DetachedCall| async move {
    ///         call.detach();
    ///         spawn(async move {
    ///             let outcome = loop {
    ///                 call.changed().await;
    ///                 if let Some(outcome) = call.take_outcome() {
    ///                     break outcome;
    ///                 }
    ///             };
    ///             println!("{}", outcome.is_ok());
    ///         });
    ///         Ok::<_, ErrorReply>(Ticket { number: 1 })
    ///     })
    /// });
    /// # let _ = mcp_async::Server::builder("demo", "1.0").layer(tickets);
    /// ```
    pub fn detach<R, F, Fut>(self, service: &dyn Service, when: Detach, begin: F) -> Job
    where
        R: Reply,
        F: FnOnce(DetachedCall) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        self.detach_where(service, (when, Box::new(|| true)), begin)
    }

    /// Like [`detach`](Self::detach), except that a handler that asks to leave the exchange stays
    /// there if `may_leave` returns false.
    pub(crate) fn detach_where<R, F, Fut>(
        self,
        service: &dyn Service,
        (when, may_leave): (Detach, MayLeave),
        begin: F,
    ) -> Job
    where
        R: Reply,
        F: FnOnce(DetachedCall) -> Fut + Send + 'static,
        Fut: Future<Output = R> + Send + 'static,
    {
        let mut own = self.context.begin();
        let origin = own.clone();
        let host = Arc::new(DetachedHost::new(&origin, when, may_leave));
        let leaves = when != Detach::OnRequest;
        own.detach_to(Arc::clone(&host) as _, leaves);
        let mut call: Call<'_> = self;
        call.context = &mut own;
        let job = service.call(call);
        let is_ready = job.is_ready();
        if is_ready && when != Detach::Always {
            return job;
        }
        let limit = job.limit();
        let mut call = DetachedCall {
            job: Some(job),
            host,
            span: Here::current(),
        };
        if is_ready && let Some(error) = call.refusal() {
            let refusal = core::future::ready(Err::<(), _>(error));
            return Job::from_future(Answering::new(origin, refusal)).ready();
        }
        let job = Job::from_future(async move {
            if when == Detach::OnRequest
                && let Some(answered) = poll_fn(|cx| call.poll_attached(cx)).await
            {
                return answered;
            }
            Answering::new(origin, begin(call)).await
        });
        match limit {
            Some(limit) => job.within(limit),
            None => job,
        }
    }
}

impl CallContext {
    /// Lets the call continue as a task, if the client and the server have agreed on tasks for it
    /// and the server has a place for one; returns whether it does. Questions that the handler
    /// asked before are asked within the exchange, in rounds in 2026-07-28; later questions
    /// are asked by the task, and the handler waits.
    ///
    /// It is for tools with [`Tool::deferred_task`](crate::server::Tool::deferred_task); elsewhere it
    /// returns at once.
    pub async fn begin_task(&self) -> bool {
        poll_fn(|cx| self.host.poll_detach(cx)).await
    }
}

impl DetachedCall {
    /// Lets the call leave its exchange: from now on its handler talks to this handle. It is called
    /// once, before the exchange is answered.
    pub fn detach(&self) {
        self.host.detach();
    }

    /// From now on [`CallContext::is_current`] says what this does.
    pub(crate) fn counts_while(&self, condition: impl Fn() -> bool + Send + Sync + 'static) {
        self.host.counts_while(Box::new(condition));
    }

    /// Runs the handler until something has changed: the status, the open questions, or the
    /// outcome. Can be dropped and called again.
    pub async fn changed(&mut self) {
        poll_fn(|cx| self.poll_changed(cx)).await;
    }

    /// Returns the newest status message, once.
    pub fn take_status(&self) -> Option<String> {
        self.host.lock().status.take()
    }

    /// Returns the questions that wait for an answer.
    pub fn questions(&self) -> Vec<OpenQuestion> {
        let state = &mut *self.host.lock();
        let open = state.rounds.open(self.host.call);
        open.map(|(key, method, params)| OpenQuestion {
            key: key.to_owned(),
            method: method.name().to_cow().into_owned(),
            params: params.clone(),
        })
        .collect()
    }

    /// Answers the question of this key. Returns whether it is open, or was: a handler that asks a
    /// question again after it has dropped it receives the answer at once.
    pub fn answer(&self, key: &str, result: RawBuf) -> bool {
        let waiting = self.host.lock().rounds.answer(self.host.call, key, result);
        let answered = waiting.is_some();
        waiting.unwrap_or_default().wake();
        answered
    }

    /// Answers the question of this key with an error of the client. Returns whether it was open.
    pub fn refuse(&self, key: &str, error: ErrorReply) -> bool {
        let waiting = self.host.lock().rounds.refuse(self.host.call, key, error);
        let refused = waiting.is_some();
        waiting.unwrap_or_default().wake();
        refused
    }

    /// Returns the answer of the handler, once. A handler that panicked has the internal error
    /// (-32603).
    pub fn take_outcome(&self) -> Option<Result<RawBuf, ErrorReply>> {
        self.host.lock().outcome.take()
    }

    /// Takes the answer that the service has given at once. Returns it if it is an error.
    fn refusal(&mut self) -> Option<ErrorReply> {
        self.host.detach();
        let polled = self.poll_changed(&mut task::Context::from_waker(Waker::noop()));
        let state = &mut *self.host.lock();
        state.changed |= polled.is_ready();
        match &state.outcome {
            Some(Err(error)) => Some(error.clone()),
            _ => None,
        }
    }

    /// The job, in the exchange. Ready with the proof of the answer, or with nothing when the call
    /// is to leave the exchange.
    fn poll_attached(&mut self, cx: &mut task::Context<'_>) -> Poll<Option<Answered>> {
        self.host.lock().runner.register(cx);
        if let Some(job) = &mut self.job
            && let Poll::Ready(answered) = Pin::new(job).poll(cx)
        {
            self.job = None;
            return Poll::Ready(Some(answered));
        }
        match self.host.lock().stage {
            Stage::Asked => Poll::Ready(None),
            _ => Poll::Pending,
        }
    }

    fn poll_changed(&mut self, cx: &mut task::Context<'_>) -> Poll<()> {
        self.host.lock().runner.register(cx);
        if let Some(job) = &mut self.job {
            let span = &self.span;
            let polled = catch_unwind(AssertUnwindSafe(|| span.within(|| Pin::new(job).poll(cx))));
            let ended = match polled {
                Ok(polled) => polled.is_ready(),
                Err(panic) => {
                    discard(panic);
                    observe::panicked();
                    true
                }
            };
            if ended {
                discard(self.job.take());
                self.host.end();
            }
        }
        let state = &mut *self.host.lock();
        if state.has_news(self.host.call) {
            let open = state.rounds.open(self.host.call);
            state.reported = open.map(|(key, ..)| key.to_owned()).collect();
            state.changed = true;
        }
        match mem::take(&mut state.changed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for DetachedCall {
    fn drop(&mut self) {
        discard(self.job.take());
        self.host.stop().wake();
    }
}

impl fmt::Debug for DetachedCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DetachedCall").finish_non_exhaustive()
    }
}
