//! Serves the endpoint on its own socket.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use super::Http;
use crate::http::server::HttpService;
use crate::net::HttpListener;
use crate::observe;
use crate::runtime::within;

impl Http {
    /// Calls this function with the service when it is made: a program that only [serves](Self::serve) it has the
    /// [status](HttpService::status) of the endpoint by a clone. A clone in a handler of the same server keeps the
    /// endpoint until the program ends.
    ///
    /// ```
    /// use std::sync::{Arc, OnceLock};
    ///
    /// use mcp_async::Server;
    /// use mcp_async::net::HttpListener;
    ///
    /// async fn run(server: Server, listen: HttpListener) -> std::io::Result<()> {
    ///     let service = Arc::new(OnceLock::new());
    ///     let made = Arc::clone(&service);
    ///     let http = server.http().with_service(move |service| {
    ///         let _ = made.set(service.clone());
    ///     });
    ///     // Other parts of the program read the status of `service` while this serves.
    ///     http.serve(listen).await
    /// }
    /// ```
    pub fn with_service(mut self, made: impl FnOnce(&HttpService) + Send + 'static) -> Self {
        self.made = Some(Box::new(made));
        self
    }
}

impl Http {
    /// Serves it on a socket over HTTP/1.1 and HTTP/2, until the program is
    /// [interrupted](crate::runtime::Runtime::interrupted) or the server is [shut down](crate::server::Registry::shutdown); what
    /// runs then may finish. With [`shutdown`](Self::with_graceful_shutdown) it ends when that future resolves, and the
    /// signals of the process are left alone.
    ///
    /// The [`HttpListener`] brings the runtime, and has settings of its own: a certificate, timeouts, a bound on connections.
    /// An event of the level INFO has the URL when the server accepts connections. A program that needs the address
    /// itself, because it binds port 0, asks [`HttpListener::address`].
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::net::HttpListener;
    /// use mcp_async::runtime::RuntimeHandle;
    ///
    /// async fn run(runtime: RuntimeHandle, server: Server) -> std::io::Result<()> {
    ///     let listen = HttpListener::bind(runtime, "127.0.0.1:0");
    ///     println!("http://{}/mcp", listen.address()?);
    ///     server.http().serve(listen).await
    /// }
    /// ```
    ///
    /// # Errors
    /// Those of [`ServerBuilder::build`](crate::server::ServerBuilder::build), as an
    /// [`InvalidInput`](io::ErrorKind::InvalidInput) that holds the [`BuildError`](crate::server::BuildError); an address
    /// that cannot be bound, or that others can reach: say then by [`allow_hosts`](Http::allow_hosts) which names they
    /// may use, or [`allow_any_host`](Http::allow_any_host).
    pub async fn serve(mut self, listen: HttpListener) -> io::Result<()> {
        if !self.options.has_other_hosts() && !listen.address()?.ip().is_loopback() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, REACHABLE));
        }
        let path = self.options.path.as_deref().unwrap_or_default();
        let url = format!("{}{path}", listen.origin()?);
        let listen = listen.shutdown_timeout_or(self.options.shutdown_timeout);
        let processes = self.processes_listener(&listen)?;
        let runtime = listen.runtime().clone();
        let server = self.build(&runtime)?;
        let shutdown = self.shutdown.take();
        let service = self.into_service(&runtime)?;
        let ended = service.clone();
        let mut forwarded = pin!(processes.map(|processes| {
            let until = Arc::clone(&ended.endpoint);
            let until = async move { until.drained().await };
            processes.serve(service.clone(), until)
        }));
        let signals = runtime.clone();
        let end = async move {
            let mut shutdown = shutdown;
            // A program that passes a future for the end handles the signals as well.
            let mut interrupted = shutdown.is_none().then(|| signals.interrupted());
            poll_fn(|cx| {
                let asked = shutdown
                    .as_mut()
                    .is_some_and(|shutdown| shutdown.as_mut().poll(cx).is_ready());
                let over = asked
                    || interrupted
                        .as_mut()
                        .is_some_and(|interrupted| interrupted.as_mut().poll(cx).is_ready())
                    || server.inner.poll_closing(cx).is_ready();
                if over { Poll::Ready(()) } else { Poll::Pending }
            })
            .await;
        };
        observe::listening(&url);
        ended.endpoint.serving.start();
        let served = listen.serve_then(service, end, |grace| {
            ended.endpoint.shutdown(grace);
            ended.endpoint.drained()
        });
        let served = beside(served, forwarded.as_mut()).await;
        ended.endpoint.leave().await;
        // Answers to requests of other processes are sent to their end.
        if let Some(forwarded) = forwarded.as_pin_mut() {
            let _ = within(&runtime, LAST_ANSWERS, forwarded).await;
        }
        ended.endpoint.serving.finish().await;
        served
    }

    /// Sets the socket at which the other processes of a [shared](Self::share) endpoint reach this one, under
    /// its address unless [`reached_at`](Self::reached_at) says another URL. It stays open for them while
    /// sessions end here.
    ///
    /// Otherwise it is a port of its own at the same address if that is one of loopback, and the socket of the
    /// clients if `reached_at` says so; that one is closed as soon as the process is asked to end.
    pub fn processes_on(mut self, listen: HttpListener) -> Self {
        self.processes = Some(listen);
        self
    }

    /// The socket for other processes, if there is one, whose URL is known then.
    fn processes_listener(&mut self, clients: &HttpListener) -> io::Result<Option<HttpListener>> {
        if self.sharing.means.is_none() {
            return Ok(None);
        }
        let own = self.processes.take();
        let has_url = self.sharing.url.is_some();
        let listen = match own {
            Some(listen) => listen,
            None if has_url => return Ok(None),
            None if !clients.address()?.ip().is_loopback() => {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, UNREACHED));
            }
            None => clients.beside((clients.address()?.ip(), 0)),
        };
        if !has_url {
            if listen.address()?.ip().is_unspecified() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, UNREACHED));
            }
            let path = self.options.path.as_deref().unwrap_or("/");
            let url = format!("{}{path}", listen.origin()?);
            self.sharing.url = Some(url);
        }
        Ok(Some(
            listen.shutdown_timeout_or(self.options.shutdown_timeout),
        ))
    }
}

/// Serves clients, and beside that what other processes send; ends with the first, or with an error of the
/// second.
async fn beside(
    served: impl Future<Output = io::Result<()>>,
    mut forwarded: Pin<&mut Option<impl Future<Output = io::Result<()>>>>,
) -> io::Result<()> {
    let mut served = pin!(served);
    poll_fn(|cx| {
        if let Some(other) = forwarded.as_mut().as_pin_mut()
            && let Poll::Ready(ended) = other.poll(cx)
        {
            forwarded.set(None);
            if ended.is_err() {
                return Poll::Ready(ended);
            }
        }
        served.as_mut().poll(cx)
    })
    .await
}

/// The time that the answers to other processes have after those to clients.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

const UNREACHED: &str = "the other processes cannot reach this one at the address of its clients: \
                         `processes_on` or `reached_at` say where they can";

const REACHABLE: &str = "others can reach this address: `allow_hosts` says which names they may use \
                         for the server, `allow_any_host` allows all";
