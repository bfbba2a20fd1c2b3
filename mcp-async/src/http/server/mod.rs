//! A server as a service over HTTP requests.
//!
//! ```text
//! builder     the settings, and what serves them
//! admission   who sends a request, by the hook of the endpoint or by an access token
//! work        what a process does for the others
//! legacy      what belongs to sessions: their tasks, their streams, what the store has of them, and the
//!             two endpoints of 2024-11-05
//! endpoint    from a request to what answers it, and the table of sessions
//! exchange    one request of 2026-07-28; a conversation: a machine and its calls, driven by exchanges
//! processes   the processes that share the sessions
//! protect     access tokens
//! messages    a request, as the core reads it, and a response
//! ```
//!
//! Each imports from those below it only.
//!
//! A modern request has a machine, a service and a job of its own, inside its response: dropping
//! the response drops them. That is why [`Service`](crate::server::Service) need not be `Sync`:
//! no two requests share one, and a layer may keep what it likes without a lock. State that all
//! requests share lies behind the `Arc`s of the service factory, as usual.

mod admission;
mod builder;
mod endpoint;
mod exchange;
mod legacy;
#[cfg(all(feature = "auth", feature = "http-client"))]
pub(crate) mod login;
mod messages;
mod processes;
#[cfg(feature = "auth")]
pub(crate) mod protect;
mod work;

use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use http::{Request, Response};
use http_body::Body;

use self::endpoint::HttpEndpoint;

pub use self::builder::Http;
#[cfg(feature = "http-client")]
pub use self::builder::http_forward::HttpForward;
pub use self::endpoint::status::{HttpStatus, Readiness};
pub use self::messages::access_error::AccessError;
pub use self::messages::authenticate::Authenticate;
pub use self::messages::body::HttpBody;
pub use self::processes::route::{Forward, ForwardError, ForwardedBody, LocalForward};

/// A server's endpoint as a [`tower_service::Service`]: what
/// [`Http::into_service`] makes.
///
/// It is always ready, never fails, and its clones are one endpoint. Mount it with axum's
/// `route_service`, hand it to hyper, or call it.
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::Full;
/// use mcp_async::http::{HttpBody, HttpService};
/// use tower_service::Service;
///
/// async fn ask(mut service: HttpService) -> http::Response<HttpBody> {
///     let request = http::Request::post("/mcp")
///         .header("host", "localhost")
///         .header("content-type", "application/json")
///         .body(Full::<Bytes>::from("{}"))
///         .unwrap();
///     let Ok(response) = service.call(request).await;
///     assert_eq!(response.status(), 400);
///     response
/// }
/// ```
pub struct HttpService {
    endpoint: Arc<HttpEndpoint>,
}

impl HttpService {
    fn new(endpoint: HttpEndpoint) -> Self {
        let endpoint = Arc::new(endpoint);
        work::start(&endpoint);
        Self { endpoint }
    }

    /// Ends it in good order: new requests are answered with 503, what runs may finish within
    /// the [shutdown timeout](Http::shutdown_timeout), and listens end with their result. The time counts
    /// from the first call, and further calls have no effect.
    pub fn shutdown(&self) {
        let grace = self.endpoint.options.shutdown_timeout;
        self.endpoint.shutdown(grace);
    }

    /// [Shuts the service down](Self::shutdown), unless that has begun, and waits until the
    /// [tasks](crate::tasks) that this ends have ended, and their store has their ends or has not answered
    /// for its [timeout](crate::tasks::server::Tasks::store_timeout); until what providers of
    /// [logins](Http::delegate_login) have replaced is stored; until the sessions that it
    /// [shares](Http::share) have ended here or wait for another process; until its lease is withdrawn; and until
    /// the other processes can learn of the changes that were reported here.
    /// A store of sessions or logins that does not answer is waited for until three seconds after the
    /// [shutdown timeout](Http::shutdown_timeout). Other calls are not waited for: the socket does that.
    ///
    /// A program that mounts the service awaits it before it exits, after the socket has ended. Tasks of a
    /// server that is also served in another way continue, and are not waited for.
    ///
    /// ```
    /// use mcp_async::http::HttpService;
    ///
    /// async fn run(service: HttpService, socket: impl Future<Output = std::io::Result<()>>) -> std::io::Result<()> {
    ///     let served = socket.await;
    ///     service.drain().await;
    ///     served
    /// }
    /// ```
    pub async fn drain(&self) {
        self.shutdown();
        self.endpoint.drained().await;
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body<Data: Send> + Send + 'static,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (parts, body) = request.into_parts();
        // In an `Arc`, so that the future of a request is small.
        Arc::clone(&self.endpoint).serve(Arc::new(parts), body)
    }
}

impl Clone for HttpService {
    fn clone(&self) -> Self {
        Self {
            endpoint: Arc::clone(&self.endpoint),
        }
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService").finish_non_exhaustive()
    }
}
