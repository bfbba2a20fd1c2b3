//! Declares what a server serves.

use mcp_proto::CustomMethod;
use mcp_proto::json::{Map, Raw, RawBuf};
use mcp_proto::model::{
    PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability,
};
use mcp_proto::server::{Growing, ListKind, PreparedConfig, ServerConfig, ServerSetup};

use super::catalog::Catalog;
use super::register_error::RegisterError;
use super::settings::Settings;

impl Settings {
    /// What cannot be meant.
    pub(super) fn mistakes(&self, catalog: &Catalog) -> Vec<RegisterError> {
        let mut mistakes = Vec::new();
        if self.page_size == 0 {
            mistakes.push(RegisterError::zero("page_size"));
        }
        if let Err(error) = PreparedConfig::<Growing>::new(declare(self, catalog)) {
            mistakes.push(RegisterError::setting("limits", &error));
        }
        mistakes
    }
}

/// Declares what is served, and nothing else.
pub(super) fn declare(settings: &Settings, catalog: &Catalog) -> ServerSetup<'static> {
    let changes = |kind: ListKind, empty: bool| {
        let said = settings.list_changed.contains(&kind);
        let changes = said || (settings.change_notifications && !empty);
        (said || !empty).then_some(changes)
    };
    let no_resources =
        catalog.resources.is_empty() && catalog.templates.is_empty() && settings.listers.is_empty();
    let experimental = members(&settings.experimental);
    let extensions = members(&settings.extensions);
    let capabilities = ServerCapabilities {
        experimental: (!experimental.is_empty()).then_some(Map::new(&experimental)),
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
        tasks: None,
        extensions: (!extensions.is_empty()).then_some(Map::new(&extensions)),
    };
    let info = RawBuf::encode(&settings.info).unwrap_or_default();
    let methods: Vec<_> = settings
        .methods
        .iter()
        .map(|method| CustomMethod::new(&method.name))
        .collect();
    let mut config = ServerConfig::new("", "");
    config.info = info.decode().unwrap_or(config.info);
    config.instructions = settings.instructions.as_deref();
    config.capabilities = capabilities;
    config.revisions = settings.revisions;
    config.limits = settings.limits;
    config.ping = settings.ping;
    config.progress_interval = settings.progress_interval;
    if let Some(scope) = settings.hint.scope {
        config.discover_ttl = u32::try_from(settings.hint.ttl_ms).unwrap_or(u32::MAX);
        config.discover_scope = scope;
    }
    config.methods = &methods;
    ServerSetup::shared(&config)
}

/// Names with their settings, as the core borrows them.
fn members(pairs: &[(String, RawBuf)]) -> Vec<(&str, Raw<'_>)> {
    pairs
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_raw()))
        .collect()
}
