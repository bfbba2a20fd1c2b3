//! Converts the output of a handler to an answer.

use core::future::Future;
use core::pin::Pin;
use core::task::{self, Poll, ready};

use mcp_proto::rpc::Method;
use mcp_proto::{InputRequired, Outcome, Payload, Question};
use pin_project_lite::pin_project;

use super::context::CallContext;
use crate::connection::Answered;
use crate::error::ErrorReply;

/// A type that a handler can return: the core can write it as a response.
///
/// `Result<T, ErrorReply>` is one for every payload `T`; [`Settled`] adds the rounds of
/// 2026-07-28.
///
/// What is sent is written under the connection's lock, so that its bytes go out in one piece: a
/// [`Payload`] (or the `Serialize` behind one) must not call into the [`CallContext`] or a handle of
/// the same connection, which would wait for itself.
pub trait Reply: Send + 'static {
    /// Hands the outcome to `send`, exactly once. It borrows from the reply, so that an answer
    /// need not be copied.
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>));
}

impl<T: Payload + Send + 'static> Reply for Result<T, ErrorReply> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match self {
            Ok(value) => send(Outcome::Result(value)),
            Err(error) => send(Outcome::Error(error.as_object())),
        }
    }
}

/// The three ways in which a request can end.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::server::{Input, Settled, service_fn};
///
/// let wary = service_fn(|call| match call.request.input_responses {
///     // The second round: the client has asked its user.
///     Some(_) => call.ready(Settled::Result(())),
///     None => call.ready(Settled::<()>::Input(Input {
///         state: Some("asked".into()),
///         ..Input::default()
///     })),
/// });
/// # let _ = wary;
/// ```
#[derive(Debug)]
pub enum Settled<T> {
    /// With a result.
    Result(T),
    /// With an error.
    Error(ErrorReply),
    /// With questions: the client asks again when it has the answers (MR-01). Only in
    /// 2026-07-28 and for the methods that allow it.
    Input(Input),
}

/// What a request still needs before it can be answered.
#[derive(Default)]
pub struct Input {
    /// Questions under keys of the handler's choice, each key once (MR-04).
    pub questions: Vec<(String, Method<'static>, Box<dyn Payload + Send>)>,
    /// What the client has to send back. It returns from a stranger: protect it (MR-07).
    pub state: Option<String>,
}

impl<T: Payload + Send + 'static> Reply for Settled<T> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match self {
            Self::Result(value) => send(Outcome::Result(value)),
            Self::Error(error) => send(Outcome::Error(error.as_object())),
            Self::Input(input) => {
                let requests: Vec<_> = input
                    .questions
                    .iter()
                    .map(|(key, method, params)| {
                        (
                            key.as_str(),
                            Question {
                                method: *method,
                                params: &**params,
                            },
                        )
                    })
                    .collect();
                let state = input.state.as_deref();
                send(Outcome::Input(InputRequired {
                    requests: &requests,
                    state,
                }));
            }
        }
    }
}

impl core::fmt::Debug for Input {
    /// Without the parameters and the state, which are not for logs.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_set()
            .entries(self.questions.iter().map(|(key, ..)| key))
            .finish()
    }
}

pin_project! {
    /// A handler's future, and then its output until there is room for it: both in one
    /// allocation.
    pub(super) struct Answering<F, R> {
        // Gone when the call was suspended.
        #[pin]
        future: Option<F>,
        reply: Option<R>,
        suspended: Option<Settled<()>>,
        context: CallContext,
        answered: bool,
    }

    impl<F, R> PinnedDrop for Answering<F, R> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if !*this.answered {
                this.context.forget();
            }
        }
    }
}

impl<F, R> Answering<F, R> {
    pub(super) const fn new(context: CallContext, future: F) -> Self {
        Self {
            future: Some(future),
            reply: None,
            suspended: None,
            context,
            answered: false,
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
                    // What it asked in this poll, or another task on its behalf, ends the round.
                    *this.suspended = Some(ready!(this.context.poll_suspend(cx)));
                    this.future.set(None);
                }
            }
        }
        let mut answered = Poll::Pending;
        let send = &mut |outcome: Outcome<'_>| answered = this.context.poll_respond(cx, outcome);
        match (&*this.reply, &*this.suspended) {
            (Some(reply), _) => reply.with_outcome(send),
            (None, Some(input)) => input.with_outcome(send),
            (None, None) => {}
        }
        *this.answered = answered.is_ready();
        answered
    }
}
