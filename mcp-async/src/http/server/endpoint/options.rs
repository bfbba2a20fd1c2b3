//! The settings of an HTTP endpoint.

use core::time::Duration;
#[cfg(feature = "auth")]
use std::sync::Arc;

use mcp_proto::http::{Access, HttpLimits};
use mcp_proto::server::http::streams::StreamLimits;

use super::http_sse_paths::HttpSsePaths;
use super::probe::Probe;
use crate::http::server::exchange::trusted_proxies::TrustedProxies;
#[cfg(all(feature = "auth", feature = "http-client"))]
use crate::http::server::login::LoginServer;
use crate::http::server::messages::authenticate::Hook;
use crate::http::server::processes::sharing::ProcessSettings;
#[cfg(feature = "auth")]
use crate::http::server::protect::TokenGuard;
use crate::server::RateLimit;

/// The settings themselves.
#[derive(Debug)]
pub(in crate::http::server) struct Options {
    pub(in crate::http::server) path: Option<String>,
    /// The names that the server may be asked for, those of this machine among them; `None` for all.
    pub(in crate::http::server) hosts: Option<Vec<String>>,
    /// The origins of the web pages that may use it.
    pub(in crate::http::server) origins: Vec<String>,
    pub(in crate::http::server) authenticate: Option<Hook>,
    /// Takes the place of the hook.
    #[cfg(feature = "auth")]
    pub(in crate::http::server) guard: Option<Arc<TokenGuard>>,
    /// The authorization server whose tokens the guard checks.
    #[cfg(all(feature = "auth", feature = "http-client"))]
    pub(in crate::http::server) login: Option<Arc<LoginServer>>,
    pub(in crate::http::server) http_sse: Option<HttpSsePaths>,
    pub(in crate::http::server) probe: Option<Probe>,
    /// True if `initialize` opens a session.
    pub(in crate::http::server) sessions: bool,
    pub(in crate::http::server) limits: HttpLimits,
    pub(in crate::http::server) max_exchanges: usize,
    /// The rate of the messages of one caller.
    pub(in crate::http::server) rate_limit: Option<RateLimit>,
    pub(in crate::http::server) trusted_proxies: TrustedProxies,
    pub(in crate::http::server) streams: StreamLimits,
    /// Set if other processes share the sessions.
    pub(in crate::http::server) sharing: Option<ProcessSettings>,
    pub(in crate::http::server) lease: Duration,
    pub(in crate::http::server) max_total_body_bytes: usize,
    pub(in crate::http::server) max_total_unread_bytes: usize,
    pub(in crate::http::server) body_timeout: Duration,
    pub(in crate::http::server) keep_alive: Duration,
    pub(in crate::http::server) shutdown_timeout: Duration,
}

impl Options {
    /// Returns true if the server may be asked for by other names than those of this machine.
    pub(in crate::http::server) fn has_other_hosts(&self) -> bool {
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
            #[cfg(all(feature = "auth", feature = "http-client"))]
            login: None,
            http_sse: None,
            probe: None,
            sessions: true,
            limits: HttpLimits::default(),
            max_exchanges: 10_000,
            rate_limit: Some(RateLimit::new(1_000, Duration::from_secs(1)).burst(2_000)),
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
