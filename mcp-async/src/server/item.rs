//! Items that can be registered.

use core::fmt;
use std::sync::Arc;

use super::catalog::Keyed as _;
use super::prompt::Prompt;
use super::resource::Resource;
use super::template::Template;
use super::tool::Tool;

/// Something to register: [`ServerBuilder::with`](super::ServerBuilder::with) and
/// [`Registry::add`](super::Registry::add) take whatever converts into one. `S` is the state that
/// its handlers need.
pub enum Item<S = ()> {
    /// A tool.
    Tool(Box<Tool<S>>),
    /// A resource.
    Resource(Box<Resource<S>>),
    /// Resources behind a template.
    Template(Box<Template<S>>),
    /// A prompt.
    Prompt(Box<Prompt<S>>),
}

impl<S: Send + Sync + 'static> Item<S> {
    /// Gives the handlers their state.
    pub(super) fn bind(self, state: &Arc<S>) -> Item {
        match self {
            Self::Tool(tool) => tool.bind(state).into(),
            Self::Resource(resource) => resource.bind(state).into(),
            Self::Template(template) => template.bind(state).into(),
            Self::Prompt(prompt) => prompt.bind(state).into(),
        }
    }
}

impl<S> fmt::Debug for Item<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, key) = self.key();
        f.debug_tuple(kind).field(&key).finish()
    }
}

impl<S> Item<S> {
    pub(super) fn error(&self, reason: &dyn fmt::Display) -> RegisterError {
        let (kind, key) = self.key();
        RegisterError::new(kind, key, reason)
    }

    /// What it is, and its name, URI or template.
    pub(super) fn key(&self) -> (&'static str, &str) {
        match self {
            Self::Tool(tool) => ("tool", tool.key()),
            Self::Resource(resource) => ("resource", resource.key()),
            Self::Template(template) => ("template", template.key()),
            Self::Prompt(prompt) => ("prompt", prompt.key()),
        }
    }
}

impl<S> From<Tool<S>> for Item<S> {
    fn from(tool: Tool<S>) -> Self {
        Self::Tool(Box::new(tool))
    }
}

impl<S> From<Resource<S>> for Item<S> {
    fn from(resource: Resource<S>) -> Self {
        Self::Resource(Box::new(resource))
    }
}

impl<S> From<Template<S>> for Item<S> {
    fn from(template: Template<S>) -> Self {
        Self::Template(Box::new(template))
    }
}

impl<S> From<Prompt<S>> for Item<S> {
    fn from(prompt: Prompt<S>) -> Self {
        Self::Prompt(Box::new(prompt))
    }
}

/// Why something cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterError {
    kind: &'static str,
    name: String,
    reason: String,
}

impl RegisterError {
    /// What it was to be: `tool`, `resource`, `template`, `prompt`, `method`, `capability` or
    /// `setting`.
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its name, URI or template.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn new(kind: &'static str, name: &str, reason: &dyn fmt::Display) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// A setting of a builder that is zero, and then has no meaning.
    pub(crate) fn zero(name: &str) -> Self {
        Self::setting(name, &"it is zero")
    }

    /// A mistake in a setting of a builder.
    pub(super) fn setting(name: &str, reason: &dyn fmt::Display) -> Self {
        Self::new("setting", name, reason)
    }

    pub(super) fn settings(name: &str) -> Self {
        Self::new("capability", name, &"its settings are no JSON object")
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: {}", self.kind, self.name, self.reason)
    }
}

impl core::error::Error for RegisterError {}

pub(super) const NO_HANDLER: &str = "no handler";
pub(super) const TWICE: &str = "it is registered twice";
