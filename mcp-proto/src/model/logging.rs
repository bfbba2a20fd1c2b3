//! Log messages of a server.

use serde::{Deserialize, Serialize};

use super::Meta;
use super::open::closed_enum;
use crate::json::{Raw, Str};

closed_enum! {
    /// How severe a log message is, in ascending order (RFC 5424).
    ///
    /// ```
    /// use mcp_proto::model::LoggingLevel;
    ///
    /// assert!(LoggingLevel::Error > LoggingLevel::Warning);
    /// assert_eq!(LoggingLevel::parse("notice".into()), Some(LoggingLevel::Notice));
    /// ```
    #[derive(PartialOrd, Ord)]
    pub enum LoggingLevel {
        /// Details for who looks for a fault.
        Debug = "debug",
        /// What goes on.
        Info = "info",
        /// What goes on and matters.
        Notice = "notice",
        /// Something may go wrong.
        Warning = "warning",
        /// Something went wrong.
        Error = "error",
        /// A part has failed.
        Critical = "critical",
        /// Somebody has to act at once.
        Alert = "alert",
        /// Nothing works.
        Emergency = "emergency",
    }
}

/// The parameters of `logging/setLevel`; until 2025-11-25.
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::{LoggingLevel, SetLevelParams};
///
/// let text = br#"{"level":"warning"}"#;
/// let params: SetLevelParams<'_> = Raw::parse(text, 16)?.decode(&mut [])?;
/// assert_eq!(params.level, LoggingLevel::Warning);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::LoggingMessageParams;
///
/// let text = br#"{"level":"info","data":"started"}"#;
/// let message: LoggingMessageParams<'_> = Raw::parse(text, 16)?.decode(&mut [])?;
/// assert_eq!(message.data.as_str(), "\"started\"");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
