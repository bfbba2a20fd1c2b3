//! The settings of an HTTP endpoint.

use core::time::Duration;
#[cfg(feature = "auth")]
use std::sync::Arc;

use mcp_proto::http::{Access, HttpLimits};
use mcp_proto::server::http::streams::StreamLimits;

use super::authenticate::Hook;
use super::http_sse_paths::HttpSsePaths;
#[cfg(feature = "auth")]
use super::protect::TokenGuard;
use super::sharing::ProcessSettings;
use super::trusted_proxies::TrustedProxies;

/// The settings themselves.
#[derive(Debug)]
pub(super) struct Options {
    pub(super) path: Option<String>,
    /// The names that the server may be asked for, those of this machine among them; `None` for all.
    pub(super) hosts: Option<Vec<String>>,
    /// The origins of the web pages that may use it.
    pub(super) origins: Vec<String>,
    pub(super) authenticate: Option<Hook>,
    /// Takes the place of the hook.
    #[cfg(feature = "auth")]
    pub(super) guard: Option<Arc<TokenGuard>>,
    pub(super) http_sse: Option<HttpSsePaths>,
    /// True if `initialize` opens a session.
    pub(super) sessions: bool,
    pub(super) limits: HttpLimits,
    pub(super) max_exchanges: usize,
    pub(super) trusted_proxies: TrustedProxies,
    pub(super) streams: StreamLimits,
    /// Set if other processes share the sessions.
    pub(super) sharing: Option<ProcessSettings>,
    pub(super) lease: Duration,
    pub(super) max_total_body_bytes: usize,
    pub(super) max_total_unread_bytes: usize,
    pub(super) body_timeout: Duration,
    pub(super) keep_alive: Duration,
    pub(super) shutdown_timeout: Duration,
}

impl Options {
    /// Returns true if the server may be asked for by other names than those of this machine.
    pub(super) fn has_other_hosts(&self) -> bool {
        let own = Access::LOOPBACK.hosts.unwrap_or_default();
        self.hosts
            .as_ref()
            .is_none_or(|hosts| hosts.len() > own.len())
    }
}

impl Default for Options {
    fn default() -> Self {
        let owned = |texts: &[&str]| texts.iter().copied().map(String::from).collect();
        Self {
            path: Some("/mcp".into()),
            hosts: Access::LOOPBACK.hosts.map(owned),
            origins: owned(Access::LOOPBACK.origins),
            authenticate: None,
            #[cfg(feature = "auth")]
            guard: None,
            http_sse: None,
            sessions: true,
            limits: HttpLimits::default(),
            max_exchanges: 10_000,
            trusted_proxies: TrustedProxies::default(),
            streams: StreamLimits::default(),
            sharing: None,
            lease: Duration::from_secs(15),
            max_total_body_bytes: 256 << 20,
            max_total_unread_bytes: 256 << 20,
            body_timeout: Duration::from_secs(30),
            keep_alive: Duration::from_secs(15),
            shutdown_timeout: Duration::from_secs(10),
        }
    }
}
