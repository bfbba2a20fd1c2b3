//! The configuration of an HTTP endpoint.

#[cfg(feature = "http-client")]
pub(super) mod http_forward;
#[cfg(feature = "auth")]
mod protected;
pub(super) mod serve;
mod sharing;

use core::fmt;
use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use super::HttpService;
use super::endpoint::HttpEndpoint;
use crate::http::server::endpoint::http_sse_paths::HttpSsePaths;
use crate::http::server::endpoint::options::Options;
use crate::http::server::endpoint::probe::Probe;
use crate::http::server::endpoint::status::HttpStatus;
use crate::http::server::messages::authenticate::{Authenticate, Hook};
use crate::http::server::processes::sharing::Sharing;
use crate::net::HttpListener;
use crate::runtime::{RuntimeHandle, Task};
use crate::server::serving::Server;
use crate::server::serving::parts::Parts;
use crate::server::{BuildError, RateLimit, RegisterError, ServerBuilder};

/// The settings of an HTTP endpoint for a server.
///
/// Defaults: the endpoint is `/mcp`; only requests to `localhost`, `127.0.0.1` and `[::1]` are
/// answered, and of web pages only those of the same hosts; bodies, sessions,
/// streams and stored events are bounded.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::Server;
/// use mcp_async::http::HttpService;
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::server::BuildError;
///
/// fn service(runtime: RuntimeHandle) -> Result<HttpService, BuildError> {
///     Server::builder("demo", "1.0")
///         .http()
///         .allow_hosts(["mcp.example.com"])
///         .allow_origins(["https://app.example.com"])
///         .keep_alive(Duration::from_secs(30))
///         .into_service(runtime)
/// }
/// ```
#[must_use = "settings do nothing until they become a service"]
pub struct Http {
    source: Source,
    pub(super) options: Options,
    pub(super) sharing: Sharing,
    pub(super) shutdown: Option<Task>,
    /// Receives the service.
    pub(super) made: Option<Made>,
    #[cfg(feature = "auth")]
    pub(super) protection: Option<super::protect::Protection>,
    #[cfg(all(feature = "auth", feature = "http-client"))]
    pub(super) login: Option<super::login::DelegatedLogin>,
    /// The address at which other processes reach this one.
    pub(super) processes: Option<HttpListener>,
    /// Settings that can have no effect.
    mistakes: Vec<RegisterError>,
}

/// Receives a service when it is made.
pub(super) type Made = Box<dyn FnOnce(&HttpService) + Send>;

/// The server that an endpoint offers.
enum Source {
    Built(Server),
    Parts(Box<Parts>),
}

impl<S> Server<S> {
    /// Returns the settings of an HTTP endpoint for this server. [`Http::into_service`] makes a service of them, which hyper,
    /// axum and other frameworks over `tower` can mount.
    pub fn http(&self) -> Http {
        Http::of(Source::Built(self.without_state()))
    }
}

impl<S: Send + Sync + 'static> ServerBuilder<S> {
    /// Returns the settings of an HTTP endpoint for this server: see [`Server::http`]. The server is built with the service.
    pub fn http(self) -> Http {
        Http::of(Source::Parts(Box::new(self.parts)))
    }
}

impl Http {
    fn of(source: Source) -> Self {
        Self {
            source,
            options: Options::default(),
            sharing: Sharing::default(),
            shutdown: None,
            made: None,
            processes: None,
            #[cfg(feature = "auth")]
            protection: None,
            #[cfg(all(feature = "auth", feature = "http-client"))]
            login: None,
            mistakes: Vec::new(),
        }
    }

    /// Notes a mistake if this setting is zero.
    fn check(&mut self, name: &str, is_zero: bool) {
        if is_zero {
            self.mistakes.push(RegisterError::zero(name));
        }
    }

    /// Sets the path of the endpoint; `/mcp` otherwise. Other paths are answered with 404. It begins with
    /// a slash and is encoded as in a URL; a path that no request can have is a mistake that
    /// [`into_service`](Self::into_service) reports.
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.options.path = Some(path.into());
        self
    }

    /// Answers under every path: for a service that a router mounts, which has looked at the path
    /// already and may have cut a part of it off. With axum:
    /// `router.nest_service("/tools", service)`.
    pub fn any_path(mut self) -> Self {
        self.options.path = None;
        self
    }

    /// Answers the checks of balancers and orchestrators at another path: with the text that the rule returns, and 200 if that is `Ok`, or
    /// 503. Senders are not verified, and hosts and rates not checked.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::http::Readiness;
    ///
    /// let server = Server::builder("demo", "1.0");
    /// let http = server.http().probe("/ready", |status| match status.readiness {
    ///     Readiness::Ready => Ok(format!("{} sessions\n", status.sessions)),
    ///     other => Err(format!("{other:?}\n")),
    /// });
    /// # let _ = http;
    /// ```
    pub fn probe(
        mut self,
        path: impl Into<String>,
        rule: impl Fn(&HttpStatus) -> Result<String, String> + Send + Sync + 'static,
    ) -> Self {
        self.options.probe = Some(Probe::new(path.into(), rule));
        self
    }

    /// More names under which the server may be asked for, in `Host` or by HTTP/2: a name or an
    /// address (`[::1]` in brackets), for every port or with the port that it is for.
    ///
    /// A web page whose name resolves to this machine sends its own name as the host, so a
    /// server that accepts any host serves every page that its user opens. After
    /// [`allow_any_host`](Self::allow_any_host) it has no effect.
    pub fn allow_hosts<H: Into<String>>(mut self, hosts: impl IntoIterator<Item = H>) -> Self {
        if let Some(allowed) = &mut self.options.hosts {
            allowed.extend(hosts.into_iter().map(Into::into));
        }
        self
    }

    /// Accepts every host: for servers behind a proxy that checks it, or that only programs can
    /// reach.
    pub fn allow_any_host(mut self) -> Self {
        self.options.hosts = None;
        self
    }

    /// More origins whose web pages may use the server: scheme, host and port as browsers send
    /// them (`https://app.example.com`). A request without `Origin` comes from no web page.
    pub fn allow_origins<O: Into<String>>(mut self, origins: impl IntoIterator<Item = O>) -> Self {
        self.options
            .origins
            .extend(origins.into_iter().map(Into::into));
        self
    }

    /// Verifies who sends each request, in the service itself: after the checks of path, host and
    /// origin, and before everything else. So a browser's preflight is answered without
    /// credentials, and a refusal has the headers of CORS that let a page read its challenge.
    ///
    /// The [`Principal`](crate::server::Principal) takes the place of one that middleware in front
    /// of the service has put into the extensions of the request. Sessions belong to it: to
    /// requests of another they are unknown.
    ///
    /// ```
    /// use http::header::{AUTHORIZATION, HeaderValue};
    /// use http::request::Parts;
    /// use mcp_async::Server;
    /// use mcp_async::http::{AccessError, Http};
    /// use mcp_async::server::Principal;
    ///
    /// fn guarded(server: &Server) -> Http {
    ///     server.http().authenticate(|head: &Parts| {
    ///         let is_ada = head.headers.get(AUTHORIZATION).is_some_and(|it| it == "Bearer 1815");
    ///         async move {
    ///             match is_ada {
    ///                 true => Ok(Principal::new("ada")),
    ///                 false => Err(AccessError::unauthorized(HeaderValue::from_static("Bearer"))),
    ///             }
    ///         }
    ///     })
    /// }
    /// # let _ = guarded;
    /// ```
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.options.authenticate = Some(Hook(Arc::new(hook)));
        self
    }

    /// Opens no sessions: every request of the legacy revisions stands for itself, as all do in
    /// 2026-07-28. Then nothing has to be kept between requests, and any process can serve any
    /// of them; but handlers cannot ask, and nothing is sent that was not asked for. POST is the only method: GET and
    /// DELETE get 405.
    pub fn stateless(mut self) -> Self {
        self.options.sessions = false;
        self
    }

    /// Serves clients of 2024-11-05, too, at two additional endpoints: a GET on `stream` opens a
    /// session, whose messages are POSTed to `post`. Clients receive its address relative
    /// to the first, so both may be mounted under any prefix, as long as it is the same.
    pub fn legacy_sse(mut self, stream: impl Into<String>, post: impl Into<String>) -> Self {
        self.options.http_sse = Some(HttpSsePaths::new(stream.into(), post.into()));
        self
    }

    /// Sets the maximum number of legacy sessions, those of [`legacy_sse`](Self::legacy_sse)
    /// included; 10,000 otherwise. One more is answered with 503 and `Retry-After`, unless a session makes room
    /// whose client has sent nothing since `initialize`: the oldest after one minute, or at once if all places are
    /// taken and the caller has none.
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.options.limits.sessions = sessions;
        self
    }

    /// Sets the maximum number of concurrent requests without a session that take longer: listens, and calls that
    /// are not answered at once; 10,000 otherwise. One more is answered with 503 and `Retry-After` when it has to
    /// wait for the first time: what its handler has done until then is done. Requests that are answered at once
    /// need no place.
    ///
    /// In sessions as many requests may be without an answer, and as many of other processes of a
    /// [shared](Self::share) endpoint may be under way. One more is answered with 503 before it begins. `ping`,
    /// notifications and responses need no place. Each call of an array has a place of its own; an array for which not all
    /// places are free is answered with 503 as a whole.
    pub fn max_exchanges(mut self, exchanges: usize) -> Self {
        self.options.max_exchanges = exchanges;
        self
    }

    /// Sets the rate at which one caller may send; 1,000 requests a second on average and 2,000 at once otherwise. `None` sets
    /// no limit. A limit that lets nothing pass is a mistake.
    ///
    /// A caller is the [`Principal`](crate::server::Principal) of a request, or else the address of its client, for IPv6 its network of
    /// 64 bits; without both there is no limit. Each request counts, whatever its method and its revision, and each message of an
    /// array in its body, notifications and responses included; a body with more messages than may be sent at once is
    /// always refused. Requests that are refused by their heads, such as those of a foreign origin or of an unverified sender, do not
    /// count.
    ///
    /// A refusal comes before anything has run. It has status 429, error -32603, and the number of seconds after which the request
    /// may be sent again in `Retry-After`. Each process of a [shared](Self::share) endpoint counts the requests
    /// that arrive at it.
    ///
    /// ```
    /// use core::time::Duration;
    ///
    /// use mcp_async::Server;
    /// use mcp_async::http::Http;
    /// use mcp_async::server::RateLimit;
    ///
    /// fn slow(server: &Server) -> Http {
    ///     server.http().rate_limit(Some(RateLimit::new(600, Duration::from_secs(60)).burst(50)))
    /// }
    /// # let _ = slow;
    /// ```
    pub fn rate_limit(mut self, limit: Option<RateLimit>) -> Self {
        self.check("rate_limit", limit.is_some_and(RateLimit::is_zero));
        self.options.rate_limit = limit;
        self
    }

    /// Sets the time without use after which a legacy session ends; 30 minutes otherwise. A
    /// running request and an open stream are use.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.options.limits.session_idle = timeout;
        self
    }

    /// Sets the maximum number of streams of a session, including those of finished
    /// POSTs; 1024 otherwise. There may be as many more for `ping`, notifications and responses. Zero is a mistake.
    pub fn max_streams(mut self, streams: usize) -> Self {
        self.check("max_streams", streams == 0);
        self.options.streams.streams = streams;
        self
    }

    /// Sets how many events, and how many bytes of them, a session keeps for replay to clients
    /// that lost their connection; 256 and 4 MiB otherwise. All sessions together keep as many times that.
    pub fn replay_buffer(mut self, events: usize, bytes: usize) -> Self {
        self.options.streams.events = events;
        self.options.streams.bytes = bytes;
        self
    }

    /// Sets how many unread bytes one stream may hold before its handlers wait; 256 KiB
    /// otherwise. Zero is a mistake.
    pub fn max_unread_bytes(mut self, bytes: usize) -> Self {
        self.check("max_unread_bytes", bytes == 0);
        self.options.streams.unread = bytes;
        self
    }

    /// Sets the maximum length of a request body in bytes; 4 MiB otherwise. A longer one is
    /// answered with 413.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.options.limits.body = bytes;
        self
    }

    /// Sets how many bytes of request bodies may be in memory at a time, the first 16 KiB of each
    /// not counted; 256 MiB otherwise. One caller has a [share]. Requests beyond that
    /// are answered with 503 and `Retry-After`.
    ///
    /// [share]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/http/index.html#shares
    pub fn max_total_body_bytes(mut self, bytes: usize) -> Self {
        self.options.max_total_body_bytes = bytes;
        self
    }

    /// Sets how many bytes of answers and events may be in memory while clients do not read them, the first 4 KiB of
    /// each answer and each session not counted; 256 MiB otherwise. One caller has a
    /// [share]. An answer beyond that is replaced by 503 with `Retry-After`, and handlers
    /// that send more on an event stream wait. The events that sessions keep without a reader are bounded by
    /// [`replay_buffer`](Self::replay_buffer). Zero is a mistake.
    ///
    /// [share]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/http/index.html#shares
    pub fn max_total_unread_bytes(mut self, bytes: usize) -> Self {
        self.check("max_total_unread_bytes", bytes == 0);
        self.options.max_total_unread_bytes = bytes;
        self
    }

    /// Adds the addresses of proxies, or ranges of them (`10.0.0.0/8`), that name the address of the client in
    /// `Forwarded` or `X-Forwarded-For`. Both fields are read only if the request comes from one of these, and
    /// from their end, up to the first address that is not in the list.
    ///
    /// The address of the client decides whose [share] a request without a principal
    /// takes, and nothing else. A text that is no address and no range is a mistake.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::http::Http;
    ///
    /// fn in_cluster(server: &Server) -> Http {
    ///     server.http().allow_hosts(["mcp.example.com"]).trusted_proxies(["10.0.0.0/8", "fd00::1"])
    /// }
    /// # let _ = in_cluster;
    /// ```
    ///
    /// [share]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/http/index.html#shares
    pub fn trusted_proxies<A: AsRef<str>>(
        mut self,
        addresses: impl IntoIterator<Item = A>,
    ) -> Self {
        for address in addresses {
            let address = address.as_ref();
            if !self.options.trusted_proxies.add(address) {
                let reason = format!("{address:?} is no address and no range of addresses");
                self.mistakes
                    .push(RegisterError::setting("trusted_proxies", &reason));
            }
        }
        self
    }

    /// Sets how long a request body may take; 30 seconds otherwise, then 408.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.options.body_timeout = timeout;
        self
    }

    /// Sets the silence after which a comment keeps an event stream alive; 15 seconds
    /// otherwise, less than what proxies wait for. A request of 2026-07-28 that was silent for so
    /// long is answered with such a stream; until then an answer that nothing came before leaves
    /// as JSON, with the status that its error has. Zero is a mistake.
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.check("keep_alive", interval.is_zero());
        self.options.keep_alive = interval.max(Duration::from_millis(1));
        self
    }

    /// Sets how long handlers may continue after the end was asked for; ten seconds otherwise. A
    /// call that still runs then is answered with error -32603, or with 503 where its response has
    /// not begun.
    ///
    /// [Tasks](crate::tasks) that run have the same time if the server is not served in another way.
    pub fn shutdown_timeout(mut self, shutdown_timeout: Duration) -> Self {
        self.options.shutdown_timeout = shutdown_timeout;
        self
    }

    /// Ends the service when this future resolves, and leaves the signals of the process to the
    /// program: new requests are answered with 503, what runs may finish within the [shutdown
    /// timeout](Self::shutdown_timeout), and listens end with their result.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::http::Http;
    ///
    /// /// An endpoint that ends when the program around it does.
    /// fn ending(
    ///     server: &Server,
    ///     ended: impl Future<Output = ()> + Send + 'static,
    /// ) -> Http {
    ///     server.http().with_graceful_shutdown(ended)
    /// }
    /// ```
    pub fn with_graceful_shutdown(
        mut self,
        end: impl Future<Output = ()> + Send + 'static,
    ) -> Self {
        self.shutdown = Some(Box::pin(end));
        self
    }

    /// Makes the service, and builds the server if that is not done. Clones of it are the same
    /// endpoint.
    ///
    /// # Errors
    /// Those of [`ServerBuilder::build`], and settings of this endpoint that are zero, too short, no
    /// path of a URL, or scopes for a method without requests.
    ///
    /// # Panics
    /// With [`shutdown`](Self::with_graceful_shutdown), or if sessions are [shared](Self::share), where the
    /// runtime does not run: tasks wait for them.
    pub fn into_service(
        mut self,
        runtime: impl Into<RuntimeHandle>,
    ) -> Result<HttpService, BuildError> {
        let runtime = runtime.into();
        let server = self.build(&runtime)?;
        let service = HttpService::new(HttpEndpoint::new(server, self.options, runtime.clone()));
        if let Some(end) = self.shutdown {
            // It does not keep the service.
            let endpoint = Arc::downgrade(&service.endpoint);
            runtime.spawn(Box::pin(async move {
                end.await;
                if let Some(endpoint) = endpoint.upgrade() {
                    endpoint.shutdown(endpoint.options.shutdown_timeout);
                }
            }));
        }
        if let Some(made) = self.made {
            made(&service);
        }
        Ok(service)
    }

    /// Builds the server, if that is not done, unless there are mistakes.
    pub(super) fn build(&mut self, runtime: &RuntimeHandle) -> Result<Server, BuildError> {
        #[cfg(feature = "auth")]
        if let Some(protection) = self.protection.take() {
            self.build_guard(protection, runtime);
        }
        let endpoint = self.options.path.iter().map(|path| ("path", path.as_str()));
        let both = self.options.http_sse.iter().flat_map(HttpSsePaths::both);
        let probe = self
            .options
            .probe
            .iter()
            .map(|probe| ("probe", &*probe.path));
        let paths = endpoint
            .chain(both.map(|path| ("legacy_sse", path)))
            .chain(probe);
        let mistakes = paths.filter(|(_, path)| !is_path(path));
        self.mistakes.extend(mistakes.map(|(name, path)| {
            RegisterError::setting(name, &format_args!("{path:?} is not the path of a URL"))
        }));
        BuildError::check(core::mem::take(&mut self.mistakes))?;
        let server = match &self.source {
            Source::Built(server) => server.clone(),
            Source::Parts(parts) => parts.as_ref().clone().build()?,
        };
        #[cfg(all(feature = "auth", feature = "http-client"))]
        if let Some(login) = self.login.take() {
            self.build_login(login, &server, runtime);
        }
        self.options.sharing = self.check_sharing(&server);
        if let Some(means) = &self.sharing.means {
            means.forward.start(runtime);
        }
        BuildError::check(core::mem::take(&mut self.mistakes))?;
        #[cfg(feature = "auth")]
        if let Some(guard) = &self.options.guard {
            BuildError::check(guard.unknown_methods(&server))?;
        }
        self.source = Source::Built(server.clone());
        Ok(server)
    }
}

/// True for a path that a request can have: it is absolute, and consists of the characters of RFC 3986,
/// section 3.3.
fn is_path(path: &str) -> bool {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~!$&'()*+,;=:@%".contains(&byte);
    path.starts_with('/') && path.bytes().all(is_plain)
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
