use core::error::Error;
use core::fmt;
use core::future::{Future, poll_fn, ready};
use core::net::{IpAddr, SocketAddr};
use core::pin::pin;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::io;
use std::net::{TcpListener, ToSocketAddrs};
use std::sync::Arc;

use http::{Request, Response};
use http_body::Body;
use hyper::body::Incoming;
#[cfg(not(feature = "http2"))]
use hyper::server::conn::http1;
#[cfg(feature = "http2")]
use hyper_util::server::conn::auto;
use tower_service::Service;

use super::closing::{Closing, Fresh, Phase};
use super::exchange::{Activity, Counted};
use super::handshakes::Handshakes;
use super::io::Io;
use super::maybe_tls_stream::MaybeTlsStream;
use super::time::Hyper;
use super::tls::Identity;
use super::{RemoteAddr, client_network};
use crate::runtime::{BoxStream, Either, Listener, RuntimeHandle, Sleep, race, within};
use crate::shares::Shares;

/// Serves a service of HTTP on a socket: HTTP/1.1, and HTTP/2 where there is TLS, chosen by ALPN.
///
/// HTTP/2 without TLS has to be [asked for](Self::plain_http2).
///
/// The service is anything that `tower` calls one: a whole router of `axum`, say, on any runtime.
/// Every limit has a default that a careful operator would choose.
///
/// ```
/// use core::time::Duration;
/// use mcp_async::net::HttpListener;
/// use mcp_async::runtime::RuntimeHandle;
/// # use core::convert::Infallible;
/// # use core::future::{Ready, ready};
/// # use core::task::{Context, Poll};
/// # type Request = http::Request<hyper::body::Incoming>;
/// # #[derive(Clone)]
/// # struct Hello;
/// # impl tower_service::Service<Request> for Hello {
/// #     type Response = http::Response<String>;
/// #     type Error = Infallible;
/// #     type Future = Ready<Result<Self::Response, Infallible>>;
/// #     fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
/// #         Poll::Ready(Ok(()))
/// #     }
/// #     fn call(&mut self, _: Request) -> Self::Future {
/// #         ready(Ok(http::Response::new("hello".into())))
/// #     }
/// # }
///
/// /// Says hello until Ctrl-C, then finishes what runs.
/// async fn hello(runtime: &RuntimeHandle) -> std::io::Result<()> {
///     let listen = HttpListener::bind(runtime, "127.0.0.1:0").shutdown_timeout(Duration::from_secs(3));
///     println!("http://{}", listen.address()?);
///     listen.serve(Hello, runtime.interrupted()).await
/// }
/// ```
#[must_use = "no connection is accepted before `serve` or `Http::serve`"]
pub struct HttpListener {
    runtime: RuntimeHandle,
    /// The bound socket, or the error of binding it, which `address` and `serve` return.
    socket: io::Result<TcpListener>,
    /// No other process has the socket.
    is_own: bool,
    settings: Settings,
}

#[derive(Clone)]
struct Settings {
    head_timeout: Duration,
    idle_timeout: Duration,
    stall_timeout: Duration,
    /// `None` for what the service says, or [`GRACE`].
    shutdown_timeout: Option<Duration>,
    max_connections: usize,
    max_connections_per_address: Option<usize>,
    #[cfg(feature = "http2")]
    max_concurrent_streams: u32,
    #[cfg(feature = "http2")]
    has_plain_http2: bool,
    max_head: usize,
    identity: Option<Identity>,
}

impl HttpListener {
    /// Binds a socket to an address: `"127.0.0.1:8000"`, `("::1", 8000)`; port 0 is any that is
    /// free.
    ///
    /// An address that is not one of this machine, is taken, or is no address is the error of
    /// [`address`](Self::address) and of [`serve`](Self::serve). The text names it.
    pub fn bind(runtime: impl Into<RuntimeHandle>, address: impl ToSocketAddrs) -> Self {
        Self {
            is_own: true,
            ..Self::with(runtime.into(), bind(address))
        }
    }

    /// Takes a socket that is bound already, one that a supervisor handed over say.
    pub fn from_std(runtime: impl Into<RuntimeHandle>, socket: TcpListener) -> Self {
        Self::with(runtime.into(), Ok(socket))
    }

    const fn with(runtime: RuntimeHandle, socket: io::Result<TcpListener>) -> Self {
        Self {
            runtime,
            socket,
            is_own: false,
            settings: Settings {
                head_timeout: mcp_proto::http::HttpLimits::DEFAULT.head,
                idle_timeout: Duration::from_secs(120),
                stall_timeout: Duration::from_secs(30),
                shutdown_timeout: None,
                max_connections: 10_000,
                max_connections_per_address: None,
                #[cfg(feature = "http2")]
                max_concurrent_streams: 64,
                #[cfg(feature = "http2")]
                has_plain_http2: false,
                max_head: 64 * 1024,
                identity: None,
            },
        }
    }

    /// Returns the address that the socket is bound to.
    ///
    /// # Errors
    /// The socket could not be bound, or whatever the operating system says.
    pub fn address(&self) -> io::Result<SocketAddr> {
        match &self.socket {
            Ok(socket) => socket.local_addr(),
            Err(error) => Err(io::Error::new(error.kind(), error.to_string())),
        }
    }

    /// Binds another socket for the same runtime.
    pub(crate) fn beside(&self, address: impl ToSocketAddrs) -> Self {
        Self::bind(&self.runtime, address)
    }

    /// Returns the runtime that it serves on.
    pub(crate) const fn runtime(&self) -> &RuntimeHandle {
        &self.runtime
    }

    /// The scheme and the address, as the begin of a URL.
    pub(crate) fn origin(&self) -> io::Result<String> {
        let scheme = match &self.settings.identity {
            Some(_) => "https",
            None => "http",
        };
        Ok(format!("{scheme}://{}", self.address()?))
    }

    /// Sets the time for the TLS handshake of a client, and again for the head of a request, the
    /// first or another on the same connection; over HTTP/2 only the first. 30 seconds by default.
    pub const fn head_timeout(mut self, limit: Duration) -> Self {
        self.settings.head_timeout = limit;
        self
    }

    /// Sets the time for which a connection may be open without a request on it. Two minutes by
    /// default; over HTTP/1.1 the [`head_timeout`](Self::head_timeout) comes first.
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.settings.idle_timeout = limit;
        self
    }

    /// Sets the time for which a client may leave written bytes unread, once the operating system
    /// holds no more, or the bytes of one stream of HTTP/2, once that has no credit. Then the
    /// connection is closed. 30 seconds by default.
    pub const fn stall_timeout(mut self, limit: Duration) -> Self {
        self.settings.stall_timeout = limit;
        self
    }

    /// Sets how long running requests may continue after the shutdown began. By default as long as
    /// [`Http::shutdown_timeout`](crate::http::Http::shutdown_timeout) says, where that is what is served, and 10 seconds
    /// otherwise.
    pub const fn shutdown_timeout(mut self, limit: Duration) -> Self {
        self.settings.shutdown_timeout = Some(limit);
        self
    }

    /// Sets the [`shutdown_timeout`](Self::shutdown_timeout) unless it was set.
    pub(crate) fn shutdown_timeout_or(mut self, limit: Duration) -> Self {
        self.settings.shutdown_timeout.get_or_insert(limit);
        self
    }

    /// Sets the number of connections that may be open at a time; further ones wait at the
    /// operating system. 10,000 by default.
    pub const fn max_connections(mut self, limit: usize) -> Self {
        self.settings.max_connections = limit;
        self
    }

    /// Sets the number of connections that may be open at a time from one address, or from one
    /// network of IPv6 (64 bits); a further one is closed at once. No bound by default, because all
    /// clients of a proxy, and all users of one network of IPv4, have the same address.
    pub const fn max_connections_per_address(mut self, limit: usize) -> Self {
        self.settings.max_connections_per_address = Some(limit);
        self
    }

    /// Sets the number of requests of one connection of HTTP/2 that may be under way at a time;
    /// further ones wait at the client. 64 by default.
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub const fn max_concurrent_streams(mut self, limit: u32) -> Self {
        self.settings.max_concurrent_streams = limit;
        self
    }

    /// Serves HTTP/2 without TLS as well, for clients that know before that the server has it: a proxy or a
    /// program in the same network. Otherwise the connection of such a client is closed. Browsers use HTTP/2
    /// over TLS only.
    #[cfg(feature = "http2")]
    #[cfg_attr(docsrs, doc(cfg(feature = "http2")))]
    pub const fn plain_http2(mut self) -> Self {
        self.settings.has_plain_http2 = true;
        self
    }

    /// Sets the bytes that the head of a request may have, at least 8 KiB. 64 KiB by default; a
    /// larger one is answered with 431.
    pub const fn max_head(mut self, bytes: usize) -> Self {
        self.settings.max_head = if bytes < 8192 { 8192 } else { bytes };
        self
    }

    /// Serves over TLS.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, identity: Identity) -> Self {
        self.settings.identity = Some(identity);
        self
    }

    /// Serves until `until` is done; [`Runtime::interrupted`](crate::runtime::Runtime::interrupted) ends it on a signal.
    ///
    /// Then nothing new is accepted, so that a balancer chooses another process. A client that has
    /// just connected may still send its first request, within 250 ms of the time at which its
    /// connection is looked at, and within half of the `shutdown_timeout`. Other connections without a
    /// request are closed, and running requests may finish within the
    /// [`shutdown_timeout`](Self::shutdown_timeout), or until the runtime is interrupted (again).
    /// Requests that still run then are dropped. Dropping this future drops all of it at once.
    ///
    /// An error of a connection ends that connection. One of accepting is survived: where the
    /// process may open no more files, it continues once others are closed.
    ///
    /// # Errors
    ///
    /// The socket could not be bound, or the runtime cannot take it.
    pub async fn serve<S, B>(self, service: S, until: impl Future<Output = ()>) -> io::Result<()>
    where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
        B: Body<Data: Send> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        self.serve_then(service, until, |_| ready(())).await
    }

    /// Serves until `until` is done. It calls `closed`, with the time that running requests have,
    /// when the last first request has arrived, and waits for its future as for a request.
    pub(crate) async fn serve_then<S, B, F>(
        self,
        service: S,
        until: impl Future<Output = ()>,
        closed: impl FnOnce(Duration) -> F,
    ) -> io::Result<()>
    where
        F: Future<Output = ()>,
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send + 'static,
        S::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
        B: Body<Data: Send> + Send + 'static,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (runtime, socket) = (self.runtime, self.socket?);
        socket.set_nonblocking(true)?;
        let handshakes = self.is_own.then(|| Handshakes::of(&socket));
        let listener = runtime.listen(socket)?;
        let settings = Arc::new(self.settings);
        let end = EndAll(Closing::new());
        let limit = settings.max_connections_per_address;
        let state = ServerState {
            runtime,
            settings,
            closing: Arc::clone(&end.0),
            shares: limit.map(Shares::for_each),
        };
        let runtime = &state.runtime;
        let accepting = accept(&*listener, &service, &state);
        race(until, accepting).await;
        // The operating system may have accepted more than was taken from it.
        if let Some(handshakes) = &handshakes {
            handshakes.refuse();
        }
        let queued = accept(&*listener, &service, &state);
        race(queued, Sleep::after(runtime, QUEUED)).await;
        drop((listener, handshakes, service));
        end.0.enter(Phase::Draining);
        let grace = state.settings.shutdown_timeout.unwrap_or(GRACE);
        let ended = async {
            // Each connection measures the time for its first request itself: where the runtime is busy, the request may have
            // arrived long before its connection is looked at. A handler that blocks its connection must not take all of the time.
            let most = FIRST_REQUEST.max(grace / 2);
            race(end.0.none_is_fresh(), Sleep::after(runtime, most)).await;
            let others = closed(grace);
            end.0.fewer_than(1).await;
            others.await;
        };
        let over = race(
            Sleep::after(runtime, FIRST_REQUEST + grace),
            runtime.interrupted(),
        );
        race(ended, over).await;
        Ok(())
    }
}

fn bind(address: impl ToSocketAddrs) -> io::Result<TcpListener> {
    let addresses: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    TcpListener::bind(&*addresses).map_err(|error| {
        let text = match &*addresses {
            [address] => format!("cannot listen on {address}: {error}"),
            addresses => format!("cannot listen on any of {addresses:?}: {error}"),
        };
        io::Error::new(error.kind(), text)
    })
}

/// Ends every connection when the server is dropped, or is done.
struct EndAll(Arc<Closing>);

impl Drop for EndAll {
    fn drop(&mut self) {
        self.0.enter(Phase::Over);
    }
}

/// State that all connections of a server share.
struct ServerState {
    runtime: RuntimeHandle,
    settings: Arc<Settings>,
    closing: Arc<Closing>,
    /// The connections of each address, if they are bounded.
    shares: Option<Arc<Shares<IpAddr>>>,
}

/// Accepts connections without end, each in a task of its own.
async fn accept<S, B>(listener: &dyn Listener, service: &S, state: &ServerState)
where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let ServerState {
        runtime,
        settings,
        closing,
        shares,
    } = state;
    loop {
        closing.fewer_than(settings.max_connections.max(1)).await;
        match poll_fn(|cx| listener.poll_accept(cx)).await {
            Ok((stream, address)) => {
                let caller = client_network(address.ip());
                let share = shares.as_ref().map(|shares| shares.take(Some(caller)));
                if matches!(share, Some(None)) {
                    continue;
                }
                let (on, service) = (runtime.clone(), service.clone());
                let (settings, state) = (Arc::clone(settings), Arc::clone(closing));
                let fresh = closing.fresh();
                let connection = async move {
                    let accepted = (stream, RemoteAddr(address), fresh);
                    connection(&on, accepted, service, &settings, &state).await;
                    drop(share);
                };
                runtime.spawn(Box::pin(closing.watch(connection)));
            }
            Err(error) if concerns_one(&error) => {}
            // Out of descriptors or memory: it gets better when others end, not by trying harder.
            Err(_) => Sleep::after(runtime, PAUSE).await,
        }
    }
}

/// The time for which connections are still accepted from the operating system after the shutdown
/// began.
const QUEUED: Duration = Duration::from_millis(10);

/// The time in which a client that has just connected must send a request after the shutdown began.
const FIRST_REQUEST: Duration = Duration::from_millis(250);

/// The default shutdown timeout.
const GRACE: Duration = Duration::from_secs(10);

/// The pause after an error of accepting that the next call would return again.
const PAUSE: Duration = Duration::from_millis(100);

/// Returns true if the error is about the connection that would have been accepted (accept(2)).
fn concerns_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(
        error.kind(),
        ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted
    )
}

async fn connection<S, B>(
    runtime: &RuntimeHandle,
    (stream, remote, fresh): (BoxStream, RemoteAddr, Fresh),
    service: S,
    settings: &Settings,
    closing: &Arc<Closing>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
    B: Body<Data: Send> + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let draining = async {
        poll_fn(|_| match closing.phase() {
            Phase::Running => Poll::Pending,
            Phase::Draining | Phase::Over => Poll::Ready(()),
        })
        .await;
        Sleep::after(runtime, FIRST_REQUEST).await;
    };
    let opening = within(runtime, settings.head_timeout, settings.open(stream));
    let Either::Left(Some(Ok(wire))) = race(opening, draining).await else {
        return;
    };
    let (vectored, is_plain) = (wire.is_vectored(), wire.is_plain());
    let activity = Activity::new(runtime);
    let blocked = Arc::clone(&activity);
    let io = Io::new(runtime, wire, vectored, settings.stall_timeout)
        .on_blocked(move |is_blocked| blocked.set_blocked(is_blocked));
    let service = Counted {
        service,
        remote,
        activity: Arc::clone(&activity),
    };
    let builder = settings.builder(runtime, is_plain);
    let mut connection = pin!(builder.serve_connection(io, service));
    let (mut ending, mut fresh) = (false, Some(fresh));
    let first_look = settings.head_timeout.min(settings.idle_timeout);
    let mut idle = Sleep::after(runtime, first_look);
    let (mut stalled, mut watched) = (None::<Sleep>, None::<Waker>);
    let mut first = None::<Sleep>;
    poll_fn(|cx| {
        if !watched.as_ref().is_some_and(|it| it.will_wake(cx.waker())) {
            activity.watch(cx);
            watched = Some(cx.waker().clone());
        }
        // First, because a request that has arrived is answered, however late it is read.
        if connection.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        if !ending && closing.phase() != Phase::Running {
            let first = first.get_or_insert_with(|| Sleep::after(runtime, FIRST_REQUEST));
            if activity.has_begun() || first.poll_done(cx).is_ready() {
                ending = true;
                connection.as_mut().graceful_shutdown();
                if connection.as_mut().poll(cx).is_ready() {
                    return Poll::Ready(());
                }
            }
        }
        if ending || activity.has_begun() {
            drop(fresh.take());
        }
        // Both look now and then, so that a request re-arms nothing.
        while let Some(since) = activity.waits_since() {
            let at = since + settings.stall_timeout;
            let due = at <= runtime.now();
            let sleep = stalled.get_or_insert_with(|| Sleep::until(runtime, at));
            match sleep.poll_done(cx) {
                Poll::Pending => break,
                Poll::Ready(()) if due => return Poll::Ready(()),
                Poll::Ready(()) => sleep.reset(at),
            }
        }
        while idle.poll_done(cx).is_ready() {
            let now = runtime.now();
            let since = activity.idle_since().unwrap_or(now);
            let (head, end) = (since + settings.head_timeout, since + settings.idle_timeout);
            let next = match activity.is_multiplexed() {
                true => end,
                false => head.min(end),
            };
            if next > now {
                idle.reset(next);
            } else if ending || next < end {
                return Poll::Ready(());
            } else {
                ending = true;
                connection.as_mut().graceful_shutdown();
                idle.reset(now + GOODBYE);
                cx.waker().wake_by_ref();
            }
        }
        Poll::Pending
    })
    .await;
}

/// The time in which an idle client must acknowledge that its connection ends.
const GOODBYE: Duration = Duration::from_secs(2);

impl Settings {
    /// Performs the TLS handshake on a socket, if TLS is configured.
    async fn open<S>(&self, stream: S) -> io::Result<MaybeTlsStream<S>>
    where
        S: futures_io::AsyncRead + futures_io::AsyncWrite + Unpin,
    {
        if let Some(identity) = &self.identity {
            return identity.accept(stream).await;
        }
        Ok(MaybeTlsStream::Plain(stream))
    }

    #[cfg(feature = "http2")]
    fn builder(&self, runtime: &RuntimeHandle, is_plain: bool) -> auto::Builder<Hyper> {
        let hyper = Hyper(runtime.clone());
        let mut builder = auto::Builder::new(hyper.clone());
        if is_plain && !self.has_plain_http2 {
            builder = builder.http1_only();
        }
        builder
            .http1()
            .header_read_timeout(NO_TIMER)
            .max_buf_size(self.max_head);
        builder
            .http2()
            .timer(hyper)
            // A peer that disappeared behind a broken network is noticed.
            .keep_alive_interval(self.idle_timeout / 2)
            .keep_alive_timeout(self.stall_timeout)
            .max_concurrent_streams(self.max_concurrent_streams)
            .max_header_list_size(u32::try_from(self.max_head).unwrap_or(u32::MAX));
        builder
    }

    #[cfg(not(feature = "http2"))]
    fn builder(&self, _: &RuntimeHandle, _: bool) -> http1::Builder {
        let mut builder = http1::Builder::new();
        builder
            .header_read_timeout(NO_TIMER)
            .max_buf_size(self.max_head);
        builder
    }
}

/// The connection bounds the time of a head itself: hyper would arm a timer for each.
const NO_TIMER: Option<Duration> = None;

impl fmt::Debug for HttpListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpListener")
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}
