//! Lists, by their kinds.

use mcp_async::client::Update;

/// A set of lists: those to read, or those that changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lists {
    /// The tools.
    pub tools: bool,
    /// The prompts.
    pub prompts: bool,
    /// The resources, and the templates of resources.
    pub resources: bool,
}

impl Lists {
    /// No list.
    pub const NONE: Self = Self {
        tools: false,
        prompts: false,
        resources: false,
    };
    /// The tools.
    pub const TOOLS: Self = Self {
        tools: true,
        ..Self::NONE
    };
    /// The prompts.
    pub const PROMPTS: Self = Self {
        prompts: true,
        ..Self::NONE
    };
    /// The resources, and the templates of resources.
    pub const RESOURCES: Self = Self {
        resources: true,
        ..Self::NONE
    };
    /// All lists.
    pub const ALL: Self = Self {
        tools: true,
        prompts: true,
        resources: true,
    };

    /// Returns the lists of both sets.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self {
            tools: self.tools || other.tools,
            prompts: self.prompts || other.prompts,
            resources: self.resources || other.resources,
        }
    }

    /// Returns whether the set has no list.
    pub const fn is_empty(self) -> bool {
        !(self.tools || self.prompts || self.resources)
    }
}

/// The lists to read again after an update of a server.
impl From<&Update> for Lists {
    fn from(update: &Update) -> Self {
        match update {
            Update::Tools => Self::TOOLS,
            Update::Prompts => Self::PROMPTS,
            Update::Resources => Self::RESOURCES,
            Update::Reconnected => Self::ALL,
            _ => Self::NONE,
        }
    }
}
