//! Suggestions for an argument.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use super::kind::kind;
use super::{Meta, lenient};
use crate::json::{List, Map, Raw, Str};

/// The parameters of `completion/complete`.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename = "mcp:CompleteParams", rename_all = "camelCase")]
pub struct CompleteParams<'b> {
    /// What the argument belongs to.
    #[serde(rename = "ref", borrow)]
    pub reference: Reference<'b>,
    /// The argument, as far as it is typed.
    pub argument: CompletionArgument<'b>,
    /// What was filled in before (CP-05); since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<CompletionContext<'b>>,
    /// Progress token and anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// What an argument belongs to.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "type")]
pub enum Reference<'b> {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt(PromptReference<'b>),
    /// A resource or a template of resources.
    #[serde(rename = "ref/resource")]
    Resource(ResourceReference<'b>),
    /// Something that no revision defines.
    #[serde(untagged)]
    Other(Raw<'b>),
}

impl<'de: 'b, 'b> Deserialize<'de> for Reference<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Raw::deserialize(deserializer)?;
        let reference = match kind(raw) {
            Some(kind) if kind == "ref/prompt" => raw.decode(&mut []).map(Self::Prompt),
            Some(kind) if kind == "ref/resource" => raw.decode(&mut []).map(Self::Resource),
            Some(_) => Ok(Self::Other(raw)),
            None => return Err(D::Error::missing_field("type")),
        };
        reference.map_err(D::Error::custom)
    }
}

/// A prompt by its name.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:PromptReference", rename_all = "camelCase")]
pub struct PromptReference<'b> {
    /// Its name.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
}

/// A resource by its URI, or a template by its own.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ResourceReference", rename_all = "camelCase")]
pub struct ResourceReference<'b> {
    /// The URI or the template.
    #[serde(borrow)]
    pub uri: Str<'b>,
}

/// An argument, as far as it is typed.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:CompletionArgument", rename_all = "camelCase")]
pub struct CompletionArgument<'b> {
    /// Its name.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// What is typed so far.
    pub value: Str<'b>,
}

/// What was filled in before.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:CompletionContext", rename_all = "camelCase")]
pub struct CompletionContext<'b> {
    /// The arguments and their values.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Map<'b, Str<'b>>>,
}

/// The result of `completion/complete`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:CompleteResult", rename_all = "camelCase")]
pub struct CompleteResult<'b> {
    /// The suggestions.
    #[serde(borrow)]
    pub completion: Completion<'b>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

/// Suggestions for an argument.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:Completion", rename_all = "camelCase")]
pub struct Completion<'b> {
    /// At most 100 (CP-02), the best first.
    #[serde(borrow)]
    pub values: List<'b, Str<'b>>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub has_more: bool,
}
