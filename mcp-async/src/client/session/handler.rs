//! Receives requests and notifications of the server.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use mcp_proto::client::Unusable;
use mcp_proto::json::{Object, Str};
use mcp_proto::rpc::{Method, Notification};
use mcp_proto::{Payload, Revision};

use super::info::ServerInfo;
use crate::error::ErrorReply;
use crate::trace_context::TraceContext;

/// Hears what the server says outside of answers, and answers its questions.
///
/// The connection calls these methods one at a time, in the order of the wire, and before it
/// reads the next message; do not block in them. Questions of a modern round are asked by
/// the future of the call that they belong to. A panic in a method is caught.
///
/// `()` is the handler of a client that answers no question and hears nothing.
///
/// ```
/// use mcp_async::ErrorReply;
/// use mcp_async::client::{Handler, IncomingQuestion, Answer};
/// use mcp_async::Method;
///
/// #[derive(serde::Serialize)]
/// struct Decline {
///     action: &'static str,
/// }
///
/// struct Silent;
///
/// impl Handler for Silent {
///     fn question(&self, question: IncomingQuestion<'_>) -> Answer {
///         match question.method {
///             Method::ElicitationCreate => Answer::ready(Ok(Decline { action: "decline" })),
///             _ => Answer::refuse(ErrorReply::method_not_found()),
///         }
///     }
/// }
/// ```
pub trait Handler: Send + Sync + 'static {
    /// Answers a question of the server: `elicitation/create`, `sampling/createMessage` or
    /// `roots/list`, and only those that the configuration declares, in every revision.
    fn question(&self, question: IncomingQuestion<'_>) -> Answer {
        let _ = question;
        Answer::refuse(ErrorReply::method_not_found())
    }

    /// A notification, list changes and log messages among them. In 2026-07-28 it may belong
    /// to a subscription, the call with this [tag](crate::client::Call::tag).
    fn notified(&self, notification: Notification<'_>, subscription: Option<u64>) {
        let _ = (notification, subscription);
    }

    /// The server will notify the subscription with this [tag](crate::client::Call::tag) of what
    /// `honoured` says.
    fn listening(&self, tag: u64, honoured: Object<'_>) {
        let _ = (tag, honoured);
    }

    /// The server answered a call after all that was dropped or took too long, with a result of a
    /// type that an extension of the configuration defines, or with a task of 2025-11-25, if
    /// the configuration has such a type for `tools/call`. If the answer had arrived already, this is
    /// called where the call is dropped.
    fn late_result(&self, result: Object<'_>) {
        let _ = result;
    }

    /// The server did not answer a regular ping in time; the connection ends when `misses`
    /// reaches `limit`.
    fn ping_missed(&self, misses: u32, limit: u32) {
        let _ = (misses, limit);
    }

    /// The server sent something that a client has no use for; nothing is answered.
    fn unusable(&self, what: Unusable<'_>) {
        let _ = what;
    }

    /// The server lost the session of the connection, over HTTP, and a new one has taken its
    /// place. Calls in flight are repeated there, unless the server has begun to answer them: those
    /// end with [`Failure::Broken`](mcp_proto::client::Failure::Broken). Earlier settings, such as a log
    /// level or subscriptions, the new session does not know.
    fn renewed(&self, server: &ServerInfo) {
        let _ = server;
    }

    /// The trace that a request is to tell: asked for in the task of the caller, in the
    /// span of the call, once for all its rounds. The default is `None`.
    fn trace(&self, method: Method<'_>) -> Option<TraceContext> {
        let _ = method;
        None
    }
}

impl Handler for () {}

impl<H: Handler + ?Sized> Handler for Arc<H> {
    fn question(&self, question: IncomingQuestion<'_>) -> Answer {
        (**self).question(question)
    }

    fn notified(&self, notification: Notification<'_>, subscription: Option<u64>) {
        (**self).notified(notification, subscription);
    }

    fn listening(&self, tag: u64, honoured: Object<'_>) {
        (**self).listening(tag, honoured);
    }

    fn late_result(&self, result: Object<'_>) {
        (**self).late_result(result);
    }

    fn ping_missed(&self, misses: u32, limit: u32) {
        (**self).ping_missed(misses, limit);
    }

    fn unusable(&self, what: Unusable<'_>) {
        (**self).unusable(what);
    }

    fn renewed(&self, server: &ServerInfo) {
        (**self).renewed(server);
    }

    fn trace(&self, method: Method<'_>) -> Option<TraceContext> {
        (**self).trace(method)
    }
}

/// A question of the server to the client.
#[derive(Clone, Copy)]
pub struct IncomingQuestion<'b> {
    /// The revision of the session, or of the call that it belongs to.
    pub revision: Revision,
    /// The key of the question in a modern round; `None` for a request of a legacy session.
    pub key: Option<Str<'b>>,
    /// The method that the server requests.
    pub method: Method<'b>,
    /// The parameters of the question; the empty object if it has none.
    pub params: Object<'b>,
}

/// Without parameters, which are not for logs.
impl fmt::Debug for IncomingQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IncomingQuestion")
            .field("revision", &self.revision)
            .field("key", &self.key)
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

/// The answer to a question, when it comes. Dropped when it is no longer needed.
#[must_use = "the server waits for the answer to its question"]
pub struct Answer(Pin<Box<dyn Future<Output = Replied> + Send>>);

/// The answer to a question: a result or an error.
pub(super) type Replied = Result<Box<dyn Payload + Send>, ErrorReply>;

impl Answer {
    /// Answers with the output of the future, an object.
    pub fn new<T: Payload + Send + 'static>(
        future: impl Future<Output = Result<T, ErrorReply>> + Send + 'static,
    ) -> Self {
        Self(Box::pin(async {
            let value: Box<dyn Payload + Send> = Box::new(future.await?);
            Ok(value)
        }))
    }

    /// Refuses: the server of a legacy session gets the error, a call of 2026-07-28 ends with
    /// it. To decline what a person was asked is no refusal but an answer.
    pub fn refuse(error: ErrorReply) -> Self {
        Self::ready(Err::<(), _>(error))
    }

    /// Answers with this.
    pub fn ready<T: Payload + Send + 'static>(value: Result<T, ErrorReply>) -> Self {
        Self::new(core::future::ready(value))
    }
}

impl Future for Answer {
    type Output = Replied;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Replied> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Answer")
    }
}
