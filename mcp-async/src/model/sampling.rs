//! Sampling: requests to the model of the client.

use super::{
    CreateMessageParams, CreateMessageResult, Meta, ModelHint, ModelPreferences, Role,
    SamplingContent, SamplingMessage,
};

/// ```
/// use mcp_async::model::{CreateMessageParams, SamplingMessage};
///
/// let params = CreateMessageParams {
///     system_prompt: Some("Answer with one word.".into()),
///     ..CreateMessageParams::new(vec![SamplingMessage::user("Which city is this about?")], 100)
/// };
/// assert_eq!(params.max_tokens, 100);
/// ```
impl CreateMessageParams {
    /// Creates a request to continue this conversation, with a maximum number of tokens.
    pub fn new(messages: Vec<SamplingMessage>, max_tokens: u64) -> Self {
        Self {
            messages,
            max_tokens,
            ..Self::default()
        }
    }
}

impl SamplingMessage {
    /// Creates a message with the role `user`.
    pub fn user(content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
            meta: Meta::new(),
        }
    }

    /// Creates a message with the role `assistant`.
    pub fn assistant(content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            ..Self::user(content)
        }
    }
}

/// ```
/// use mcp_async::model::{ModelHint, ModelPreferences};
///
/// let preferences = ModelPreferences {
///     hints: vec![ModelHint::new("sonnet"), ModelHint::new("claude")],
///     ..ModelPreferences::default()
/// };
/// let models = ["claude-3-5-haiku", "claude-3-5-sonnet"];
/// assert_eq!(preferences.select(&models), Some("claude-3-5-sonnet"));
/// assert_eq!(preferences.select(&["llama"]), None);
/// ```
impl ModelPreferences {
    /// The model that the first fitting hint names: the hints in their order, each a part of a
    /// name. `None` leaves the choice to the priorities, or to the client.
    pub fn select<'m>(&self, models: &[&'m str]) -> Option<&'m str> {
        let names = self.hints.iter().filter_map(|hint| hint.name.as_deref());
        let mut found = names
            .filter(|name| !name.is_empty())
            .filter_map(|name| models.iter().find(|model| model.contains(name)));
        found.next().copied()
    }
}

impl ModelHint {
    /// A name of a model, or a part of one.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: Some(name.into()),
        }
    }
}

impl CreateMessageResult {
    /// Creates a result with the role `assistant`, from the name of the model and its content.
    pub fn new(model: impl Into<String>, content: impl Into<SamplingContent>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
            model: model.into(),
            stop_reason: None,
            meta: Meta::new(),
        }
    }
}
