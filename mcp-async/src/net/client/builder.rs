use core::fmt;
use core::net::IpAddr;
use core::time::Duration;
use std::sync::{Arc, OnceLock};

use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;

use super::connector::Connector;
use super::pool::Pool;
use super::{HttpClient, Shared};
use crate::net::AddressGuard;
use crate::net::tls::{RootCertificates, Trust};

/// The settings of an [`HttpClient`].
///
/// ```
/// use core::time::Duration;
/// use mcp_async::net::HttpClient;
///
/// fn client() -> HttpClient {
///     HttpClient::builder()
///         .connect_timeout(Duration::from_secs(5))
///         .proxy("http://user:password@proxy.example:3128")
///         .decompress()
///         .build()
/// }
/// ```
#[must_use = "settings do nothing until they become a client"]
pub struct HttpClientBuilder {
    connect_timeout: Duration,
    stall_timeout: Duration,
    idle_timeout: Duration,
    max_idle: usize,
    proxies: Proxies,
    inflate: bool,
    roots: Option<RootCertificates>,
    guard: Option<AddressGuard>,
    first_address: Option<Arc<OnceLock<IpAddr>>>,
    redirects: bool,
    http1_only: bool,
}

enum Proxies {
    Environment,
    None,
    Named(String),
}

impl HttpClientBuilder {
    /// Sets the time in which a server must be reached: its name, its address, a proxy, TLS. 10
    /// seconds by default.
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// Sets the time for which a server may leave written bytes unread, once the operating system
    /// holds no more. 30 seconds by default.
    pub const fn stall_timeout(mut self, limit: Duration) -> Self {
        self.stall_timeout = limit;
        self
    }

    /// Sets the time for which a connection may wait for its next request. One minute by default. Those that have waited
    /// for longer are closed when the client sends its next request, to any server.
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = limit;
        self
    }

    /// Sets the number of connections to one server that may wait for their next request. 256 by
    /// default. If more requests than this run at once, each of the others dials anew. With 0 each request has a
    /// connection of its own. All servers together have at most 512 idle connections, or this number if it is higher; the
    /// longest idle ones are closed first.
    pub const fn max_idle(mut self, limit: usize) -> Self {
        self.max_idle = limit;
        self
    }

    /// Goes through this proxy to every server but this machine itself, whatever the environment
    /// says; a user and a password may stand in the URL. If it is invalid, every request fails
    /// with [`SendFailed::Proxy`](crate::net::SendFailed::Proxy).
    pub fn proxy(mut self, url: impl Into<String>) -> Self {
        self.proxies = Proxies::Named(url.into());
        self
    }

    /// Goes through no proxy, whatever the environment says.
    pub fn no_proxy(mut self) -> Self {
        self.proxies = Proxies::None;
        self
    }

    /// Asks for bodies packed with gzip or deflate, and unpacks them. Off by default: what is read
    /// can then be a thousand times what was sent, so count it.
    pub const fn decompress(mut self) -> Self {
        self.inflate = true;
        self
    }

    /// Connects only to addresses that this guard allows, each time a connection is made. A name is
    /// judged by what it resolves to; if a proxy resolves it, only an address in the URL is judged.
    /// For URLs that the user did not give.
    pub const fn guard(mut self, guard: AddressGuard) -> Self {
        self.guard = Some(guard);
        self
    }

    /// Follows no redirect, so that the caller can judge each of them.
    pub const fn no_redirects(mut self) -> Self {
        self.redirects = false;
        self
    }

    /// Has a connection of HTTP/1.1 for each request at a time, also where the server has HTTP/2.
    pub const fn http1_only(mut self) -> Self {
        self.http1_only = true;
        self
    }

    /// Notes the address of the first connection that goes through no proxy.
    pub(crate) fn note_first_address(mut self, first: Arc<OnceLock<IpAddr>>) -> Self {
        self.first_address = Some(first);
        self
    }

    /// Trusts servers that these roots vouch for, and no others. By default those are trusted that
    /// the operating system trusts.
    #[cfg(feature = "tls")]
    pub fn roots(mut self, roots: RootCertificates) -> Self {
        self.roots = Some(roots);
        self
    }

    /// Builds the client. An invalid proxy is the error of each request ([`SendFailed::Proxy`](crate::net::SendFailed::Proxy)).
    pub fn build(self) -> HttpClient {
        let mut wrong_proxy = false;
        let proxies = match self.proxies {
            Proxies::Environment => Some(Matcher::from_env()),
            Proxies::None => None,
            Proxies::Named(url) => {
                let proxy = Matcher::builder().all(url).build();
                let anywhere = Uri::from_static("http://a.example/");
                wrong_proxy = proxy.intercept(&anywhere).is_none();
                Some(proxy)
            }
        };
        HttpClient(Arc::new(Shared {
            runtime: OnceLock::new(),
            connector: Connector {
                proxies,
                connect_timeout: self.connect_timeout,
                stall_timeout: self.stall_timeout,
                tls: Trust::new(self.roots, self.http1_only),
                guard: self.guard,
                first_address: self.first_address,
            },
            pool: Pool::new(self.idle_timeout, self.max_idle),
            inflate: self.inflate,
            redirects: self.redirects,
            wrong_proxy,
        }))
    }
}

impl Default for HttpClientBuilder {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(60),
            max_idle: 256,
            proxies: Proxies::Environment,
            inflate: false,
            roots: None,
            guard: None,
            first_address: None,
            redirects: true,
            http1_only: false,
        }
    }
}

impl fmt::Debug for HttpClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClientBuilder").finish_non_exhaustive()
    }
}
