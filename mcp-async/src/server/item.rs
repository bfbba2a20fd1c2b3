//! What can be registered.

use core::fmt;

use super::catalog::Keyed as _;
use super::prompt::Prompt;
use super::resource::Resource;
use super::template::Template;
use super::tool::Tool;

/// Something to register: [`Server::with`](crate::Server::with) and
/// [`Registry::add`](super::Registry::add) take whatever becomes one.
///
/// ```
/// use mcp_async::server::{Item, NoArguments, Tool};
///
/// let tool = Tool::new("greet").handler(|_: NoArguments, _| async { Ok("hello") });
/// assert!(matches!(Item::from(tool), Item::Tool(_)));
/// ```
#[derive(Debug)]
pub enum Item {
    /// A tool.
    Tool(Box<Tool>),
    /// A resource.
    Resource(Box<Resource>),
    /// Resources behind a template.
    Template(Box<Template>),
    /// A prompt.
    Prompt(Box<Prompt>),
}

impl Item {
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

impl From<Tool> for Item {
    fn from(tool: Tool) -> Self {
        Self::Tool(Box::new(tool))
    }
}

impl From<Resource> for Item {
    fn from(resource: Resource) -> Self {
        Self::Resource(Box::new(resource))
    }
}

impl From<Template> for Item {
    fn from(template: Template) -> Self {
        Self::Template(Box::new(template))
    }
}

impl From<Prompt> for Item {
    fn from(prompt: Prompt) -> Self {
        Self::Prompt(Box::new(prompt))
    }
}

/// Why something cannot be served.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Template;
///
/// let server = Server::<()>::new("demo", "1.0");
/// let broken = Template::new("notes://{id", "note").raw(|_, _| async { Ok("") });
/// let error = server.registry().add(broken).unwrap_err();
/// assert_eq!((error.kind(), error.name()), ("template", "notes://{id"));
/// assert!(error.to_string().starts_with("template `notes://{id`: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterError {
    kind: &'static str,
    name: String,
    reason: String,
}

impl RegisterError {
    /// What it was to be: `tool`, `resource`, `template`, `prompt` or `capability`.
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
