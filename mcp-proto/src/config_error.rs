//! The error of a configuration.

use core::fmt;

/// The error of a configuration that no machine can be made of.
///
/// ```
/// use mcp_proto::ConfigError;
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::ServerCapabilities;
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
///
/// let capabilities = ServerCapabilities {
///     extensions: Some((&[("notes", Raw::EMPTY_OBJECT)]).into()),
///     ..ServerCapabilities::default()
/// };
/// let config = ServerConfig { capabilities, ..ServerConfig::new("demo", "1.0") };
/// let server = Server::new(config, Fixed::new());
/// assert!(matches!(server, Err(ConfigError::ExtensionName)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// [`Limits::output`](crate::Limits::output), or the storage of the output, is less than one answer of the core may take. It
    /// must be larger, or the description of the program shorter.
    OutputTooSmall {
        /// The bytes that it has to hold.
        needed: usize,
    },
    /// The name of a declared extension is [none](crate::is_extension_name) (VR-10).
    ExtensionName,
    /// `resources.subscribe` is declared and the storage ([`Storage`](crate::server::Storage)) has no room for a subscription, or
    /// notifications of changes or `filters` are declared and the storage is
    /// [`WithoutSubscriptions`](crate::server::WithoutSubscriptions).
    NoRoomForSubscriptions,
    /// Pings are to be sent, and the storage of the server has no room for a question.
    NoRoomForPings,
    /// Capabilities are declared by which a legacy server asks the client (roots, sampling, elicitation), and the storage of
    /// the client has no room for a question.
    NoRoomForQuestions,
    /// The configuration has no `revisions`, or the storage ([`LegacyOnly`](crate::server::LegacyOnly),
    /// [`ModernOnly`](crate::server::ModernOnly)) serves none of them.
    NoRevision,
    /// One of `methods` has a name of the protocol.
    MethodOfProtocol,
    /// Two of `methods` have one name.
    MethodTwice,
    /// One of `methods` has a name that the header `Mcp-Method` cannot carry as it is: one that is empty, has other than printable
    /// ASCII characters or spaces around them, or looks like `=?base64?..?=`.
    MethodName,
    /// One of `filters` is a key of the protocol, or comes twice.
    FilterKey,
    /// One of `extension_revisions` is of an extension that is not declared.
    ExtensionUndeclared,
    /// There are more than 32 `result_types`, which a client could not tell apart.
    TooManyResultTypes,
    /// A text was changed by [`PreparedConfig::with`](crate::PreparedConfig::with) after the texts were shared.
    TextsAreShared,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutputTooSmall { needed } => {
                write!(f, "the output is too small: {needed} bytes needed")
            }
            Self::ExtensionName => {
                f.write_str("the name of an extension has no prefix, or is no name")
            }
            Self::NoRoomForSubscriptions => {
                f.write_str("subscriptions, notifications of changes or filters are declared, and the storage has no room for a subscription")
            }
            Self::NoRoomForPings => {
                f.write_str("pings are to be sent, and the storage has no room for a question")
            }
            Self::NoRoomForQuestions => f.write_str(
                "capabilities for questions are declared, and the storage has no room for one",
            ),
            Self::NoRevision => f.write_str("no revision is configured that the storage serves"),
            Self::MethodOfProtocol => {
                f.write_str("a method beyond the protocol has the name of one of it")
            }
            Self::MethodTwice => f.write_str("two methods beyond the protocol have one name"),
            Self::MethodName => {
                f.write_str("the name of a method beyond the protocol does not fit in a header")
            }
            Self::FilterKey => {
                f.write_str("one of the filters is a key of the protocol, or comes twice")
            }
            Self::ExtensionUndeclared => {
                f.write_str("an extension that has revisions is not declared")
            }
            Self::TooManyResultTypes => f.write_str("there are more than 32 types of results"),
            Self::TextsAreShared => f.write_str("a text was changed after the texts were shared"),
        }
    }
}

impl core::error::Error for ConfigError {}
