//! The error of a configuration.

use core::fmt;

use crate::limits::OutputTooSmall;

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
    /// [`Limits::output`](crate::Limits::output) is less than one answer of the core may take.
    OutputTooSmall(OutputTooSmall),
    /// The name of a declared extension is [none](crate::is_extension_name) (VR-10).
    ExtensionName,
    /// `resources.subscribe` is declared, and the storage of the server has no room for a
    /// subscription ([`Storage`](crate::server::Storage)).
    NoRoomForSubscriptions,
}

impl From<OutputTooSmall> for ConfigError {
    fn from(error: OutputTooSmall) -> Self {
        Self::OutputTooSmall(error)
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutputTooSmall(error) => error.fmt(f),
            Self::ExtensionName => {
                f.write_str("the name of an extension has no prefix, or is no name")
            }
            Self::NoRoomForSubscriptions => {
                f.write_str("subscriptions are declared, and the storage has no room for any")
            }
        }
    }
}

impl core::error::Error for ConfigError {}
