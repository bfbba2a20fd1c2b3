mod body;
mod builder;
mod connector;
mod failed;
mod inflate;
mod origin;
mod pool;
mod shared_connection;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, HOST, LOCATION, PROXY_AUTHORIZATION,
};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode, Uri};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper_util::client::proxy::matcher::Intercept;
use tower_service::Service;
use url::Url;

use crate::runtime::RuntimeHandle;
use connector::Connector;
use inflate::Inflater;
use origin::Origin;
use pool::{Pool, PooledConnection, Use};

pub use body::ResponseBody;
pub use builder::HttpClientBuilder;
pub(crate) use failed::without_secrets;
pub use failed::{BodyFailed, SendFailed};

/// Sends requests over HTTP/1.1 and, where a server offers it over TLS, HTTP/2.
///
/// Clones share their connections. A connection is kept for the next request to the same server.
/// Proxies are those that the environment names (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`,
/// `NO_PROXY`), and are never asked for this machine itself. A redirect is followed if it keeps
/// method and body (307, 308) and stays with the same scheme, host and port, so that nothing
/// secret goes elsewhere; any other is handed back as the response that it is.
///
/// It is a [`tower_service::Service`] too, so layers fit around it. It has no runtime before something begins that
/// uses it: a connection through it, or a service whose documents it fetches. A program that sends requests of its own
/// [starts](Self::start) it.
///
/// ```
/// use http::Request;
/// use mcp_async::net::HttpClient;
/// use mcp_async::runtime::RuntimeHandle;
///
/// /// What a server says about one of its pages, on any runtime.
/// async fn status(runtime: &RuntimeHandle, url: &str) -> Result<u16, Box<dyn std::error::Error>> {
///     let client = HttpClient::default();
///     client.start(runtime);
///     let response = client.send(Request::get(url).body("")?).await?;
///     Ok(response.status().as_u16())
/// }
/// ```
pub struct HttpClient(Arc<Shared>);

struct Shared {
    runtime: OnceLock<RuntimeHandle>,
    connector: Connector,
    pool: Pool,
    inflate: bool,
    redirects: bool,
    /// The configured proxy is invalid: no request may be sent, least of all without it.
    wrong_proxy: bool,
}

/// Kept connections that one request may meet closed, before a new one is made.
const RETRIES: usize = 2;

/// Redirects that one request may follow (RFC 9110 15.4 asks for a bound).
const REDIRECTS: usize = 10;

impl HttpClient {
    /// Settings that differ from the default ones.
    pub fn builder() -> HttpClientBuilder {
        HttpClientBuilder::default()
    }

    /// Sets the runtime on which requests are sent that state none. The first one counts.
    pub fn start(&self, runtime: impl Into<RuntimeHandle>) {
        self.0.runtime.get_or_init(|| runtime.into());
    }

    /// Sends a request to the absolute URL in it, and returns the head of the response; the body
    /// is read from there on.
    ///
    /// A request that met a kept connection which the server had closed meanwhile is sent again on
    /// another, if nothing of it was written. Dropping the future, or the body, ends the exchange.
    /// There is no limit on how long a server may think.
    ///
    /// # Errors
    ///
    /// See [`SendFailed`]. A status is no error.
    pub async fn send(
        &self,
        request: Request<impl Into<Bytes>>,
    ) -> Result<Response<ResponseBody>, SendFailed> {
        self.follow(request.map(|body| Full::new(body.into())))
            .await
    }

    /// Sends a request, and again to wherever it is redirected.
    async fn follow(
        &self,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<ResponseBody>, SendFailed> {
        if !self.0.redirects {
            return self.exchange(request).await;
        }
        let (mut parts, body) = request.into_parts();
        for _ in 0..=REDIRECTS {
            // The map of the first request has spare room for the fields that are added; a clone has not.
            let mut next = parts.clone();
            let request = Request::from_parts(parts, body.clone());
            let response = self.exchange(request).await?;
            match onward(&next.uri, &response) {
                Some(uri) => next.uri = uri,
                None => return Ok(response),
            }
            parts = next;
        }
        Err(SendFailed::Redirects)
    }

    /// One request and its response, whatever that is.
    pub(crate) async fn exchange(
        &self,
        mut request: Request<Full<Bytes>>,
    ) -> Result<Response<ResponseBody>, SendFailed> {
        if self.0.inflate && !request.headers().contains_key(ACCEPT_ENCODING) {
            let offered = HeaderValue::from_static("gzip, deflate");
            request.headers_mut().insert(ACCEPT_ENCODING, offered);
        }
        let uri = core::mem::take(request.uri_mut());
        let origin = Origin::of(&uri)?;
        if self.0.wrong_proxy {
            return Err(SendFailed::Proxy);
        }
        let stated = request.extensions_mut().remove::<RuntimeHandle>();
        let runtime = stated.as_ref().or_else(|| self.0.runtime.get());
        let runtime = runtime.ok_or(SendFailed::NotStarted)?;
        let proxy = self.0.connector.proxy(&uri, &origin);
        // A connection from the pool may be closed by now; one that was just dialled is the last try.
        let mut retries = 0..RETRIES;
        loop {
            let waiting = match retries.next() {
                Some(_) => self.0.pool.take(&origin, runtime.now()).await,
                None => None,
            };
            let last = waiting.is_none();
            let mut kept = match waiting {
                Some(kept) => kept,
                None => {
                    // Boxed: most requests need no room for it.
                    let kept =
                        Box::pin(self.0.connector.dial(runtime, &origin, proxy.as_ref())).await?;
                    self.0.pool.share(&origin, &kept, runtime.now());
                    kept
                }
            };
            address(&mut request, &uri, &origin, &kept, proxy.as_ref());
            match kept.send(request).await {
                Ok(response) => return self.keep(runtime, origin, kept, response),
                Err(mut error) => match error.take_message() {
                    Some(unsent) if !last => request = unsent,
                    _ => return Err(origin.failed(error.into_error())),
                },
            }
        }
    }

    /// Leaves the connection for the next request, which waits for the end of this response.
    fn keep(
        &self,
        runtime: &RuntimeHandle,
        origin: Origin,
        kept: PooledConnection,
        response: Response<Incoming>,
    ) -> Result<Response<ResponseBody>, SendFailed> {
        let in_use = Use::begin(runtime, &kept);
        self.0.pool.put(origin, kept, &in_use);
        let (mut parts, body) = response.into_parts();
        let inflater = match parts.headers.get(CONTENT_ENCODING) {
            Some(coding) if self.0.inflate => Inflater::new(coding)?,
            _ => None,
        };
        if inflater.is_some() {
            parts.headers.remove(CONTENT_ENCODING);
            parts.headers.remove(CONTENT_LENGTH);
        }
        Ok(Response::from_parts(
            parts,
            ResponseBody::new(body, inflater, in_use),
        ))
    }
}

/// Returns the URL of a redirect that is followed.
fn onward<B>(uri: &Uri, response: &Response<B>) -> Option<Uri> {
    // Others turn a POST into a GET (RFC 9110 15.4), which means nothing here.
    let (temporary, permanent) = (
        StatusCode::TEMPORARY_REDIRECT,
        StatusCode::PERMANENT_REDIRECT,
    );
    if response.status() != temporary && response.status() != permanent {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let here = Url::parse(&uri.to_string()).ok()?;
    let mut there = here.join(location).ok()?;
    there.set_fragment(None);
    let same = here.origin() == there.origin();
    same.then(|| there.as_str().parse().ok()).flatten()
}

/// Writes into the request where it goes, in the form that the connection wants (RFC 9112 3.2).
fn address(
    request: &mut Request<Full<Bytes>>,
    uri: &Uri,
    origin: &Origin,
    kept: &PooledConnection,
    proxy: Option<&Intercept>,
) {
    let forwarded = proxy.filter(|_| !origin.is_tls());
    let path = uri.path_and_query().cloned();
    *request.uri_mut() = match forwarded {
        // Known to be a URI: it is one without its user and its fragment.
        Some(_) => origin.absolute(path),
        None if kept.is_http2() => origin.absolute(path),
        None => path.map(Uri::from).unwrap_or_default(),
    };
    let headers: &mut HeaderMap = request.headers_mut();
    if kept.is_http2() {
        headers.remove(HOST);
    } else if let Ok(host) = HeaderValue::from_str(origin.host_header()) {
        headers.insert(HOST, host);
    }
    if let Some(authorization) = forwarded.and_then(Intercept::basic_auth) {
        headers.insert(PROXY_AUTHORIZATION, authorization.clone());
    }
}

impl Service<Request<Full<Bytes>>> for HttpClient {
    type Response = Response<ResponseBody>;
    type Error = SendFailed;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ResponseBody>, SendFailed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SendFailed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let client = self.clone();
        Box::pin(async move { client.follow(request).await })
    }
}

impl Clone for HttpClient {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl Default for HttpClient {
    fn default() -> Self {
        HttpClientBuilder::default().build()
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").finish_non_exhaustive()
    }
}
