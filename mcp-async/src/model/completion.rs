//! Suggestions for an argument.

use serde::{Deserialize, Serialize};

use super::{Meta, lenient};

/// The prompt or the template whose argument is typed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type")]
pub enum Reference {
    /// A prompt.
    #[serde(rename = "ref/prompt")]
    Prompt {
        /// Its name.
        name: String,
    },
    /// A resource or a template of resources.
    #[serde(rename = "ref/resource")]
    Resource {
        /// The URI or the template.
        uri: String,
    },
}

impl Reference {
    /// A prompt by its name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt { name: name.into() }
    }

    /// A resource by its URI, or a template by its own.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource { uri: uri.into() }
    }
}

/// The result of `completion/complete`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:CompleteResult", rename_all = "camelCase")]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

/// Suggestions for an argument.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:Completion", rename_all = "camelCase")]
pub struct Completion {
    /// At most 100 (`CP-02`), the best first.
    pub values: Vec<String>,
    /// How many there are in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
    /// Whether there are more than these.
    #[serde(
        default,
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "lenient::is_false"
    )]
    pub has_more: bool,
}

impl Completion {
    /// The most suggestions that one answer may hold (`CP-02`).
    pub const MAX_VALUES: usize = 100;

    /// The first suggestions, as many as `limit` and [`MAX_VALUES`](Self::MAX_VALUES) allow; how
    /// many there are in all, and whether that is more.
    pub fn first<T: Into<String>>(values: impl IntoIterator<Item = T>, limit: usize) -> Self {
        let mut all = values.into_iter();
        let limit = limit.min(Self::MAX_VALUES);
        let values: Vec<String> = all.by_ref().take(limit).map(Into::into).collect();
        let rest = all.count();
        Self {
            total: Some((values.len() as u64).saturating_add(rest as u64)),
            values,
            has_more: rest > 0,
        }
    }
}

/// The first hundred of them.
impl<T: Into<String>> FromIterator<T> for Completion {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::first(values, Self::MAX_VALUES)
    }
}
