//! Items that can be registered.

use core::fmt;
use std::sync::Arc;

use super::entry::Registered;
use super::prompt::Prompt;
use super::register_error::RegisterError;
use super::resource::Resource;
use super::template::Template;
use super::tool::Tool;

/// Something to register: [`ServerBuilder::with`](crate::server::ServerBuilder::with) and
/// [`Registry::add`](crate::server::Registry::add) take whatever converts into one. `S` is the state that
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
    pub(in crate::server) fn bind(self, state: &Arc<S>) -> Item {
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
        let (kind, key) = self.id();
        f.debug_tuple(kind).field(&key).finish()
    }
}

impl<S> Item<S> {
    pub(in crate::server) fn error(&self, reason: &dyn fmt::Display) -> RegisterError {
        let (kind, key) = self.id();
        RegisterError::new(kind, key, reason)
    }

    fn id(&self) -> (&'static str, &str) {
        match self {
            Self::Tool(tool) => tool.id(),
            Self::Resource(resource) => resource.id(),
            Self::Template(template) => template.id(),
            Self::Prompt(prompt) => prompt.id(),
        }
    }
}
