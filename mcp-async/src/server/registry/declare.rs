//! Declares what a server serves.

use mcp_proto::json::{Map, Raw, RawBuf};
use mcp_proto::model::{ServerCapabilities, ServerFeatures as F};
use mcp_proto::server::{Growing, ListKind, ServerConfig};
use mcp_proto::{ConfigError, CustomMethod, PreparedConfig};

use super::settings::Settings;
use crate::server::items::catalog::Catalog;
use crate::server::items::register_error::RegisterError;

/// Whom a connection serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The sender is not verified.
    Anonymous,
    /// The sender is a [`Principal`](crate::server::Principal).
    Known,
}

impl Caller {
    const fn is_known(self) -> bool {
        matches!(self, Self::Known)
    }
}

impl Settings {
    /// Returns the mistakes in the settings.
    pub(in crate::server) fn mistakes(&self, catalog: &Catalog) -> Vec<RegisterError> {
        let mut mistakes = Vec::new();
        if self.page_size == 0 {
            mistakes.push(RegisterError::zero("page_size"));
        }
        let declared = served(self, catalog, Caller::Anonymous);
        let extensions = self.extensions.iter();
        mistakes.extend(extensions.filter_map(|extension| extension.check(declared)));
        let declared = declare(self, catalog, Caller::Known);
        if let Err(error) = declared.check::<Growing>() {
            let setting = match error {
                ConfigError::OutputTooSmall { .. } => Some("limits"),
                ConfigError::NoRevision => Some("revisions"),
                ConfigError::MethodName => Some("method"),
                // Other mistakes of extensions and methods are found where they are named.
                _ => None,
            };
            mistakes.extend(setting.map(|name| RegisterError::setting(name, &error)));
        }
        mistakes
    }
}

/// The capabilities of what is served, without extensions.
fn served(settings: &Settings, catalog: &Catalog, caller: Caller) -> F {
    let no_resources =
        catalog.resources.is_empty() && catalog.templates.is_empty() && settings.listers.is_empty();
    let lists = [
        (
            ListKind::Prompts,
            catalog.prompts.is_empty(),
            F::PROMPTS,
            F::PROMPTS_LIST_CHANGED,
        ),
        (
            ListKind::Resources,
            no_resources,
            F::RESOURCES,
            F::RESOURCES_LIST_CHANGED,
        ),
        (
            ListKind::Tools,
            catalog.tools.is_empty(),
            F::TOOLS,
            F::TOOLS_LIST_CHANGED,
        ),
    ];
    let core_tasks = F::TASKS.with(F::TASKS_CANCEL).with(F::TASKS_TOOLS_CALL);
    let mut served = F::NONE;
    let mut serve = |condition: bool, features: F| {
        if condition {
            served = served.with(features);
        }
    };
    for (kind, is_empty, list, list_changed) in lists {
        let said = settings.list_changed.contains(&kind);
        serve(said || !is_empty, list);
        serve(
            said || (settings.change_notifications && !is_empty),
            list_changed,
        );
        if kind == ListKind::Resources {
            let subscribe = settings.change_notifications && (said || !is_empty);
            serve(subscribe, F::RESOURCES_SUBSCRIBE);
        }
    }
    serve(settings.logging, F::LOGGING);
    serve(catalog.completes(), F::COMPLETIONS);
    serve(settings.core_tasks, core_tasks);
    // Only a list of the caller's own tasks can be offered (TK-19).
    serve(settings.core_tasks && caller.is_known(), F::TASKS_LIST);
    served
}

/// Declares what is served to this caller, and nothing else.
pub(in crate::server) fn declare(
    settings: &Settings,
    catalog: &Catalog,
    caller: Caller,
) -> PreparedConfig<ServerConfig<'static>> {
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
        ..served(settings, catalog, caller).capabilities()
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
    let mut config: ServerConfig<'_> = settings.config;
    config.info = info.decode().unwrap_or(config.info);
    config.instructions = settings.instructions.as_deref();
    config.capabilities = capabilities;
    config.extension_revisions = &extension_revisions;
    if let Some(scope) = settings.hint.scope {
        config.discover_ttl = u32::try_from(settings.hint.ttl_ms).unwrap_or(u32::MAX);
        config.discover_scope = scope;
    }
    config.methods = &methods;
    config.filters = &filters;
    PreparedConfig::from(config).shared()
}

/// A name with its settings, as the core borrows them.
fn member<'s>(name: &'s str, settings: &'s RawBuf) -> (&'s str, Raw<'s>) {
    (name, settings.as_raw())
}
