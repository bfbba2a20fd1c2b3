//! A server as a service over HTTP requests.
//!
//! ```text
//! builder, options        settings       endpoint       from a request to what answers it
//! authenticate, verify    the hook that verifies who sends a request, and its refusals
//! caller, trusted_proxies   who sent a request   protect   access tokens
//! head, collect a request, as the core reads it     answer, body   a response
//! conversation  a machine and its calls, driven by exchanges instead of byte streams
//! exchange      one request of 2026-07-28
//! legacy        what belongs to sessions            sessions, capacity   all of them
//! http_sse      the two endpoints of 2024-11-05
//! session, session_task   one of them, and its task
//! reading       a response that is a stream of a session
//! sharing, takeover, store_writer   what the store has of it
//! processes     other processes that share the sessions       status   for operators
//! forward, http_forward   how a request reaches one of them
//! ```
//!
//! A modern request has a machine, a service and a job of its own, inside its response: dropping
//! the response drops them. That is why [`Service`](crate::server::Service) need not be `Sync`:
//! no two requests share one, and a layer may keep what it likes without a lock. State that all
//! requests share lies behind the `Arc`s of the service factory, as usual.

mod answer;
mod auth_error;
mod authenticate;
mod body;
mod builder;
mod caller;
mod capacity;
mod collect;
mod conversation;
mod endpoint;
mod exchange;
mod forward;
mod head;
#[cfg(feature = "http-client")]
mod http_forward;
mod http_sse;
mod http_sse_paths;
mod legacy;
mod options;
mod processes;
#[cfg(feature = "auth")]
pub(crate) mod protect;
mod reading;
mod serve;
mod session;
mod session_task;
mod sessions;
mod sharing;
mod status;
mod store_writer;
mod takeover;
mod trusted_proxies;
mod turns;
mod verify;

use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use http::{Request, Response};
use http_body::Body;

use self::endpoint::HttpEndpoint;

pub use self::auth_error::AuthError;
pub use self::authenticate::{Authenticate, Authenticated};
pub use self::body::HttpBody;
pub use self::builder::Http;
pub use self::forward::{Forward, ForwardError, ForwardFuture, ForwardedBody, LocalForward};
#[cfg(feature = "http-client")]
pub use self::http_forward::HttpForward;
pub use self::status::{HttpStatus, Readiness};

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
        processes::start(&endpoint);
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
    /// for its [timeout](crate::tasks::server::Tasks::store_timeout); until the sessions that it
    /// [shares](Http::share) have ended here or wait for another process; until its lease is withdrawn; and until
    /// the other processes can learn of the changes that were reported here.
    /// A session store that does not answer is waited for until three seconds after the
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
        let endpoint = Arc::clone(&self.endpoint);
        Box::pin(async move { Ok(endpoint.serve(request).await) })
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
