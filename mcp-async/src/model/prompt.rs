//! Prompts.

use super::{Content, GetPromptResult, Prompt, PromptArgument, PromptMessage, Role};

impl Prompt {
    /// A name, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// The name to show to users: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}

impl PromptArgument {
    /// A gap that may stay empty.
    pub fn optional(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            ..Self::default()
        }
    }

    /// A gap that must be filled.
    pub fn required(name: impl Into<String>) -> Self {
        Self {
            required: true,
            ..Self::optional(name)
        }
    }
}

impl From<Vec<PromptMessage>> for GetPromptResult {
    fn from(messages: Vec<PromptMessage>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }
}

impl PromptMessage {
    /// Creates a message with the role `user`.
    pub fn user(content: impl Into<Content>) -> Self {
        Self {
            role: Role::User,
            content: content.into(),
        }
    }

    /// Creates a message with the role `assistant`.
    pub fn assistant(content: impl Into<Content>) -> Self {
        Self {
            role: Role::Assistant,
            content: content.into(),
        }
    }
}
