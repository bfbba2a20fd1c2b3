//! A configuration and what follows from it.

use core::fmt;

use super::config::ServerConfig;
use super::reply;
use crate::limits::Limits;

/// A [`ServerConfig`], with the sizes of what the core says of it measured: for those who make
/// many servers of one configuration. [`Server::new`](super::Server::new) takes either.
///
/// ```
/// use mcp_proto::Machine;
/// use mcp_proto::server::{Blueprint, Fixed, Server, ServerConfig};
///
/// let config = ServerConfig::new("demo", "1.0");
/// let blueprint = Blueprint::new(config);
/// let storage = Fixed::<64, 4, 1, 0, 0>::new;
/// let one = Server::new(blueprint, storage());
/// let other = Server::new(config, storage());
/// assert_eq!(one.reserve(), other.reserve());
/// ```
#[derive(Clone, Copy)]
pub struct Blueprint<'c> {
    pub(super) config: ServerConfig<'c>,
    /// The most that a reply can take.
    pub(super) reserve: usize,
    /// The bytes that our name takes in a result.
    pub(super) identity: usize,
}

impl<'c> Blueprint<'c> {
    /// Measures what a server of this configuration says of itself.
    pub fn new(config: ServerConfig<'c>) -> Self {
        Self {
            reserve: reply::reserve(&config),
            identity: reply::identity(&config),
            config,
        }
    }

    /// The same with other bounds, which change nothing of what is said.
    pub const fn with_limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// What it was made of.
    pub const fn config(&self) -> &ServerConfig<'c> {
        &self.config
    }
}

impl<'c> From<ServerConfig<'c>> for Blueprint<'c> {
    fn from(config: ServerConfig<'c>) -> Self {
        Self::new(config)
    }
}

impl fmt::Debug for Blueprint<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.config.fmt(f)
    }
}
