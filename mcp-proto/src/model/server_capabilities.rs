//! The capabilities of a server, as messages carry them.

use serde::{Deserialize, Serialize};

use super::{Settings, lenient};

/// What a server declares: in the answer to `initialize`, and since 2026-07-28 in that to
/// `server/discover`.
///
/// A member that is there is a capability, even if it is empty. [`ServerFeatures`] says the same
/// in one word.
///
/// [`ServerFeatures`]: super::ServerFeatures
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ServerCapabilities", rename_all = "camelCase")]
pub struct ServerCapabilities<'b> {
    /// Non-standard capabilities.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Settings<'b>>,
    /// It logs to the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<Settings<'b>>,
    /// It completes arguments; since 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completions: Option<Settings<'b>>,
    /// It has prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompts: Option<PromptsCapability>,
    /// It has resources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ResourcesCapability>,
    /// It has tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolsCapability>,
    /// It makes tasks of requests; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<ServerTasksCapability<'b>>,
    /// Settings by the name of an extension; since 2026-07-28, and read in every revision (EX-02).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Settings<'b>>,
}

/// Prompts.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:PromptsCapability", rename_all = "camelCase")]
pub struct PromptsCapability {
    /// It tells when their list changes.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub list_changed: bool,
}

/// Resources.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourcesCapability", rename_all = "camelCase")]
pub struct ResourcesCapability {
    /// It tells when one changes.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub subscribe: bool,
    /// It tells when their list changes.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub list_changed: bool,
}

/// Tools.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolsCapability", rename_all = "camelCase")]
pub struct ToolsCapability {
    /// It tells when their list changes.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub list_changed: bool,
}

/// Tasks made of requests; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ServerTasksCapability", rename_all = "camelCase")]
pub struct ServerTasksCapability<'b> {
    /// They can be listed.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub list: Option<Settings<'b>>,
    /// They can be cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Settings<'b>>,
    /// The requests that may become tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ServerTaskRequests<'b>>,
}

/// Requests that may become tasks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ServerTaskRequests", rename_all = "camelCase")]
pub struct ServerTaskRequests<'b> {
    /// Those about tools.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub tools: Option<ToolTasks<'b>>,
}

/// Requests about tools that may become tasks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolTasks", rename_all = "camelCase")]
pub struct ToolTasks<'b> {
    /// `tools/call`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub call: Option<Settings<'b>>,
}
