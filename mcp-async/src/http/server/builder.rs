//! The configuration of an HTTP endpoint.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::sync::{Arc, Weak};

use super::HttpService;
use super::authenticate::{Authenticate, Hook};
use super::endpoint::HttpEndpoint;
use super::http_sse_paths::HttpSsePaths;
use super::options::Options;
use crate::http::{EventStore, Relay, SessionStore};
use crate::runtime::{Runtime, Task};
use crate::server::parts::Parts;
use crate::server::serving::Server;
use crate::server::{BuildError, RegisterError, ServerBuilder};

/// A server on its way to HTTP: the settings of the endpoint.
///
/// Defaults: the endpoint is `/mcp`; only requests to `localhost`, `127.0.0.1` and `[::1]` are
/// answered, and of web pages only those of the same hosts (SH-03, SH-05); bodies, sessions,
/// streams and stored events are bounded.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::server::BuildError;
/// use mcp_async::{Runtime, Server};
///
/// fn service<R: Runtime>() -> Result<mcp_async::http::HttpService<R>, BuildError> {
///     Server::<R>::builder("demo", "1.0")
///         .http()
///         .allow_hosts(["mcp.example.com"])
///         .allow_origins(["https://app.example.com"])
///         .keep_alive(Duration::from_secs(30))
///         .into_service()
/// }
/// ```
#[must_use = "settings do nothing until they become a service"]
pub struct Http<R> {
    source: Source<R>,
    pub(super) options: Options,
    pub(super) shutdown: Option<Task>,
    #[cfg(feature = "auth")]
    pub(super) protection: Option<super::protect::Protection<R>>,
    /// Settings that can have no effect.
    mistakes: Vec<RegisterError>,
}

/// What is offered.
enum Source<R> {
    Built(Server<R>),
    Parts(Box<Parts>),
}

impl<R: Runtime, S> Server<R, S> {
    /// Offers it over HTTP: the settings of an endpoint, and then a service that hyper, axum or
    /// anything else that speaks `tower` mounts.
    pub fn http(&self) -> Http<R> {
        Http::of(Source::Built(self.without_state()))
    }
}

impl<R: Runtime, S: Send + Sync + 'static> ServerBuilder<R, S> {
    /// Offers the server over HTTP: see [`Server::http`]. It is built with the service.
    pub fn http(self) -> Http<R> {
        Http::of(Source::Parts(Box::new(self.parts)))
    }
}

impl<R: Runtime> Http<R> {
    fn of(source: Source<R>) -> Self {
        Self {
            source,
            options: Options::default(),
            shutdown: None,
            #[cfg(feature = "auth")]
            protection: None,
            mistakes: Vec::new(),
        }
    }

    /// Notes a mistake if this setting is zero.
    fn check(&mut self, name: &str, is_zero: bool) {
        if is_zero {
            self.mistakes.push(RegisterError::zero(name));
        }
    }

    /// Sets the path of the endpoint; `/mcp` otherwise. Other paths are answered with 404.
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
    /// of the service has put into the extensions of the request. Sessions belong to it (SH-43): to
    /// requests of another they are unknown.
    ///
    /// ```
    /// use http::header::{AUTHORIZATION, HeaderValue};
    /// use http::request::Parts;
    /// use mcp_async::http::{AuthError, Http, Principal};
    /// use mcp_async::{Runtime, Server};
    ///
    /// fn guarded<R: Runtime>(server: &Server<R>) -> Http<R> {
    ///     server.http().authenticate(|head: &Parts| {
    ///         let is_ada = head.headers.get(AUTHORIZATION).is_some_and(|it| it == "Bearer 1815");
    ///         async move {
    ///             match is_ada {
    ///                 true => Ok(Principal::new("ada")),
    ///                 false => Err(AuthError::unauthorized(HeaderValue::from_static("Bearer"))),
    ///             }
    ///         }
    ///     })
    /// }
    /// # fn with<R: Runtime>(server: &Server<R>) { let _ = guarded(server); }
    /// ```
    pub fn authenticate(mut self, hook: impl Authenticate) -> Self {
        self.options.authenticate = Some(Hook(Arc::new(hook)));
        self
    }

    /// Opens no sessions: every request of the legacy revisions stands for itself, as all do in
    /// 2026-07-28. Then nothing has to be kept between requests, and any process can serve any
    /// of them; but handlers cannot ask, and nothing is sent that was not asked for.
    pub fn stateless(mut self) -> Self {
        self.options.sessions = false;
        self
    }

    /// Serves clients of 2024-11-05, too, at two additional endpoints: a GET on `stream` opens a
    /// session, whose messages are POSTed to `post` (HS-11). Clients receive its address relative
    /// to the first, so both may be mounted under any prefix, as long as it is the same.
    pub fn legacy_sse(mut self, stream: impl Into<String>, post: impl Into<String>) -> Self {
        self.options.http_sse = Some(HttpSsePaths::new(stream.into(), post.into()));
        self
    }

    /// Sets the maximum number of legacy sessions, those of [`legacy_sse`](Self::legacy_sse)
    /// included; 10 000 otherwise. One more is answered with 503 and `Retry-After`.
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.options.limits.sessions = sessions;
        self
    }

    /// Sets the maximum number of concurrent requests without a session, mostly listens; 10 000
    /// otherwise. One more is answered with 503 and `Retry-After`.
    pub fn max_exchanges(mut self, exchanges: usize) -> Self {
        self.options.max_exchanges = exchanges;
        self
    }

    /// Sets the time without use after which a legacy session ends; 30 minutes otherwise. A
    /// running request and an open stream are use.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.options.limits.session_idle = timeout;
        self
    }

    /// Sets the maximum number of streams of a session, including those of finished
    /// POSTs; 1024 otherwise. Zero is a mistake.
    pub fn max_streams(mut self, streams: usize) -> Self {
        self.check("max_streams", streams == 0);
        self.options.streams.streams = streams;
        self
    }

    /// Sets how many events, and how many bytes of them, a session keeps for replay to clients
    /// that lost their connection; 256 and 4 MiB otherwise.
    pub fn replay_buffer(mut self, events: usize, bytes: usize) -> Self {
        self.options.streams.events = events;
        self.options.streams.bytes = bytes;
        self
    }

    /// Sets how many unread bytes one stream may hold before its handlers wait; 256 KiB
    /// otherwise. Zero is a mistake.
    pub fn max_unread_bytes(mut self, bytes: usize) -> Self {
        self.check("unread", bytes == 0);
        self.options.streams.unread = bytes;
        self
    }

    /// Sets the store that shares sessions with other processes, so that any of them can
    /// continue one. Clients must then be identified by their authentication, not by the process
    /// that they reach.
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.options.sharing.sessions = Some(store);
        self
    }

    /// Sets the store that keeps the events of sessions beyond this process; without one
    /// the process keeps the [last](Self::replay_buffer).
    pub fn event_store(mut self, store: Arc<dyn EventStore>) -> Self {
        self.options.sharing.events = Some(store);
        self
    }

    /// Shares sessions, their events and messages with the other processes of this server: the
    /// [session store](Self::session_store), the [event store](Self::event_store) and the
    /// [relay](Self::relay) in one.
    pub fn share<T: SessionStore + EventStore + Relay + 'static>(self, store: T) -> Self {
        let store = Arc::new(store);
        self.session_store(Arc::clone(&store) as Arc<dyn SessionStore>)
            .event_store(Arc::clone(&store) as Arc<dyn EventStore>)
            .relay(store)
    }

    /// Sets what connects this process with the others, so that a balancer needs no affinity: requests
    /// for a session that another live process owns are forwarded to it. It needs a
    /// [session store](Self::session_store).
    ///
    /// The sender of a forwarded request is the one that was verified where it arrived. With `protect` the
    /// owner receives all that the token states, and checks no token again. A hook of
    /// [`authenticate`](Self::authenticate) is called again by the owner, with the same head: all processes
    /// must accept the same credentials, and a request that one of them refuses is written to its log as a
    /// warning. Of extensions that a layer in front of the service has put into the head, the name of a
    /// [`Principal`](crate::http::Principal) reaches the owner, and nothing else. Write
    /// access to the store is access as any user.
    pub fn relay(mut self, relay: Arc<dyn Relay>) -> Self {
        self.options.sharing.relay = Some(relay);
        self
    }

    /// Sets how long the other processes take this process for alive after it has said so to the
    /// [relay](Self::relay), which it does three times in that time; 15 seconds otherwise. When it is
    /// over, other processes take over the sessions of this process as soon as their clients send
    /// something.
    ///
    /// A shorter lease makes a killed process be followed sooner. It should be at least six times as long
    /// as one call of the relay may take: a process that cannot renew it in time loses its sessions while
    /// it lives. A lease of less than one second is a mistake.
    pub fn lease(mut self, lease: Duration) -> Self {
        if lease < MIN_LEASE {
            let reason = "it is shorter than one second";
            self.mistakes.push(RegisterError::setting("lease", &reason));
        }
        self.options.lease = lease;
        self
    }

    /// Sets the maximum length of a request body in bytes; 4 MiB otherwise. A longer one is
    /// answered with 413.
    pub fn max_body_bytes(mut self, bytes: usize) -> Self {
        self.options.limits.body = bytes;
        self
    }

    /// Sets how many bytes of request bodies may be in memory at a time, the first 16 KiB of each
    /// not counted; 256 MiB otherwise. Requests beyond that are answered with 503 and `Retry-After`.
    pub fn max_total_body_bytes(mut self, bytes: usize) -> Self {
        self.options.max_total_body_bytes = bytes;
        self
    }

    /// Sets how long a request body may take; 30 seconds otherwise, then 408.
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.options.body_timeout = timeout;
        self
    }

    /// Sets the silence after which a comment keeps an event stream alive (SH-42); 15 seconds
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
    /// use mcp_async::http::Http;
    /// use mcp_async::{Runtime, Server};
    ///
    /// /// An endpoint that ends when the program around it does.
    /// fn ending<R: Runtime>(
    ///     server: &Server<R>,
    ///     ended: impl Future<Output = ()> + Send + 'static,
    /// ) -> Http<R> {
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
    /// Those of [`ServerBuilder::build`], and settings of this endpoint that are zero
    /// or too short.
    ///
    /// # Panics
    /// With [`shutdown`](Self::with_graceful_shutdown) or a [relay](Self::relay), where the runtime does
    /// not run: tasks wait for them.
    pub fn into_service(mut self) -> Result<HttpService<R>, BuildError> {
        let server = self.build()?;
        let service = HttpService::new(HttpEndpoint::new(server, self.options));
        if let Some(end) = self.shutdown {
            R::spawn(Box::pin(Ending {
                end,
                endpoint: Arc::downgrade(&service.endpoint),
            }));
        }
        Ok(service)
    }

    /// Builds the server, if that is not done, unless there are mistakes.
    pub(super) fn build(&mut self) -> Result<Server<R>, BuildError> {
        #[cfg(feature = "auth")]
        if let Some(protection) = self.protection.take() {
            match protection.build(self.options.path.as_deref()) {
                Ok(guard) => self.options.guard = Some(Arc::new(guard)),
                Err(mistake) => self.mistakes.push(mistake),
            }
        }
        BuildError::check(core::mem::take(&mut self.mistakes))?;
        let server = match &self.source {
            Source::Built(server) => server.clone(),
            Source::Parts(parts) => parts.as_ref().clone().build()?,
        };
        self.source = Source::Built(server.clone());
        Ok(server)
    }
}

/// The shortest lease of a process.
const MIN_LEASE: Duration = Duration::from_secs(1);

/// Waits for the end of a service, which it does not keep.
struct Ending<R: Runtime> {
    end: Task,
    endpoint: Weak<HttpEndpoint<R>>,
}

impl<R: Runtime> Future for Ending<R> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut core::task::Context<'_>) -> core::task::Poll<()> {
        let ended = self.end.as_mut().poll(cx);
        if ended.is_ready()
            && let Some(endpoint) = self.endpoint.upgrade()
        {
            endpoint.shutdown(endpoint.options.shutdown_timeout);
        }
        ended
    }
}

impl<R> fmt::Debug for Http<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Http")
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}
