//! Invalid messages.

use core::fmt;

use super::{ErrorObject, Id, Member, code};
use crate::json::{Fault, FaultKind};

/// Bytes that are not a valid message: the reason and the parts that could be read.
///
/// The machine decides whether an answer is due: the server role does so if
/// [`Shape::is_answerable`], the client role never does (JR-32).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invalid<'b> {
    /// The first fault that was found.
    pub reason: Reason,
    /// The id, if exactly one valid one stands at the top level, be it behind the fault.
    pub id: Option<Id<'b>>,
    /// The kind of message that was meant.
    pub shape: Shape,
}

impl Invalid<'_> {
    /// Returns the number of the request that the message may answer: a broken response, or one that broke off
    /// before its result. The id of a broken request is one of its sender's.
    #[inline]
    pub(crate) fn answered_id(&self) -> Option<u64> {
        match self.shape {
            Shape::Response | Shape::Unknown => self.id.and_then(Id::to_u64),
            Shape::Request | Shape::Notification => None,
        }
    }
}

/// Reasons for which bytes are not accepted as a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// No JSON text: grammar, UTF-8 or depth.
    Json(Fault),
    /// A frame over the limit; it was skipped.
    TooLong,
    /// JSON, but no object.
    NotObject,
    /// An array without elements (JR-18).
    EmptyBatch,
    /// A member of the envelope, or of its error, that comes twice (JR-52): two readers must
    /// never see two messages.
    Doubled(Member),
    /// `jsonrpc` is missing or not exactly `"2.0"` (JR-01).
    Version,
    /// An id that is neither string nor integer (JR-04, JR-36), or none where one must be.
    Id,
    /// `method` is no string.
    Method,
    /// `params` is no object.
    Params,
    /// Neither request nor response, or both of them (JR-08).
    Members,
    /// `error` is no object with an integer `code` and a string `message` (JR-09).
    Error,
}

impl Reason {
    /// The code of the error that answers it (JR-32): [`code::PARSE_ERROR`] for bytes that are no
    /// JSON text that we accept, otherwise [`code::INVALID_REQUEST`].
    pub const fn code(self) -> i64 {
        match self {
            Self::Json(_) | Self::TooLong => code::PARSE_ERROR,
            _ => code::INVALID_REQUEST,
        }
    }

    /// Returns one short sentence for the error that answers it (JR-13): without the feature `diagnostics` the text of its code.
    pub const fn message(self) -> &'static str {
        if !cfg!(feature = "diagnostics") {
            return code::short_text(self.code());
        }
        match self {
            Self::Json(fault) => match fault.kind {
                FaultKind::Utf8 => "message is not valid UTF-8",
                FaultKind::Depth => "message nests too deeply",
                _ => "message is not valid JSON",
            },
            Self::TooLong => "message exceeds the size limit",
            Self::NotObject => "message is not an object",
            Self::EmptyBatch => "batch is empty",
            Self::Doubled(_) => "member occurs twice",
            Self::Version => "jsonrpc must be \"2.0\"",
            Self::Id => "id must be a string or an integer",
            Self::Method => "method must be a string",
            Self::Params => "params must be an object",
            Self::Members => "message is neither a request nor a response",
            Self::Error => "error must have an integer code and a message",
        }
    }

    /// The error that answers it.
    pub fn error(self) -> ErrorObject<'static> {
        ErrorObject::new(self.code(), self.message())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(fault) => fault.fmt(f),
            Self::Doubled(member) => write!(f, "{} occurs twice", member.name()),
            other => f.write_str(other.message()),
        }
    }
}

/// The kind of message that a broken message was meant to be, by the members it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// It has `method` and `id`.
    Request,
    /// It has a string `method` and no `id`.
    Notification,
    /// It has `result` or `error`, and no `method`.
    Response,
    /// A message of another shape, such as one that is not an object.
    Unknown,
}

impl Shape {
    /// Returns true if the sender waits for an answer: notifications and responses are never
    /// answered, however wrong they are (JR-12, JR-32).
    pub const fn is_answerable(self) -> bool {
        matches!(self, Self::Request | Self::Unknown)
    }

    /// By the members that are there; `named` says that `method` is a string.
    pub(crate) const fn of(id: bool, method: bool, named: bool, outcome: bool) -> Self {
        match (id, method) {
            (true, true) => Self::Request,
            (false, true) if named => Self::Notification,
            (_, false) if outcome => Self::Response,
            _ => Self::Unknown,
        }
    }
}
