//! The error of a schema that cannot be published.

use core::error::Error;
use core::fmt;

#[cfg(feature = "schema")]
use super::SchemaError;

/// Reasons for which a tool's schema is not published, such as a keyword that this build does not
/// enforce.
///
/// Places are JSON Pointers (RFC 6901) into the tool as it is listed.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::{Tool, ToolCall};
/// use mcp_async::json::RawBuf;
///
/// // JSON Schema defines the format, but no feature of this crate enforces it.
/// let schema = r#"{"type":"object","properties":{"host":{"format":"idn-hostname"}}}"#;
/// let tool = Tool::new("resolve")
///     .input_schema(RawBuf::parse(schema)?)
///     .raw(|_: ToolCall, _| async { Ok("resolved") });
/// let error = Server::builder("demo", "1.0").with(tool).build().unwrap_err();
/// assert_eq!(
///     error.mistakes()[0].to_string(),
///     "tool `resolve`: nothing enforces `format` at /inputSchema/properties/host",
/// );
/// # Ok::<(), mcp_async::json::Fault>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublishError {
    /// This build does not enforce a keyword.
    Unenforced {
        /// The keyword.
        keyword: String,
        /// The place of the schema that has the keyword.
        place: String,
        /// The cargo feature that enforces it; `None` if there is no such feature.
        feature: Option<&'static str>,
    },
    /// An object of the schema has two members with the same name.
    Duplicate {
        /// `/inputSchema` or `/outputSchema`.
        place: &'static str,
        /// The name.
        name: String,
    },
    /// The schema is not an object, or that of the arguments does not have `"type": "object"`
    /// at its root.
    NotObject {
        /// `/inputSchema` or `/outputSchema`.
        place: &'static str,
    },
    /// The validator does not accept the schema; [`source`](Error::source) says why.
    #[cfg(feature = "schema")]
    Refused {
        /// `/inputSchema` or `/outputSchema`.
        place: &'static str,
        /// The error of the validator.
        error: SchemaError,
    },
}

impl PublishError {
    pub(super) fn unenforced(
        keyword: &str,
        place: impl Into<String>,
        feature: Option<&'static str>,
    ) -> Self {
        Self::Unenforced {
            keyword: keyword.to_owned(),
            place: place.into(),
            feature,
        }
    }
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unenforced {
                keyword,
                place,
                feature: Some(feature),
            } => write!(
                f,
                "only the cargo feature `{feature}` enforces `{keyword}` at {place}"
            ),
            Self::Unenforced { keyword, place, .. } => {
                write!(f, "nothing enforces `{keyword}` at {place}")
            }
            Self::Duplicate { place, name } => {
                write!(f, "{place} has two members named `{name}`")
            }
            Self::NotObject { place } => {
                write!(f, "{place} is not the schema of an object")
            }
            #[cfg(feature = "schema")]
            Self::Refused { place, .. } => write!(f, "{place} is not accepted"),
        }
    }
}

impl Error for PublishError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            #[cfg(feature = "schema")]
            Self::Refused { error, .. } => Some(error),
            _ => None,
        }
    }
}
