//! Suggestions for an argument.

use super::{Completion, PromptReference, Reference, ResourceReference};

impl Reference {
    /// Creates the reference to a prompt by its name.
    pub fn prompt(name: impl Into<String>) -> Self {
        Self::Prompt(PromptReference {
            name: name.into(),
            title: None,
        })
    }

    /// Creates the reference to a resource by its URI, or to a template by its own.
    pub fn resource(uri: impl Into<String>) -> Self {
        Self::Resource(ResourceReference { uri: uri.into() })
    }
}

impl Completion {
    /// The most suggestions that one answer may hold.
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
