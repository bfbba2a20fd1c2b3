//! Errors as they are on the wire.

use core::fmt;
use std::borrow::Cow;

use mcp_proto::SendError;
use mcp_proto::json::{RawBuf, Str};
use mcp_proto::rpc::{ErrorObject, code};

use super::Printable;

/// An error that goes to the peer, or came from it: code, message and data of JSON-RPC. Its text
/// is the message, cut after 1,000 characters and with control characters escaped, and the code:
/// `Unknown tool: frob (code -32602)`.
#[derive(Clone, Debug)]
pub struct ErrorReply {
    /// The code; codes of the application lie outside -32768 to -32000 (JR-27).
    pub code: i64,
    /// One short sentence (JR-13).
    pub message: Cow<'static, str>,
    /// Further data about the error, of any type (JR-14).
    pub data: Option<RawBuf>,
}

impl ErrorReply {
    /// An error without data.
    pub fn new(code: i64, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The method is unknown here (JR-28).
    pub const fn method_not_found() -> Self {
        Self::fixed(code::METHOD_NOT_FOUND, "Method not found")
    }

    /// The parameters are not what the method takes.
    pub fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(code::INVALID_PARAMS, message)
    }

    /// Something failed here, and the peer learns no more than that.
    pub const fn internal() -> Self {
        Self::fixed(code::INTERNAL_ERROR, "Internal error")
    }

    /// The call was still running when the time to finish was over.
    pub(crate) const fn shutting_down() -> Self {
        Self::fixed(code::INTERNAL_ERROR, "the server is shutting down")
    }

    /// Returns the error in the form that the core writes.
    pub fn as_object(&self) -> ErrorObject<'_> {
        ErrorObject {
            code: self.code,
            message: Str::from(&*self.message),
            data: self.data.as_ref().map(RawBuf::as_raw),
        }
    }

    pub(crate) fn received(error: &ErrorObject<'_>) -> Self {
        Self {
            code: error.code,
            message: Cow::Owned(error.message.to_cow().into_owned()),
            data: error.data.map(RawBuf::from),
        }
    }

    const fn fixed(code: i64, message: &'static str) -> Self {
        Self {
            code,
            message: Cow::Borrowed(message),
            data: None,
        }
    }
}

/// Replaces the error by the internal error, so that the peer learns nothing else about it. So `?`
/// on a send ends a handler.
impl From<SendError> for ErrorReply {
    fn from(_: SendError) -> Self {
        Self::internal()
    }
}

impl fmt::Display for ErrorReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let message = Printable {
            text: &self.message,
            longest: LONGEST_MESSAGE,
        };
        write!(f, "{message} (code {})", self.code)
    }
}

impl core::error::Error for ErrorReply {}

/// The characters of a message that its text has at most. A message is one short sentence (JR-13).
const LONGEST_MESSAGE: usize = 1000;
