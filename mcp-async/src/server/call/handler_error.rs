//! The error of a handler.

use core::any::Any;
use core::error::Error;
use core::fmt;
use std::borrow::Cow;

use mcp_proto::json::{Map, Object};
use mcp_proto::model::{ClientCapabilities, ClientFeatures, MissingCapabilitiesData};
use mcp_proto::rpc::code;
use mcp_proto::{Outcome, Revision, SendError};

use super::encoded::encode;
use super::output::text_result;
use crate::error::{ErrorReply, is_of_client};
use crate::observe;
use crate::server::caller::ask::AskError;

/// The error of a handler, and the part of it that the client receives.
///
/// `?` converts every error into one: whatever implements [`Error`], and also `anyhow::Error`,
/// `Box<dyn Error + Send + Sync>` and plain text. The client then receives error -32603 with a
/// fixed text, and nothing of the error or its sources; the text is written to the
/// server's own log only (feature `tracing`). [`visible`](Self::visible) and the other
/// constructors choose what the client may read.
///
/// ```
/// use mcp_async::server::HandlerError;
///
/// fn half(text: &str) -> Result<u32, HandlerError> {
///     let number: u32 = text.parse()?;
///     if number % 2 == 1 {
///         return Err(HandlerError::visible("that number is odd"));
///     }
///     Ok(number / 2)
/// }
///
/// assert_eq!(half("x").unwrap_err().to_string(), "invalid digit found in string");
/// assert_eq!(half("3").unwrap_err().to_string(), "that number is odd");
///
/// fn shown(text: &str) -> Result<u32, HandlerError> {
///     text.parse().map_err(HandlerError::visible)
/// }
///
/// let boxed: Box<dyn std::error::Error + Send + Sync> = "disk full".into();
/// assert!(HandlerError::from(boxed).cause().is_some(), "the client does not read it");
/// assert!(shown("x").unwrap_err().cause().is_none(), "the client reads it");
/// ```
pub struct HandlerError(Kind);

enum Kind {
    Visible(Cow<'static, str>),
    NotFound,
    Reply(Box<ErrorReply>),
    Failed(Box<dyn Error + Send + Sync>),
}

impl HandlerError {
    /// Creates an error whose text is sent to the client: a message, or the text of another
    /// error. For a tool it becomes a result with `isError`, so that the model reads it and
    /// can try something else; elsewhere it is the text of error -32603.
    pub fn visible(text: impl fmt::Display + 'static) -> Self {
        let any: &dyn Any = &text;
        Self(Kind::Visible(match any.downcast_ref::<&'static str>() {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(text.to_string()),
        }))
    }

    /// The parameters are of the right type and still not good: error -32602 with this text.
    pub fn invalid_params(text: impl Into<Cow<'static, str>>) -> Self {
        Self::reply(ErrorReply::invalid_params(text))
    }

    /// The requested item does not exist: for a resource the error that its revision has for that,
    /// with the URI, for anything else -32602.
    pub const fn not_found() -> Self {
        Self(Kind::NotFound)
    }

    /// The request needs an extension that the client does not declare: error -32021, which names
    /// it.
    pub fn missing_extension(name: &str) -> Self {
        Self::reply(missing_extension(name))
    }

    /// This error, as it stands.
    pub fn reply(error: ErrorReply) -> Self {
        Self(Kind::Reply(Box::new(error)))
    }

    /// Returns the error that `?` converted, which the client does not see.
    pub fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        match &self.0 {
            Kind::Failed(error) => Some(&**error),
            _ => None,
        }
    }

    /// Decides what the client reads, and reports what it does not; `uri` is the resource that
    /// was to be read.
    pub(in crate::server) fn settle(self, uri: Option<&str>) -> Failure {
        Failure::Reply(match self.0 {
            Kind::Visible(text) => return Failure::Visible(text),
            Kind::NotFound => Box::new(not_found(uri)),
            Kind::Reply(error) => error,
            Kind::Failed(error) => Box::new(chosen(&*error).unwrap_or_else(|| {
                observe::handler_failed(&*error);
                ErrorReply::internal()
            })),
        })
    }
}

/// The error of a handler as the client receives it. It may be written several times, until there
/// is room for it.
pub(in crate::server) enum Failure {
    /// For the model, where a tool fails.
    Visible(Cow<'static, str>),
    Reply(Box<ErrorReply>),
}

impl Failure {
    pub(in crate::server) fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match self {
            Self::Visible(text) => {
                let error = ErrorReply::new(code::INTERNAL_ERROR, text.clone());
                send(Outcome::Error(error.as_object()));
            }
            Self::Reply(error) => send(Outcome::Error(error.as_object())),
        }
    }

    pub(in crate::server) fn into_reply(self) -> ErrorReply {
        match self {
            Self::Visible(text) => ErrorReply::new(code::INTERNAL_ERROR, text),
            Self::Reply(error) => *error,
        }
    }

    /// The outcome of a tool's call.
    pub(in crate::server) fn with_tool_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        match self {
            Self::Visible(text) => text_result(text, true, send),
            Self::Reply(_) => self.with_outcome(send),
        }
    }
}

/// The client learns that there was an error, and nothing else. Some errors, or sources of errors,
/// choose what it reads: an [`ErrorReply`] is sent as it is, a question that the client cannot
/// answer is reported by the missing capability (VR-07), and missing scopes are named.
///
/// An `anyhow::Error` hides its own type, but not those of its sources: add a context to such an
/// error, or convert it before it becomes an `anyhow::Error`.
impl<E: Into<Box<dyn Error + Send + Sync>>> From<E> for HandlerError {
    fn from(error: E) -> Self {
        let error: Box<dyn Error + Send + Sync> = error.into();
        match error.downcast::<ErrorReply>() {
            Ok(reply) => Self(Kind::Reply(reply)),
            Err(error) => Self(Kind::Failed(error)),
        }
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Visible(text) => f.write_str(text),
            Kind::NotFound => f.write_str("not found"),
            Kind::Reply(error) => error.fmt(f),
            Kind::Failed(error) => error.fmt(f),
        }
    }
}

impl fmt::Debug for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Visible(text) => f.debug_tuple("Visible").field(text).finish(),
            Kind::NotFound => f.write_str("NotFound"),
            Kind::Reply(error) => error.fmt(f),
            Kind::Failed(error) => error.fmt(f),
        }
    }
}

/// RS-03 and RS-04, where the core writes the code that the revision has; PR-03 otherwise.
pub(in crate::server) fn not_found(uri: Option<&str>) -> ErrorReply {
    #[derive(serde::Serialize)]
    struct Data<'a> {
        uri: &'a str,
    }
    match uri {
        Some(uri) => ErrorReply {
            data: encode(&Data { uri }),
            ..ErrorReply::new(code::RESOURCE_NOT_FOUND, "Resource not found")
        },
        None => ErrorReply::invalid_params("Not found"),
    }
}

/// The error that names the capabilities which the client did not declare (VR-07), or cannot
/// declare in its revision.
pub(in crate::server) fn missing_capabilities(
    features: ClientFeatures,
    revision: Revision,
) -> ErrorReply {
    let unknown = features.without(features.known_in(revision));
    if !unknown.is_empty() {
        return ErrorReply::new(
            code::INTERNAL_ERROR,
            format!(
                "Revision {revision} has no client capability {}",
                list(unknown, Revision::V2026_07_28)
            ),
        );
    }
    ErrorReply {
        data: encode(&MissingCapabilitiesData {
            required_capabilities: features.capabilities(),
        }),
        ..ErrorReply::new(
            code::MISSING_CLIENT_CAPABILITY,
            format!(
                "Missing required client capability: {}",
                list(features, revision)
            ),
        )
    }
}

/// The error that names the extension which the client did not declare (EX-06).
pub(in crate::server) fn missing_extension(name: &str) -> ErrorReply {
    let extensions = [(name, Object::EMPTY.as_raw())];
    let required_capabilities = ClientCapabilities {
        extensions: Some(Map::new(&extensions)),
        ..ClientCapabilities::default()
    };
    ErrorReply {
        data: encode(&MissingCapabilitiesData {
            required_capabilities,
        }),
        ..ErrorReply::new(
            code::MISSING_CLIENT_CAPABILITY,
            format!("Missing required client capability: extensions.{name}"),
        )
    }
}

fn list(features: ClientFeatures, revision: Revision) -> String {
    Vec::from_iter(features.paths(revision)).join(", ")
}

/// The reply of an error that chooses it, or that has such a source.
fn chosen(error: &(dyn Error + 'static)) -> Option<ErrorReply> {
    let mut next = Some(error);
    while let Some(error) = next {
        // The error of another server is not for the client of this one.
        if is_of_client(error) {
            return None;
        }
        if let Some(reply) = error.downcast_ref::<ErrorReply>() {
            return Some(reply.clone());
        }
        #[cfg(all(feature = "auth", feature = "http-server"))]
        if let Some(missing) = error.downcast_ref::<crate::server::MissingScopes>() {
            return Some(missing.to_reply());
        }
        if let Some(error) = error.downcast_ref::<AskError>() {
            return Some(error.as_reply());
        }
        if let Some(refused) = error.downcast_ref::<SendError>() {
            return Some(AskError::Refused(*refused).as_reply());
        }
        next = error.source();
    }
    None
}
