//! Log messages of a server.

use serde::{Deserialize, Serialize};

use super::{LoggingLevel, Meta};
use crate::json::{Raw, Str};

/// The parameters of `logging/setLevel`; until 2025-11-25.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:SetLevelParams", rename_all = "camelCase")]
pub struct SetLevelParams<'b> {
    /// The least severe message to send (LG-03).
    pub level: LoggingLevel,
    /// Progress token and anything else.
    #[serde(rename = "_meta", borrow, skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// The parameters of `notifications/message`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:LoggingMessageParams", rename_all = "camelCase")]
pub struct LoggingMessageParams<'b> {
    /// How severe it is.
    pub level: LoggingLevel,
    /// Who logs it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub logger: Option<Str<'b>>,
    /// What there is to say: text, or any JSON value. No secrets (LG-08).
    pub data: Raw<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}
