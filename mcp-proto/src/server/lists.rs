//! The three lists whose changes can be notified.

use crate::rpc::Method;

/// A list that changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListKind {
    /// The tools.
    Tools,
    /// The prompts.
    Prompts,
    /// The resources, or the templates of resources.
    Resources,
}

impl ListKind {
    pub(super) const ALL: [Self; 3] = [Self::Tools, Self::Prompts, Self::Resources];

    pub(super) const fn notification(self) -> Method<'static> {
        match self {
            Self::Tools => Method::ToolsListChanged,
            Self::Prompts => Method::PromptsListChanged,
            Self::Resources => Method::ResourcesListChanged,
        }
    }

    /// The member of the filter of `subscriptions/listen`.
    pub(super) const fn filter(self) -> &'static str {
        match self {
            Self::Tools => "toolsListChanged",
            Self::Prompts => "promptsListChanged",
            Self::Resources => "resourcesListChanged",
        }
    }
}

/// A set of lists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lists(u8);

impl Lists {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn contains(self, kind: ListKind) -> bool {
        self.0 & 1 << kind as u8 != 0
    }

    pub(super) const fn with(self, kind: ListKind) -> Self {
        Self(self.0 | 1 << kind as u8)
    }

    pub(super) const fn without(self, kind: ListKind) -> Self {
        Self(self.0 & !(1 << kind as u8))
    }

    pub(super) fn first(self) -> Option<ListKind> {
        ListKind::ALL.into_iter().find(|kind| self.contains(*kind))
    }
}
