//! Errors as they are on the wire.

use core::fmt;
use std::borrow::Cow;

use mcp_proto::json::{RawBuf, Str};
use mcp_proto::model::is_resource_not_found;
use mcp_proto::rpc::{ErrorObject, code};
use mcp_proto::{Revision, SendError};

use super::Printable;
use crate::model::ElicitParams;
use crate::model::ElicitUrlParams;
use crate::payload::encode;
use crate::random;

/// An error that goes to the peer, or came from it: code, message and data of JSON-RPC. Its text
/// is the message, cut after 1,000 characters and with control characters escaped, and the code:
/// `Unknown tool: frob (code -32602)`.
#[derive(Clone, Debug)]
pub struct ErrorReply {
    /// The code; codes of the application lie outside -32768 to -32000.
    pub code: i64,
    /// One short sentence.
    pub message: Cow<'static, str>,
    /// Further data about the error, of any type.
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

    /// The method is unknown here.
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

    /// A person has to visit these pages before the call can succeed. 2025-11-25 has this error; in other revisions its
    /// code is that of an internal error. A page without an id gets a random one, by which [`Peer::notify`](crate::server::Peer::notify) can
    /// tell the client when the visit is over.
    ///
    /// ```
    /// use mcp_async::ErrorReply;
    /// use mcp_async::model::ElicitUrlParams;
    /// use mcp_async::server::HandlerError;
    ///
    /// fn sign_in() -> HandlerError {
    ///     let page = ElicitUrlParams {
    ///         message: "Sign in".to_owned(),
    ///         url: "https://example.com/in".to_owned(),
    ///         elicitation_id: Some("e1".to_owned()),
    ///         ..ElicitUrlParams::default()
    ///     };
    ///     HandlerError::reply(ErrorReply::url_elicitation_required("Sign in first", [page]))
    /// }
    /// # let _ = sign_in();
    /// ```
    #[cfg(feature = "server")]
    pub fn url_elicitation_required(
        message: impl Into<Cow<'static, str>>,
        pages: impl IntoIterator<Item = ElicitUrlParams>,
    ) -> Self {
        let pages = pages.into_iter().map(|page| {
            let elicitation_id = page.elicitation_id.or_else(|| random::id().ok());
            ElicitParams::Url(ElicitUrlParams {
                elicitation_id,
                ..page
            })
        });
        let written = pages.filter_map(|page| encode(&page, Revision::V2025_11_25).ok());
        let elicitations: Vec<RawBuf> = written.collect();
        Self {
            data: RawBuf::encode(&Demand { elicitations }).ok(),
            ..Self::new(code::URL_ELICITATION_REQUIRED, message)
        }
    }

    /// Returns the pages that a person has to visit before the call can succeed; none if it is another error.
    pub fn url_elicitations(&self) -> Vec<ElicitUrlParams> {
        let data = self.data.as_ref();
        let data = data.filter(|_| self.code == code::URL_ELICITATION_REQUIRED);
        let demand: Option<Demand<_>> = data.and_then(|data| data.decode().ok());
        demand.map(|demand| demand.elicitations).unwrap_or_default()
    }

    /// Returns true if the error of a `resources/read` says that there is no such resource: -32002, or -32602 with the URI in its
    /// data, as in 2026-07-28.
    pub fn is_resource_not_found(&self) -> bool {
        is_resource_not_found(&self.as_object(), Revision::V2026_07_28)
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

/// The data of an error that demands pages to be visited.
#[derive(serde::Serialize, serde::Deserialize)]
struct Demand<T> {
    elicitations: Vec<T>,
}

/// The characters of a message that its text has at most. A message is one short sentence (JR-13).
const LONGEST_MESSAGE: usize = 1000;
