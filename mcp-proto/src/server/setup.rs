//! A server's configuration as its machines keep it.

use core::time::Duration;

use super::config::ServerConfig;
use crate::limits::Limits;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::mistakes;
use crate::model::{CacheScope, LoggingLevel, ServerCapabilities, ServerFeatures};
use crate::ping::PingPolicy;
use crate::revision::{Revision, RevisionSet};
use crate::texts::{BorrowedTexts, Texts};

/// A [`ServerConfig`] as machines keep it: numbers and flags, and texts that are either borrowed or,
/// with the feature `alloc`, shared by a reference count.
///
/// Whatever takes it takes a [`ServerConfig`] as well, whose texts it borrows. A server whose texts
/// are known at run time only begins with [`shared`](Self::shared).
#[derive(Clone, Debug)]
pub struct ServerSetup<'c> {
    /// See [`ServerConfig::revisions`].
    pub revisions: RevisionSet,
    /// See [`ServerConfig::limits`].
    pub limits: Limits,
    /// See [`ServerConfig::ping`].
    pub ping: Option<PingPolicy>,
    /// See [`ServerConfig::progress_interval`].
    pub progress_interval: Duration,
    /// See [`ServerConfig::overdue_after`].
    pub overdue_after: u32,
    /// See [`ServerConfig::identify`].
    pub identify: bool,
    /// See [`ServerConfig::discover_ttl`].
    pub discover_ttl: u32,
    /// See [`ServerConfig::discover_scope`].
    pub discover_scope: CacheScope,
    /// See [`ServerConfig::log_level`].
    pub log_level: LoggingLevel,
    /// See [`ServerConfig::cancel_alias`].
    pub cancel_alias: bool,
    /// See [`ServerConfig::null_ids`].
    pub null_ids: bool,
    /// See [`ServerConfig::draft_profile`].
    pub draft_profile: bool,
    /// The features that the capabilities declare.
    pub(super) declared: ServerFeatures,
    pub(super) texts: Texts<'c, ServerCapabilities<'c>>,
}

impl<'c> ServerSetup<'c> {
    fn new(config: &ServerConfig<'_>, texts: Texts<'c, ServerCapabilities<'c>>) -> Self {
        Self {
            revisions: config.revisions,
            limits: config.limits,
            ping: config.ping,
            progress_interval: config.progress_interval,
            overdue_after: config.overdue_after,
            identify: config.identify,
            discover_ttl: config.discover_ttl,
            discover_scope: config.discover_scope,
            log_level: config.log_level,
            cancel_alias: config.cancel_alias,
            null_ids: config.null_ids,
            draft_profile: config.draft_profile,
            declared: ServerFeatures::from(&config.capabilities),
            texts,
        }
    }

    /// Returns the revision for a client that offers this one in `initialize`: the same if it is
    /// accepted, otherwise the newest that is (LC-04); `None` if no legacy revision is accepted.
    pub(super) fn negotiate(&self, offered: Option<Revision>) -> Option<Revision> {
        offered
            .filter(|revision| revision.is_legacy() && self.revisions.contains(*revision))
            .or_else(|| self.revisions.newest_legacy())
    }

    pub(super) fn has_legacy(&self) -> bool {
        self.revisions.newest_legacy().is_some()
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl ServerSetup<'static> {
    /// Copies the texts of a configuration into memory that is freed with the last clone of this
    /// setup and the last machine made of it. A clone copies no text.
    ///
    /// ```
    /// use mcp_proto::server::{Growing, Server, ServerConfig, ServerSetup};
    ///
    /// fn server(tenant: &str) -> Result<Server<'static, Growing>, mcp_proto::ConfigError> {
    ///     let name = format!("notes of {tenant}");
    ///     Server::new(ServerSetup::shared(&ServerConfig::new(&name, "1.0")), Growing)
    /// }
    /// assert!(server("ada").is_ok());
    /// ```
    #[must_use]
    pub fn shared(config: &ServerConfig<'_>) -> Self {
        let texts = texts(config);
        Self::new(config, Texts::shared(&texts, mistakes::first(&texts)))
    }
}

impl<'c> From<ServerConfig<'c>> for ServerSetup<'c> {
    fn from(config: ServerConfig<'c>) -> Self {
        Self::new(&config, Texts::Borrowed(texts(&config)))
    }
}

const fn texts<'c>(config: &ServerConfig<'c>) -> BorrowedTexts<'c, ServerCapabilities<'c>> {
    BorrowedTexts {
        info: config.info,
        capabilities: config.capabilities,
        instructions: config.instructions,
        methods: config.methods,
        filters: config.filters,
        result_types: &[],
        extension_revisions: config.extension_revisions,
    }
}
