//! Forwarded requests over HTTP.

use core::fmt;
use core::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};

use super::Http;
use crate::http::SessionStore;
use crate::http::server::processes::route::{Forward, ForwardError, ForwardedBody};
use crate::net::{HttpClient, HttpClientBuilder};
use crate::runtime::RuntimeHandle;

/// Forwards requests with an HTTP client.
///
/// [`Http::share`](crate::http::server::Http::share) uses one that trusts the certificates of the operating system. Another
/// one is for processes with certificates of an authority of their own:
///
/// ```
/// # #[cfg(feature = "tls")]
/// # mod tls {
/// use std::io;
///
/// use mcp_async::http::{Http, HttpForward, SessionStore};
/// use mcp_async::net::{HttpClient, RootCertificates};
///
/// fn shared(http: Http, store: impl SessionStore + 'static) -> io::Result<Http> {
///     let roots = RootCertificates::from_pem(&std::fs::read("authority.pem")?).map_err(io::Error::other)?;
///     let client = HttpClient::builder().roots(roots);
///     Ok(http.share_with(store, HttpForward::new(client)))
/// }
/// # }
/// ```
pub struct HttpForward(HttpClient);

impl HttpForward {
    /// Forwards with a client of these settings. It goes through no proxy, follows no redirects, takes at most
    /// one second to connect, and has a connection of HTTP/1.1 for each request at a time: neither a slow reader
    /// nor a bound of streams holds up other requests.
    pub fn new(client: HttpClientBuilder) -> Self {
        let client = client.no_proxy().no_redirects().http1_only();
        Self(client.connect_timeout(CONNECT_TIMEOUT).build())
    }
}

impl Http {
    /// Shares the legacy sessions with the other processes of this server, through a store that all of them
    /// reach: [`share_with`](Self::share_with) an [`HttpForward`] that trusts the certificates of the operating
    /// system.
    pub fn share(self, store: impl SessionStore + 'static) -> Self {
        let forward = HttpForward::new(HttpClient::builder());
        self.share_with(store, forward)
    }
}

impl Forward for HttpForward {
    fn start(&self, runtime: &RuntimeHandle) {
        self.0.start(runtime);
    }

    async fn forward(
        &self,
        request: Request<Bytes>,
    ) -> Result<Response<ForwardedBody>, ForwardError> {
        match self.0.exchange(request.map(Full::new)).await {
            Ok(response) => Ok(response.map(|body| {
                let body = body.map_err(Into::into);
                Box::pin(body) as ForwardedBody
            })),
            Err(error) if error.is_unsent() => Err(ForwardError::unsent(error)),
            Err(error) => Err(ForwardError::broken(error)),
        }
    }
}

impl fmt::Debug for HttpForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpForward").finish_non_exhaustive()
    }
}

/// A process that takes longer to accept a connection counts as one that cannot be reached.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);
