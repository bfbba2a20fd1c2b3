//! A call of the application, and the state that the client keeps for it: no parameters.

use core::fmt;
use core::time::Duration;

use super::abandoned::LateResults;
use crate::json::Raw;
use crate::payload::Payload;
use crate::rpc::{Method, Reason};
use crate::sent::{Sent, SentRequest};

/// One request to the server.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// The method.
    pub method: Method<'a>,
    /// The parameters, a JSON object. Members that the revision requires in `_meta` are added to
    /// those of the parameters.
    pub params: Option<&'a dyn Payload>,
    /// Instead of the configured [`request`](super::Timeouts::request) timeout.
    pub timeout: Option<Duration>,
    /// Instead of the configured [`max_duration`](super::Timeouts::max_duration).
    pub max_duration: Option<Duration>,
    /// True if the call asks for progress; the token is the request's id.
    pub progress: bool,
    /// From which severity on the server may send log messages for this request: `info`, say.
    /// A modern request only (LG-05); a legacy session has `logging/setLevel`.
    pub log_level: Option<&'a str>,
    /// The extensions that the request declares, of those of this client; `None` for all of them.
    /// A modern request only (EX-05): a legacy session declares them once.
    pub extensions: Option<&'a [&'a str]>,
    /// The trace that it is part of. Parameters that tell one of their own are refused then.
    pub trace: Option<Trace<'a>>,
    /// True if the call joins the [batch](super::Client::begin_batch) that is open, in place of leaving at once.
    pub batched: bool,
    /// A value of the caller's that comes back with every event of the call.
    pub cookie: u64,
}

/// A trace of distributed tracing, for the `_meta` of a request: the values of the W3C's headers
/// of the same names, which are written as they are (JR-31).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trace<'a> {
    /// `traceparent`
    pub parent: &'a str,
    /// `tracestate`
    pub state: Option<&'a str>,
    /// `baggage`
    pub baggage: Option<&'a str>,
}

/// The members that a further round of a call adds to the parameters of the first.
#[derive(Clone, Copy, Default)]
pub struct Round<'a> {
    /// An object with the answer to each question under the question's key (MR-09).
    pub responses: Option<&'a dyn Payload>,
    /// The state of [`Event::Input`](super::Event::Input), as it came (MR-11).
    pub state: Option<Raw<'a>>,
}

/// Reasons for which a call ended without an answer. These are facts of this side, and never look
/// like an error of the server's (JR-29).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// No answer in time; the request was cancelled. It may have done what was asked.
    Timeout,
    /// The connection is over.
    Closed,
    /// The answer was no valid message.
    Invalid(Reason),
    /// The answer came in an array, which the revision does not have (JR-19).
    Batch,
    /// The result is no object, or not what `input_required` has to be (MR-01 to MR-04).
    Result,
    /// The result is of a type that neither the core nor an extension of this client defines for
    /// the method (JR-22, EX-09).
    ResultType,
    /// The server wants an input that no revision has, or that this client did not declare
    /// (MR-05, MR-17).
    Input,
    /// The server wants more rounds than the 16 that are granted (MR-16).
    Rounds,
    /// The server ended a subscription without a result (CN-11, SB-09).
    Ended,
    /// Over HTTP: the server refused the request with this status, and said nothing that could
    /// be read. With 413 or 431 it was too large, its headers included (XH-26).
    Status(u16),
    /// Over HTTP: the server could not be reached, so the request was not begun.
    Unreachable,
    /// Over HTTP: the answer broke off, and the revision or the server cannot resume it, or its session is gone. The
    /// server may have done what was asked (SC-21).
    Broken,
    /// Over HTTP: what the server sent is no answer to the request.
    NoAnswer,
    /// Over HTTP: the server lost the session, and the one after it too.
    Session,
}

/// A call in a client's table.
#[derive(Clone, Debug)]
pub(crate) struct InFlight {
    pub(super) sent: Sent<Failure>,
    pub(super) kind: Kind,
    /// The types of the result beyond the core's, as bits of their places in the configuration.
    pub(super) result_types: u32,
    pub(super) stage: Stage,
    /// Rounds that the server asked for, at most [`ROUNDS`].
    pub(super) rounds: u8,
    /// Of them, how many in a row brought a state and no question.
    pub(super) pauses: u8,
    /// True if the revision was settled anew for this call (VR-05).
    pub(super) renegotiated: bool,
    /// True if the call was sent again in a new session.
    pub(super) moved: bool,
    /// True if a result of the call changes the session: the call may be sent while others are held.
    pub(super) restores: bool,
}

/// The kind of answers that a method has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A result or an error.
    Plain,
    /// Input may be required first (MR-01).
    Rounds,
    /// A subscription.
    Listen,
    /// The answer to the call of a tool of 2025-11-25, which may create a task.
    MayCreateTask,
}

/// The stage of a call.
///
/// ```text
///           call                 input_required              answer, cancel, hang_up
///    (none) ----> Sent ------------------> Input -- retry --> Sent ------> (none)
///                  |  \ state only                 ^
///                  |   `--> Pausing --> Again -----'
///     acknowledged |                      ^
///                  v                      | -32022
///              Listening                 Sent
///                                         |
///    session lost:  Sent, Again --> Held -- new one, released --> Again
///
/// ```
///
/// A call that ended without an answer keeps its stage until the notifications of that have left: see [`Sent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The answer is awaited.
    Sent,
    /// A subscription runs; nothing limits it.
    Listening,
    /// The application makes the input of the next round.
    Input,
    /// The next round waits for its time.
    Pausing,
    /// The application is to send the next round.
    Again,
    /// Its session is gone, and the next one not ready for it.
    Held,
}

impl<'a> Call<'a> {
    /// A call without parameters, progress or limits of its own.
    pub const fn new(method: Method<'a>) -> Self {
        Self {
            method,
            params: None,
            timeout: None,
            max_duration: None,
            progress: false,
            log_level: None,
            extensions: None,
            trace: None,
            batched: false,
            cookie: 0,
        }
    }
}

/// Without the parameters, which are the user's.
impl fmt::Debug for Call<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("timeout", &self.timeout)
            .field("max_duration", &self.max_duration)
            .field("progress", &self.progress)
            .field("log_level", &self.log_level)
            .field("extensions", &self.extensions)
            .field("cookie", &self.cookie)
            .finish_non_exhaustive()
    }
}

/// Without what it carries, which is the user's and the server's.
impl fmt::Debug for Round<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Round").finish_non_exhaustive()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout => "no answer in time",
            Self::Closed => "the connection is over",
            Self::Invalid(Reason::TooLong) => "the answer exceeds the size limit",
            Self::Invalid(_) => "the answer is no valid message",
            Self::Batch => "the answer came in a batch, which the revision does not have",
            Self::Result => "the result is not what the method returns",
            Self::ResultType => "the result is of an unknown type",
            Self::Input => "the server wants an input that this client does not give",
            Self::Rounds => "the server wants too many rounds",
            Self::Ended => "the server ended the subscription",
            Self::Status(413 | 431) => {
                return write!(
                    f,
                    "the request, or its headers, are too large for the server"
                );
            }
            Self::Status(status) => return write!(f, "the server answered with status {status}"),
            Self::Unreachable => "the server could not be reached",
            Self::Broken => "the answer broke off",
            Self::NoAnswer => "what the server sent is no answer",
            Self::Session => "the server lost the session",
        })
    }
}

impl core::error::Error for Failure {}

impl SentRequest for InFlight {
    type End = Failure;

    fn sent(&self) -> &Sent<Failure> {
        &self.sent
    }

    fn sent_mut(&mut self) -> &mut Sent<Failure> {
        &mut self.sent
    }

    fn is_at_peer(&self) -> bool {
        matches!(self.stage, Stage::Sent | Stage::Listening)
    }

    fn is_subscription(&self) -> bool {
        self.kind == Kind::Listen
    }
}

impl InFlight {
    /// Returns the results that are reported after the end of the call.
    pub(super) fn late_results(&self) -> LateResults {
        LateResults {
            types: self.result_types,
            core_task: self.kind == Kind::MayCreateTask,
        }
    }
}

impl Kind {
    pub(super) fn of(method: Method<'_>) -> Self {
        let answer = method.facts().answer();
        if answer.may_require_input {
            Self::Rounds
        } else if answer.ends_subscription {
            Self::Listen
        } else {
            Self::Plain
        }
    }
}

/// Rounds of one call (MR-16).
pub(super) const ROUNDS: u8 = 16;
