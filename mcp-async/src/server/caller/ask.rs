//! A question to a legacy client, from sending to the answer.

use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;

use mcp_proto::json::{DecodeError, RawBuf};
use mcp_proto::revision::Elicitation;
use mcp_proto::rpc::{Method, Reason, code};
use mcp_proto::server::AskOptions;
use mcp_proto::{Payload, Question, Revision, SendError, Token};
use serde::de::DeserializeOwned;

use super::Machine;
use crate::connection::{Arrival, PendingRequest};
use crate::error::ErrorReply;
use crate::payload;

/// The answer to a question, when it comes; see [`CallContext::ask`](crate::server::CallContext::ask).
///
/// ```
/// use core::time::Duration;
/// use mcp_async::server::{AskError, CallContext};
/// use mcp_async::json::RawBuf;
/// use mcp_async::Method;
///
/// async fn roots(cx: &CallContext) -> Result<RawBuf, AskError> {
///     let nothing = RawBuf::default();
///     cx.ask(Method::RootsList, &nothing)
///         .timeout(Duration::from_secs(10))
///         .await
/// }
/// ```
#[must_use = "a question is asked when its future is polled"]
pub struct Ask<'a, T> {
    pending: PendingRequest<'a, Machine>,
    parent: Option<Token>,
    /// Of the call that it is asked for.
    revision: Option<Revision>,
    method: Method<'a>,
    params: &'a (dyn Payload + Sync),
    options: AskOptions,
    tag: u64,
    answer: PhantomData<fn() -> T>,
}

/// Reasons for which a question has no answer.
#[derive(Debug)]
#[non_exhaustive]
pub enum AskError {
    /// The client answered with an error.
    Client(ErrorReply),
    /// The user rejected the question. The client says so with code -1; the text of -32603
    /// in which some clients say it counts as well. A form or page that the user declines is no
    /// error but an answer.
    Rejected(ErrorReply),
    /// It was not asked, because the client did not declare the capability, for instance.
    Refused(SendError),
    /// It was not asked, because the client's revision does not have such a question.
    NotInRevision {
        /// The method, and what of it the revision does not have.
        question: &'static str,
        /// The revision that the client speaks.
        revision: Revision,
    },
    /// The client answered with something else.
    Unusable(Reason),
    /// The result is not of the type that was asked for.
    Decode(DecodeError),
    /// The answer of the user does not fit the form that was asked for: the text names the
    /// field and the mistake.
    Mismatch(String),
    /// No answer in time; the client was notified.
    Timeout,
    /// The call that it was asked for is over.
    Cancelled,
    /// The connection is over.
    Closed,
    /// Another question of this call has used the key.
    Key,
    /// It was not asked, because it breaks this rule of the protocol.
    Invalid(&'static str),
    /// No form asks for this type.
    Form(crate::schema::FormError),
}

/// Reasons for which a question has no answer, apart from an error of the client.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lost {
    Unusable(Reason),
    Timeout,
    Cancelled,
    Closed,
}

impl<'a, T> Ask<'a, T> {
    pub(in crate::server) fn new(
        pending: PendingRequest<'a, Machine>,
        parent: Option<(Token, Revision)>,
        method: Method<'a>,
        params: &'a (dyn Payload + Sync),
        options: AskOptions,
    ) -> Self {
        Self {
            pending,
            parent: parent.map(|(token, ..)| token),
            revision: parent.map(|(.., revision)| revision),
            method,
            params,
            options,
            tag: 0,
            answer: PhantomData,
        }
    }

    /// Asks for progress, which [`Service::progress`](crate::server::Service::progress) hears; each
    /// starts the timeout anew, for ten minutes altogether.
    pub const fn with_progress(mut self) -> Self {
        self.options.progress = true;
        self
    }

    /// Gives the question a number of the caller's choice, which its progress carries.
    pub const fn tag(mut self, tag: u64) -> Self {
        self.tag = tag;
        self
    }

    /// Waits so long for the answer; five minutes otherwise.
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        if timeout.as_nanos() > self.options.max_duration.as_nanos() {
            self.options.max_duration = timeout;
        }
        self
    }
}

impl<T: DeserializeOwned> Future for Ask<'_, T> {
    type Output = Result<T, AskError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.get_mut();
        let question = Question {
            method: this.method,
            params: this.params,
        };
        let asking = (this.parent, question, this.options, this.tag);
        let answer = match ready!(poll_ask(&mut this.pending, cx, this.revision, asking)) {
            Ok(buffer) => {
                let answer = payload::decode(buffer.as_raw()).map_err(AskError::Decode);
                this.pending.leave(Some(buffer));
                answer
            }
            Err(error) => Err(error),
        };
        Poll::Ready(answer)
    }
}

/// Asks, and then waits for the result. Without a revision it is that of the session.
pub(in crate::server) fn poll_ask(
    pending: &mut PendingRequest<'_, Machine>,
    cx: &mut Context<'_>,
    mut revision: Option<Revision>,
    (parent, question, options, tag): (Option<Token>, Question<'_>, AskOptions, u64),
) -> Poll<Result<RawBuf, AskError>> {
    if pending.token().is_none() {
        let sent = pending.poll_send(cx, tag, |machine, now, cookie, out| {
            revision = revision.or(machine.revision());
            machine.ask(now, parent, question, AskOptions { cookie, ..options }, out)
        });
        if let Err(error) = ready!(sent) {
            return Poll::Ready(Err(match error {
                SendError::Closed => AskError::Closed,
                SendError::Stale => AskError::Cancelled,
                SendError::NotInRevision if let Some(revision) = revision => {
                    not_in_revision(question.method, revision)
                }
                other => AskError::Refused(other),
            }));
        }
    }
    let Some((arrival, buffer)) = ready!(pending.poll_arrival(cx)) else {
        return Poll::Ready(Err(AskError::Closed));
    };
    let error = match arrival {
        Arrival::Result => return Poll::Ready(Ok(buffer)),
        Arrival::Error(error) | Arrival::Mismatched(error) => AskError::of_client(error),
        Arrival::Failed(Lost::Unusable(reason)) => AskError::Unusable(reason),
        Arrival::Failed(Lost::Timeout) => AskError::Timeout,
        Arrival::Failed(Lost::Cancelled) => AskError::Cancelled,
        Arrival::Denied(_) => AskError::Closed,
        Arrival::Failed(Lost::Closed) | Arrival::Input { .. } | Arrival::Again => AskError::Closed,
    };
    pending.leave(Some(buffer));
    Poll::Ready(Err(error))
}

impl AskError {
    /// The client has answered with this error.
    pub(in crate::server) fn of_client(error: ErrorReply) -> Self {
        match is_rejection(&error) {
            true => Self::Rejected(error),
            false => Self::Client(error),
        }
    }

    /// The error that the client receives if a handler ends its call with this one:
    ///
    /// - the capability that it would have to declare, with code -32021 and the data
    ///   `{"requiredCapabilities":{"elicitation":{"form":{}}}}`, which becomes -32603 in a revision
    ///   without it;
    /// - the question that its revision does not have, with code -32603;
    /// - what of its user's answer does not fit the form, with code -32603;
    /// - that its user rejected the question, with code -1;
    /// - otherwise an internal error that tells nothing.
    pub fn as_reply(&self) -> ErrorReply {
        let path = match self {
            Self::Refused(SendError::MissingCapability(path)) => path,
            Self::NotInRevision { .. } | Self::Mismatch(_) => {
                return ErrorReply::new(code::INTERNAL_ERROR, self.to_string());
            }
            Self::Rejected(error) => {
                let text = format!("Rejected by the user: {}", error.message);
                return ErrorReply::new(code::USER_REJECTED, text);
            }
            _ => return ErrorReply::internal(),
        };
        let mut data = String::from(r#"{"requiredCapabilities":"#);
        for name in path.split('.') {
            data.push_str("{\"");
            data.push_str(name);
            data.push_str("\":");
        }
        data.push_str("{}}");
        data.extend(path.split('.').map(|_| '}'));
        ErrorReply {
            data: RawBuf::parse(data).ok(),
            ..ErrorReply::new(
                code::MISSING_CLIENT_CAPABILITY,
                format!("Missing required client capability: {path}"),
            )
        }
    }
}

/// Names what of a question the client's revision does not have.
pub(in crate::server) fn not_in_revision(method: Method<'_>, revision: Revision) -> AskError {
    let question = match method {
        Method::ElicitationCreate if matches!(revision.elicitation(), Elicitation::Form) => {
            "elicitation/create with a URL"
        }
        Method::SamplingCreateMessage if !revision.has_sampling_tools() => {
            "sampling/createMessage with tools"
        }
        method => method.known_name().unwrap_or("this request"),
    };
    AskError::NotInRevision { question, revision }
}

/// Returns true if an error of the client means that its user rejected the question. The code is
/// that of the specification (SP-07); clients that throw an exception instead answer with -32603
/// and one of these texts.
fn is_rejection(error: &ErrorReply) -> bool {
    let text = error.message.trim().trim_end_matches('.');
    let says_no = || REJECTED.iter().any(|no| no.eq_ignore_ascii_case(text));
    error.code == code::USER_REJECTED || (error.code == code::INTERNAL_ERROR && says_no())
}

/// The text of the specification's example, and those of clients.
const REJECTED: [&str; 6] = [
    "user rejected sampling request",
    "user rejected the request",
    "user rejected the sampling request",
    "sampling request rejected by user",
    "sampling request rejected by the user",
    "request rejected by user",
];

impl<T> fmt::Debug for Ask<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for AskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Client(_) => f.write_str("the client answered with an error"),
            Self::Rejected(_) => f.write_str("the user rejected the question"),
            Self::Refused(_) => f.write_str("the question was not asked"),
            Self::NotInRevision { question, revision } => {
                write!(
                    f,
                    "not asked: a server cannot send {question} in revision {revision}"
                )
            }
            Self::Unusable(_) => f.write_str("the client's answer is no valid message"),
            Self::Decode(_) => f.write_str("the client's answer is of another type"),
            Self::Mismatch(what) => write!(f, "the answer does not fit the form: {what}"),
            Self::Timeout => f.write_str("the client did not answer in time"),
            Self::Cancelled => f.write_str("the call that the question belongs to is over"),
            Self::Closed => f.write_str("the connection is over"),
            Self::Invalid(rule) => write!(f, "not asked: {rule}"),
            Self::Key => f.write_str("another question of this call has used the key"),
            Self::Form(_) => f.write_str("the form was not asked"),
        }
    }
}

impl core::error::Error for AskError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Client(error) | Self::Rejected(error) => Some(error),
            Self::Refused(error) => Some(error),
            Self::Decode(error) => Some(error),
            Self::Form(error) => Some(error),
            _ => None,
        }
    }
}
