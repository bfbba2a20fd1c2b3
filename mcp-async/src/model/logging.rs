//! Log messages of a server.

use mcp_proto::json::RawBuf;
use mcp_proto::model::LoggingLevel;
use serde::{Deserialize, Serialize};

use super::{Meta, lenient};

/// The parameters of `notifications/message`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:LoggingMessageParams", rename_all = "camelCase")]
pub struct LoggingMessageParams {
    /// How severe it is.
    pub level: LoggingLevel,
    /// Who logs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<String>,
    /// What there is to say: text, or any JSON value. No secrets (`LG-08`).
    pub data: RawBuf,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}
