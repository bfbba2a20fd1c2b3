//! The settings of a host.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use mcp_async::client::{CallbackError, ClientBuilder, RestartPolicy};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, LoggingMessageParams,
    Root,
};

use super::approval::{ToolApproval, ToolConsent};
use super::audit::HostRecord;
use super::context::QuestionContext;
use super::hooks::Hooks;
use super::policy::ServerPolicy;
use super::server::Source;
use crate::catalog::{CatalogLimits, ListError};
use crate::config::{Config, ConfigEntry, Input, Variables};
use crate::entry::ServerEntry;
use crate::naming::Naming;

/// The settings of a [`Host`](super::Host) before it starts.
///
/// Capabilities are declared as they have a hook here and the [policy](Self::policy) lets the server use them.
#[must_use = "a builder does nothing until it starts"]
pub struct HostBuilder {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) sources: Vec<Source>,
    pub(super) naming: Naming,
    pub(super) limits: CatalogLimits,
    pub(super) restart: RestartPolicy,
    pub(super) variables: Variables,
    pub(super) hooks: Hooks,
}

impl HostBuilder {
    pub(super) fn new(name: &str, version: &str) -> Self {
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            sources: Vec::new(),
            naming: Naming::default(),
            limits: CatalogLimits::default(),
            restart: RestartPolicy::default(),
            variables: Variables::from_environment(),
            hooks: Hooks::default(),
        }
    }

    /// Adds a server. Of several servers of one name the first counts.
    pub fn entry(mut self, entry: ServerEntry) -> Self {
        self.sources.push(Source::Entry(entry.into()));
        self
    }

    /// Adds servers.
    pub fn entries(self, entries: impl IntoIterator<Item = ServerEntry>) -> Self {
        entries.into_iter().fold(self, Self::entry)
    }

    /// Adds the servers of a configuration file of the user. Entries that are wrong are left out: see [`Config::errors`].
    pub fn config(mut self, config: &Config) -> Self {
        self.sources.extend(Source::of_config(config, false));
        self
    }

    /// Adds the servers of a file that came with a project (`.mcp.json`, `.vscode/mcp.json`), which others have written.
    ///
    /// Before [`approve_server`](Self::approve_server) has approved one, it is not started or connected to, and none of its
    /// variables is read. Without that hook none is approved.
    pub fn project_config(mut self, config: &Config) -> Self {
        self.sources.extend(Source::of_config(config, true));
        self
    }

    /// Sets the values for `${..}` in configuration files; those of the environment of this process otherwise.
    pub fn variables(mut self, variables: Variables) -> Self {
        self.variables = variables;
        self
    }

    /// Asks a person for an [`Input`] of a configuration file, once in the life of the host. `None` leaves it at its
    /// default.
    pub fn on_input<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(Input) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Option<String>> + Send + 'static,
    {
        self.hooks.input = Some(Arc::new(move |input| Box::pin(hook(input))));
        self
    }

    /// Sets the rule for the names of tools and prompts; `server__name` otherwise.
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Sets the bounds of the merged lists.
    pub fn catalog_limits(mut self, limits: CatalogLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets when servers that have ended are started again; the default of [`RestartPolicy`] otherwise.
    pub fn restart(mut self, policy: RestartPolicy) -> Self {
        self.restart = policy;
        self
    }

    /// Sets what each server may ask; the default of [`ServerPolicy`] for all otherwise. The function is called when a
    /// server is added, with its name.
    pub fn policy(mut self, policy: impl Fn(&str) -> ServerPolicy + Send + Sync + 'static) -> Self {
        self.hooks.policy = Some(Arc::new(policy));
        self
    }

    /// Answers the questions of servers to a person; see [`ClientBuilder::on_elicitation`].
    pub fn on_elicitation<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(ElicitParams, QuestionContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<ElicitResult, CallbackError>> + Send + 'static,
    {
        self.hooks.elicitation = Some(Arc::new(move |asked, cx| Box::pin(hook(asked, cx))));
        self
    }

    /// Answers the questions of servers to a model; see [`ClientBuilder::on_sampling`].
    pub fn on_sampling<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(CreateMessageParams, QuestionContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<CreateMessageResult, CallbackError>> + Send + 'static,
    {
        self.hooks.sampling = Some(Arc::new(move |asked, cx| Box::pin(hook(asked, cx))));
        self
    }

    /// Shows a server the directories that the hook returns for it each time.
    pub fn on_roots<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(QuestionContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<Root>, CallbackError>> + Send + 'static,
    {
        self.hooks.roots = Some(Arc::new(move |cx| Box::pin(hook(cx))));
        self
    }

    /// Approves servers of [files of a project](Self::project_config): show a person the program and arguments or the URL of
    /// the entry, of which nothing is expanded, and the names of its variables. Each [digest](ConfigEntry::digest) is asked
    /// for once in the life of the host; a program that stores it need not ask again until it is another.
    pub fn approve_server<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(Arc<ConfigEntry>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = bool> + Send + 'static,
    {
        self.hooks.approve_server = Some(Arc::new(move |asked| Box::pin(hook(asked))));
        self
    }

    /// Approves calls of tools before they are sent; without this hook all are made. A consent
    /// [while unchanged](ToolConsent::WhileUnchanged) ends when the server changes the tool.
    pub fn approve_tool<F, Fut>(mut self, hook: F) -> Self
    where
        F: Fn(ToolApproval) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ToolConsent> + Send + 'static,
    {
        self.hooks.approve_tool = Some(Arc::new(move |asked| Box::pin(hook(asked))));
        self
    }

    /// Receives a record of each call of the host and each question of a server, when it is over. It must not block.
    pub fn audit(mut self, hook: impl Fn(HostRecord) + Send + Sync + 'static) -> Self {
        self.hooks.audit = Some(Arc::new(hook));
        self
    }

    /// Receives the lines that programs of configuration files write to their standard error: the server and the line. It
    /// must not block.
    pub fn on_stderr(mut self, hook: impl Fn(&str, &str) + Send + Sync + 'static) -> Self {
        self.hooks.stderr = Some(Arc::new(hook));
        self
    }

    /// Receives the log messages of all servers: the server and the message. It must not block.
    pub fn on_log(
        mut self,
        hook: impl Fn(&str, LoggingMessageParams) + Send + Sync + 'static,
    ) -> Self {
        self.hooks.log = Some(Arc::new(hook));
        self
    }

    /// Receives errors of lists that could not be read; the items of the server stay as they were. It must not block.
    pub fn on_list_error(mut self, hook: impl Fn(ListError) + Send + Sync + 'static) -> Self {
        self.hooks.list_error = Some(Arc::new(hook));
        self
    }

    /// Changes the settings of the client of each server, by the name of the server: extensions, limits, timeouts. The
    /// callbacks and the restart policy of the host are set afterwards.
    pub fn client(
        mut self,
        settings: impl Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.hooks.settings = Some(Arc::new(settings));
        self
    }
}

impl fmt::Debug for HostBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuilder")
            .field("name", &self.name)
            .field(
                "servers",
                &self.sources.iter().map(Source::name).collect::<Vec<_>>(),
            )
            .field("naming", &self.naming)
            .finish_non_exhaustive()
    }
}
