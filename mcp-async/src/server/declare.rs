//! Declares what a server serves.

use mcp_proto::CustomMethod;
use mcp_proto::json::{Map, Raw, RawBuf};
use mcp_proto::model::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ServerFeatures, ServerTaskRequests,
    ServerTasksCapability, ToolTasks, ToolsCapability,
};
use mcp_proto::server::{Growing, ListKind, PreparedConfig, ServerConfig, ServerSetup};

use super::catalog::Catalog;
use super::register_error::RegisterError;
use super::settings::Settings;

/// Whom a connection serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The sender is not verified.
    Anonymous,
    /// The sender is a [`Principal`](super::Principal).
    Known,
}

impl Caller {
    const fn is_known(self) -> bool {
        matches!(self, Self::Known)
    }
}

impl Settings {
    /// What cannot be meant.
    pub(super) fn mistakes(&self, catalog: &Catalog) -> Vec<RegisterError> {
        let mut mistakes = Vec::new();
        if self.page_size == 0 {
            mistakes.push(RegisterError::zero("page_size"));
        }
        let declared = ServerFeatures::from(&served(self, catalog, Caller::Anonymous));
        let extensions = self.extensions.iter();
        mistakes.extend(extensions.filter_map(|extension| extension.check(declared)));
        if let Err(error) = PreparedConfig::<Growing>::new(declare(self, catalog, Caller::Known)) {
            mistakes.push(RegisterError::setting("limits", &error));
        }
        mistakes
    }
}

/// The capabilities of what is served, without extensions.
fn served(settings: &Settings, catalog: &Catalog, caller: Caller) -> ServerCapabilities<'static> {
    let changes = |kind: ListKind, empty: bool| {
        let said = settings.list_changed.contains(&kind);
        let changes = said || (settings.change_notifications && !empty);
        (said || !empty).then_some(changes)
    };
    let no_resources =
        catalog.resources.is_empty() && catalog.templates.is_empty() && settings.listers.is_empty();
    let tasks = ServerTasksCapability {
        // Only a list of the caller's own tasks can be offered (TK-19).
        list: caller.is_known().then_some(Map::EMPTY),
        cancel: Some(Map::EMPTY),
        requests: Some(ServerTaskRequests {
            tools: Some(ToolTasks {
                call: Some(Map::EMPTY),
            }),
        }),
    };
    ServerCapabilities {
        experimental: None,
        logging: settings.logging.then_some(Map::EMPTY),
        completions: catalog.completes().then_some(Map::EMPTY),
        prompts: changes(ListKind::Prompts, catalog.prompts.is_empty())
            .map(|list_changed| PromptsCapability { list_changed }),
        resources: changes(ListKind::Resources, no_resources).map(|list_changed| {
            ResourcesCapability {
                subscribe: settings.change_notifications,
                list_changed,
            }
        }),
        tools: changes(ListKind::Tools, catalog.tools.is_empty())
            .map(|list_changed| ToolsCapability { list_changed }),
        tasks: settings.core_tasks.then_some(tasks),
        extensions: None,
    }
}

/// Declares what is served to this caller, and nothing else.
pub(super) fn declare(
    settings: &Settings,
    catalog: &Catalog,
    caller: Caller,
) -> ServerSetup<'static> {
    let experimental = settings.experimental.iter();
    let experimental: Vec<_> = experimental
        .map(|(name, value)| member(name, value))
        .collect();
    let extensions = settings.extensions.iter();
    let (extensions, extension_revisions): (Vec<_>, Vec<_>) = extensions
        .map(|extension| {
            let name = extension.name.as_str();
            let declared = member(name, &extension.settings);
            (declared, (name, extension.revisions))
        })
        .unzip();
    let capabilities = ServerCapabilities {
        experimental: (!experimental.is_empty()).then_some(Map::new(&experimental)),
        extensions: (!extensions.is_empty()).then_some(Map::new(&extensions)),
        ..served(settings, catalog, caller)
    };
    let info = RawBuf::encode(&settings.info).unwrap_or_default();
    let methods = settings.methods.iter().map(|method| CustomMethod {
        subject: method.subject.as_deref(),
        requires: method.requires.as_deref(),
        ..CustomMethod::new(&method.name)
    });
    let notifications = settings.notification_names().map(CustomMethod::new);
    let methods: Vec<_> = methods.chain(notifications).collect();
    let filters = settings.filters.iter();
    let filters: Vec<_> = filters.map(|filter| filter.key.as_str()).collect();
    let mut config = ServerConfig::new("", "");
    config.info = info.decode().unwrap_or(config.info);
    config.instructions = settings.instructions.as_deref();
    config.capabilities = capabilities;
    config.extension_revisions = &extension_revisions;
    config.revisions = settings.revisions;
    config.limits = settings.limits;
    config.ping = settings.ping;
    config.progress_interval = settings.progress_interval;
    if let Some(scope) = settings.hint.scope {
        config.discover_ttl = u32::try_from(settings.hint.ttl_ms).unwrap_or(u32::MAX);
        config.discover_scope = scope;
    }
    config.methods = &methods;
    config.filters = &filters;
    ServerSetup::shared(&config)
}

/// A name with its settings, as the core borrows them.
fn member<'s>(name: &'s str, settings: &'s RawBuf) -> (&'s str, Raw<'s>) {
    (name, settings.as_raw())
}
