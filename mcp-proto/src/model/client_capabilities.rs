//! The capabilities of a client, as messages carry them.

use serde::{Deserialize, Serialize};

use super::{Settings, lenient};

/// What a client declares: in `initialize`, and since 2026-07-28 on each request.
///
/// A member that is there is a capability, even if it is empty. [`ClientFeatures`] says the same
/// in one word.
///
/// [`ClientFeatures`]: super::ClientFeatures
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ClientCapabilities", rename_all = "camelCase")]
pub struct ClientCapabilities<'b> {
    /// Non-standard capabilities.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Settings<'b>>,
    /// It has roots to show.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub roots: Option<RootsCapability>,
    /// It has a model to ask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingCapability<'b>>,
    /// It has a person to ask; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationCapability<'b>>,
    /// It makes tasks of questions; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<ClientTasksCapability<'b>>,
    /// Settings by the name of an extension; since 2026-07-28, and read in every revision (EX-02).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extensions: Option<Settings<'b>>,
}

/// Roots to show.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:RootsCapability", rename_all = "camelCase")]
pub struct RootsCapability {
    /// It tells when they change; until 2025-11-25.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub list_changed: bool,
}

/// A model to ask.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:SamplingCapability", rename_all = "camelCase")]
pub struct SamplingCapability<'b> {
    /// It can add context; since 2025-11-25.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub context: Option<Settings<'b>>,
    /// The model can use tools; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Settings<'b>>,
}

/// A person to ask. If it says nothing, it is by forms.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitationCapability", rename_all = "camelCase")]
pub struct ElicitationCapability<'b> {
    /// By forms; since 2025-11-25.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub form: Option<Settings<'b>>,
    /// By pages to visit; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<Settings<'b>>,
}

/// Tasks made of questions; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ClientTasksCapability", rename_all = "camelCase")]
pub struct ClientTasksCapability<'b> {
    /// They can be listed.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub list: Option<Settings<'b>>,
    /// They can be cancelled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cancel: Option<Settings<'b>>,
    /// The questions that may become tasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ClientTaskRequests<'b>>,
}

/// Questions that may become tasks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ClientTaskRequests", rename_all = "camelCase")]
pub struct ClientTaskRequests<'b> {
    /// Those about sampling.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub sampling: Option<SamplingTasks<'b>>,
    /// Those about elicitation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation: Option<ElicitationTasks<'b>>,
}

/// Questions about sampling that may become tasks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:SamplingTasks", rename_all = "camelCase")]
pub struct SamplingTasks<'b> {
    /// `sampling/createMessage`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub create_message: Option<Settings<'b>>,
}

/// Questions about elicitation that may become tasks.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ElicitationTasks", rename_all = "camelCase")]
pub struct ElicitationTasks<'b> {
    /// `elicitation/create`.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub create: Option<Settings<'b>>,
}
