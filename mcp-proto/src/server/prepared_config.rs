//! A validated configuration, with values derived from it.

use core::fmt;
use core::marker::PhantomData;

use super::config::ServerConfig;
use super::listen::is_filter_key;
use super::reply;
use super::setup::ServerSetup;
use super::storage::Storage;
use crate::config_error::ConfigError;
use crate::limits::OutputTooSmall;
use crate::mistakes;
use crate::model::ServerFeatures;
use crate::store::Table;

/// A checked [`ServerSetup`] for servers with the storage `S`, with the sizes of what the core says
/// of it measured: for those who make many servers of one configuration.
/// [`Server::new`](super::Server::new) takes either, and fails with a configuration only.
///
/// ```
/// use mcp_proto::Machine;
/// use mcp_proto::server::{Fixed, PreparedConfig, Server, ServerConfig};
///
/// let config = ServerConfig::new("demo", "1.0");
/// let prepared = PreparedConfig::new(config)?;
/// let storage = || Fixed::new();
/// let Ok(one) = Server::new(prepared.clone(), storage());
/// let Ok(other) = Server::new(prepared, storage());
/// assert_eq!(one.reserve(), other.reserve());
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub struct PreparedConfig<'c, S> {
    pub(super) config: ServerSetup<'c>,
    /// The most that a reply can take.
    pub(super) reserve: usize,
    storage: PhantomData<fn(S)>,
}

impl<'c, S: Storage> PreparedConfig<'c, S> {
    /// Measures what a server of this configuration says of itself.
    ///
    /// # Errors
    ///
    /// See [`ConfigError`].
    pub fn new(config: impl Into<ServerSetup<'c>>) -> Result<Self, ConfigError> {
        let config = config.into();
        if let Some(mistake) = config.texts.mistake(mistakes::first) {
            return Err(mistake);
        }
        let mut judged = false;
        (config.texts).each_filter(|key| judged |= is_filter_key(key));
        if judged {
            return Err(ConfigError::FilterKey);
        }
        if config.revisions.is_empty() {
            return Err(ConfigError::NoRevision);
        }
        if !S::Questions::HOLDS && config.ping.is_some() {
            return Err(ConfigError::NoRoomForPings);
        }
        if !S::Uris::HOLDS
            && config
                .declared
                .contains(ServerFeatures::RESOURCES_SUBSCRIBE)
        {
            return Err(ConfigError::NoRoomForSubscriptions);
        }
        let prepared = Self::measured(config);
        let needed = prepared.reserve.saturating_add(1);
        if prepared.config.limits.output < needed {
            return Err(OutputTooSmall { needed }.into());
        }
        Ok(prepared)
    }

    /// Prepares a configuration as [`new`](Self::new) does, with [`Limits::output`](crate::Limits::output) raised to one answer
    /// of the core if it is less. If the storage has no room for subscriptions, requests for them are refused, whatever is
    /// declared. Nothing else is checked.
    pub fn with_room(config: impl Into<ServerSetup<'c>>) -> Self {
        let mut prepared = Self::measured(config.into());
        if !S::Uris::HOLDS {
            let declared = &mut prepared.config.declared;
            *declared = declared.without(ServerFeatures::RESOURCES_SUBSCRIBE);
        }
        let output = &mut prepared.config.limits.output;
        *output = (*output).max(prepared.reserve.saturating_add(1));
        prepared
    }

    fn measured(config: ServerSetup<'c>) -> Self {
        Self {
            reserve: reply::reserve(&config).saturating_add(S::ID_ECHO),
            config,
            storage: PhantomData,
        }
    }

    /// Sets the number of [requests in flight](crate::Limits::in_flight).
    #[must_use]
    pub const fn with_in_flight(mut self, requests: usize) -> Self {
        self.config.limits.in_flight = requests;
        self
    }

    /// Returns the configuration that was checked.
    pub const fn config(&self) -> &ServerSetup<'c> {
        &self.config
    }
}

impl<'c, S: Storage> TryFrom<ServerConfig<'c>> for PreparedConfig<'c, S> {
    type Error = ConfigError;

    fn try_from(config: ServerConfig<'c>) -> Result<Self, ConfigError> {
        Self::new(config)
    }
}

impl<'c, S: Storage> TryFrom<ServerSetup<'c>> for PreparedConfig<'c, S> {
    type Error = ConfigError;

    fn try_from(config: ServerSetup<'c>) -> Result<Self, ConfigError> {
        Self::new(config)
    }
}

impl<S> Clone for PreparedConfig<'_, S> {
    fn clone(&self) -> Self {
        Self {
            config: self.config.clone(),
            ..*self
        }
    }
}

impl<S> fmt::Debug for PreparedConfig<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}
