//! A client's configuration as its machine keeps it.

use super::config::{ClientConfig, Negotiation, Timeouts};
use crate::limits::Limits;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::mistakes;
use crate::model::{ClientCapabilities, ClientFeatures};
use crate::ping::PingPolicy;
use crate::revision::RevisionSet;
use crate::texts::{BorrowedTexts, Texts};

/// A [`ClientConfig`] as machines keep it: numbers and flags, and texts that are either borrowed or,
/// with the feature `alloc`, shared by a reference count.
///
/// Whatever takes it takes a [`ClientConfig`] as well, whose texts it borrows. A client whose texts
/// are known at run time only begins with [`shared`](Self::shared).
#[derive(Clone, Debug)]
pub struct ClientSetup<'c> {
    /// See [`ClientConfig::identify`].
    pub identify: bool,
    /// See [`ClientConfig::revisions`].
    pub revisions: RevisionSet,
    /// See [`ClientConfig::negotiation`].
    pub negotiation: Negotiation,
    /// See [`ClientConfig::timeouts`].
    pub timeouts: Timeouts,
    /// See [`ClientConfig::progress_extends`].
    pub progress_extends: bool,
    /// See [`ClientConfig::ping`].
    pub ping: Option<PingPolicy>,
    /// See [`ClientConfig::cancel_alias`].
    pub cancel_alias: bool,
    /// See [`ClientConfig::max_subscriptions`].
    pub max_subscriptions: usize,
    /// See [`ClientConfig::limits`].
    pub limits: Limits,
    /// The features that the capabilities declare.
    pub(super) declared: ClientFeatures,
    pub(super) texts: Texts<'c, ClientCapabilities<'c>>,
}

impl<'c> ClientSetup<'c> {
    /// The most subscriptions, of so many requests in flight: one at least, if there are to be any.
    pub(super) fn most_subscriptions(&self, in_flight: usize) -> usize {
        let half = (in_flight / 2).max(1);
        self.max_subscriptions.min(half)
    }

    fn new(config: &ClientConfig<'_>, texts: Texts<'c, ClientCapabilities<'c>>) -> Self {
        Self {
            identify: config.identify,
            revisions: config.revisions,
            negotiation: config.negotiation,
            timeouts: config.timeouts,
            progress_extends: config.progress_extends,
            ping: config.ping,
            cancel_alias: config.cancel_alias,
            max_subscriptions: config.max_subscriptions,
            limits: config.limits,
            declared: ClientFeatures::from(&config.capabilities),
            texts,
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl ClientSetup<'static> {
    /// Copies the texts of a configuration into memory that is freed with the last clone of this
    /// setup and the last machine made of it. A clone copies no text.
    ///
    /// ```
    /// use mcp_proto::client::{Client, ClientConfig, ClientSetup, Growing};
    ///
    /// fn client(tenant: &str) -> Result<Client<'static, Growing>, mcp_proto::ConfigError> {
    ///     let name = format!("notes of {tenant}");
    ///     Client::new(ClientSetup::shared(&ClientConfig::new(&name, "1.0")), Growing)
    /// }
    /// assert!(client("ada").is_ok());
    /// ```
    #[must_use]
    pub fn shared(config: &ClientConfig<'_>) -> Self {
        let texts = texts(config);
        Self::new(config, Texts::shared(&texts, mistakes::first(&texts)))
    }
}

impl<'c> From<ClientConfig<'c>> for ClientSetup<'c> {
    fn from(config: ClientConfig<'c>) -> Self {
        Self::new(&config, Texts::Borrowed(texts(&config)))
    }
}

const fn texts<'c>(config: &ClientConfig<'c>) -> BorrowedTexts<'c, ClientCapabilities<'c>> {
    BorrowedTexts {
        info: config.info,
        capabilities: config.capabilities,
        instructions: None,
        methods: config.methods,
        filters: &[],
        result_types: config.result_types,
        extension_revisions: config.extension_revisions,
    }
}
