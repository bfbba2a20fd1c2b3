//! The configuration of a server as it is checked and measured.

use super::config::{ServerConfig, ServerSettings};
use super::listen::is_filter_key;
use super::lists::ListKind;
use super::reply;
use super::storage::Storage;
use crate::config_error::ConfigError;
use crate::limits::Limits;
use crate::model::{ServerCapabilities, ServerFeatures};
use crate::prepared_config::{Config, PreparedConfig};
use crate::revision::Revision;
use crate::rpc::Method;
use crate::texts::BorrowedTexts;

impl<'c> Config for ServerConfig<'c> {
    type Settings = Self;
    type Capabilities = ServerCapabilities<'c>;
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    type Unborrowed = ServerConfig<'static>;

    #[inline(always)]
    fn settings(&self) -> &Self {
        self
    }

    fn settings_mut(&mut self) -> Option<&mut Self> {
        Some(self)
    }

    #[inline(always)]
    fn limits(&self) -> &Limits {
        &self.limits
    }

    #[inline(always)]
    fn texts(&self) -> BorrowedTexts<'_, ServerCapabilities<'c>> {
        BorrowedTexts {
            info: &self.info,
            capabilities: &self.capabilities,
            instructions: self.instructions,
            methods: self.methods,
            filters: self.filters,
            result_types: &[],
            extension_revisions: self.extension_revisions,
        }
    }

    fn declared_bits(&self) -> u16 {
        ServerFeatures::from(&self.capabilities).to_bits()
    }

    fn reserve(prepared: &PreparedConfig<Self>) -> usize {
        reply::reserve(prepared)
    }

    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    fn without_texts(&self) -> ServerConfig<'static> {
        self.others()
    }
}

impl<'c, C: ServerSettings<'c>> PreparedConfig<C> {
    /// The features that the capabilities declare.
    pub(crate) fn declared(&self) -> ServerFeatures {
        ServerFeatures::of_bits(self.declared_bits())
    }

    /// Returns true if the revision lets a client send this method, and we declared that we serve
    /// it (LC-17).
    pub(super) fn serves(&self, method: Method<'_>, revision: Revision) -> bool {
        if let Method::Other(name) = method {
            return self.texts().has_method(name);
        }
        // 2024-11-05 has no capability for completions, but who has none should say so (CP-08).
        let completes = method != Method::CompletionComplete
            || self.declared().contains(ServerFeatures::COMPLETIONS);
        let facts = method.facts();
        completes
            && self.declared().allow(method, revision)
            && !facts.is_notification()
            && facts.client.contains(revision)
    }

    /// Returns true if the server declared that it sends notifications of changes of this list.
    pub(super) fn tells_of(&self, kind: ListKind) -> bool {
        let facts = kind.notification().facts();
        self.declared().contains(facts.server_declares)
    }

    /// Checks that a server with this storage can be made of it.
    ///
    /// # Errors
    ///
    /// See [`ConfigError`].
    pub fn check<S: Storage>(&self) -> Result<(), ConfigError> {
        if let Some(mistake) = self.mistake() {
            return Err(mistake);
        }
        if self.texts().filters().any(is_filter_key) {
            return Err(ConfigError::FilterKey);
        }
        if S::served(self.revisions).is_empty() {
            return Err(ConfigError::NoRevision);
        }
        if self.ping.is_some() && !S::ASKS {
            return Err(ConfigError::NoRoomForPings);
        }
        let has_listens = S::LISTENS || !S::MODERN;
        let needs_listens = self.texts().filters().next().is_some();
        if self.declared().intersects(S::LACKS) || needs_listens && !has_listens {
            return Err(ConfigError::NoRoomForSubscriptions);
        }
        let needed = self.least_output(S::ID_ECHO);
        if self.limits.output < needed {
            return Err(ConfigError::OutputTooSmall { needed });
        }
        Ok(())
    }
}
