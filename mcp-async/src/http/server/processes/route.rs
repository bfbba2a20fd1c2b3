//! The way of a request to the process that owns its session.

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};

use crate::http::server::{HttpBody, HttpService};
use crate::runtime::{BoxFuture, RuntimeHandle};
use crate::sync::Lock;

/// Sends a request to another process of the same server: an HTTP client.
///
/// [`Http::share`](crate::http::server::Http::share) uses an `HttpForward`. [`LocalForward`] is for endpoints that are
/// several in one process.
///
/// ```
/// use bytes::Bytes;
/// use http::{Request, Response};
/// use mcp_async::http::{Forward, ForwardError, ForwardedBody};
///
/// /// Reports each request that another one sends.
/// struct Reported<F>(F);
///
/// impl<F: Forward> Forward for Reported<F> {
///     async fn forward(&self, request: Request<Bytes>) -> Result<Response<ForwardedBody>, ForwardError> {
///         eprintln!("to {}", request.uri());
///         self.0.forward(request).await
///     }
/// }
/// ```
pub trait Forward: Send + Sync + 'static {
    /// An endpoint begins to serve on this runtime. What forwards over the network needs it, and what wraps another one
    /// passes this on.
    fn start(&self, _runtime: &RuntimeHandle) {}

    /// Sends a request to the absolute URL in it. The future resolves with the head of the response.
    /// Dropping it, or the body of the response, ends the exchange. Redirects are not followed, and no
    /// request is sent twice.
    fn forward(
        &self,
        request: Request<Bytes>,
    ) -> impl Future<Output = Result<Response<ForwardedBody>, ForwardError>> + Send;
}

/// A [`Forward`] as an object.
pub(in crate::http::server) trait DynForward: Send + Sync {
    fn start(&self, runtime: &RuntimeHandle);
    fn forward(&self, request: Request<Bytes>) -> Forwarded<'_>;
}

impl<F: Forward> DynForward for F {
    fn start(&self, runtime: &RuntimeHandle) {
        Forward::start(self, runtime);
    }

    fn forward(&self, request: Request<Bytes>) -> Forwarded<'_> {
        Box::pin(Forward::forward(self, request))
    }
}

type Forwarded<'a> = BoxFuture<'a, Result<Response<ForwardedBody>, ForwardError>>;

/// The body of the response to a forwarded request.
pub type ForwardedBody =
    Pin<Box<dyn Body<Data = Bytes, Error = Box<dyn Error + Send + Sync>> + Send>>;

/// The reason for which a forwarded request has no response.
#[derive(Debug)]
pub struct ForwardError {
    unsent: bool,
    cause: Box<dyn Error + Send + Sync>,
}

impl ForwardError {
    /// The process could not be reached: nothing of the request was sent.
    pub fn unsent(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            unsent: true,
            cause: cause.into(),
        }
    }

    /// The connection has ended without a response: the request may have been read.
    pub fn broken(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            unsent: false,
            cause: cause.into(),
        }
    }

    /// Returns whether nothing of the request was sent.
    pub const fn is_unsent(&self) -> bool {
        self.unsent
    }
}

impl fmt::Display for ForwardError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.unsent {
            true => "another process cannot be reached",
            false => "another process broke the connection off",
        })
    }
}

impl Error for ForwardError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

/// Calls the services of one process directly, by the URLs at which they
/// [are reached](crate::http::server::Http::reached_at). Clones have the same services.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::http::{HttpService, LocalForward, MemoryStore};
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::server::{BuildError, StateKeys};
///
/// fn two(runtime: &RuntimeHandle) -> Result<[HttpService; 2], BuildError> {
///     let keys = StateKeys::new([7; 32]);
///     let server = Server::builder("demo", "1.0").state_keys(keys).build()?;
///     let (store, forward) = (MemoryStore::default(), LocalForward::default());
///     let service = |url: &str| {
///         let http = server.http().share_with(store.clone(), forward.clone());
///         let service = http.reached_at(url).into_service(runtime)?;
///         forward.insert(url, &service);
///         Ok(service)
///     };
///     Ok([service("http://localhost/a")?, service("http://localhost/b")?])
/// }
/// ```
#[derive(Clone, Default)]
pub struct LocalForward(Arc<Lock<BTreeMap<String, Call>>>);

type Call = Box<dyn Fn(Request<Bytes>) -> Option<Forwarded<'static>> + Send + Sync>;

impl LocalForward {
    /// Lets requests to this URL reach the service, until the last handle of it is dropped.
    pub fn insert(&self, url: impl Into<String>, service: &HttpService) {
        let endpoint = Arc::downgrade(&service.endpoint);
        let call: Call = Box::new(move |request| {
            let endpoint = endpoint.upgrade()?;
            Some(Box::pin(async move {
                let (parts, body) = request.into_parts();
                let Ok(response) = endpoint.serve(Arc::new(parts), HttpBody::full(body)).await;
                Ok(response.map(|body| Box::pin(LocalBody(body)) as ForwardedBody))
            }))
        });
        self.calls().insert(url.into(), call);
    }

    /// Lets requests to this URL fail, as if no process listened.
    pub fn remove(&self, url: &str) {
        self.calls().remove(url);
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Call>> {
        self.0.lock()
    }
}

impl Forward for LocalForward {
    async fn forward(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<ForwardedBody>, ForwardError> {
        let url = request.uri().to_string();
        let answered = self.calls().get(&url).and_then(|call| call(request));
        match answered {
            Some(answered) => answered.await,
            None => Err(ForwardError::unsent("no service has this URL")),
        }
    }
}

/// The body of a response of the same process.
struct LocalBody(HttpBody);

impl Body for LocalBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = Pin::new(&mut self.0).poll_frame(cx);
        frame.map_err(|never| match never {})
    }
}

impl fmt::Debug for LocalForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let calls = self.calls();
        f.debug_set().entries(calls.keys()).finish()
    }
}
