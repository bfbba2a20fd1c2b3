//! Sends the requests of authorization: metadata, registrations, tokens.

use core::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use core::time::Duration;
use http::header::{CONTENT_LENGTH, LOCATION};
use http::response::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use http_body_util::Full;
use mcp_auth::{AuthConfig, Grant, HttpRequest, HttpResponse, Uri};
use tower_service::Service;
use url::Url;

use crate::http::client::carrier::{Carrier, Reply, Sending, Through, Unsent};
use crate::http::client::carrier::{Whole, whole};
use crate::net::{AddressGuard, HttpClient, without_secrets};
use crate::runtime::{RuntimeHandle, within};
use crate::sync::Lock;

/// Sends a request of authorization.
pub(in crate::http::client) trait DocumentCarrier: Send + Sync {
    /// `is_given`: the user gave the origin of the URL.
    fn send(&self, request: Request<Full<Bytes>>, is_given: bool) -> Sending;
}

/// A client of HTTP that judges each address.
pub(in crate::http::client) struct GuardedClient {
    runtime: RuntimeHandle,
    server: Url,
    /// The address of the first connection to the MCP server.
    first_address: Arc<OnceLock<IpAddr>>,
    allow_private: bool,
    plain: HttpClient,
    /// The newest guard with its client.
    guarded: Arc<Lock<Option<Guarded>>>,
}

type Guarded = (AddressGuard, HttpClient);

impl GuardedClient {
    pub(in crate::http::client) fn new(
        runtime: &RuntimeHandle,
        server: Url,
        first_address: Arc<OnceLock<IpAddr>>,
        allow_private: bool,
    ) -> Self {
        let plain = HttpClient::builder().no_redirects().build();
        plain.start(runtime);
        Self {
            runtime: runtime.clone(),
            server,
            first_address,
            allow_private,
            plain,
            guarded: Arc::default(),
        }
    }
}

impl DocumentCarrier for GuardedClient {
    fn send(&self, request: Request<Full<Bytes>>, is_given: bool) -> Sending {
        if is_given {
            return Through::new(self.plain.clone()).send(request);
        }
        let first = self.first_address.get().copied();
        let host = self.server.host_str().unwrap_or_default().to_owned();
        let port = self.server.port_or_known_default().unwrap_or(443);
        let (guarded, allow_private) = (Arc::clone(&self.guarded), self.allow_private);
        let runtime = self.runtime.clone();
        Box::pin(async move {
            let mut guard = match first {
                Some(address) => AddressGuard::near(address),
                // Stored credentials are refreshed before the first connection to the server.
                None => {
                    let host = host.trim_matches(['[', ']']);
                    let addresses = runtime.resolve(host, port).await.unwrap_or_default();
                    near_all(&addresses)
                }
            };
            if allow_private {
                guard = guard.allow_private();
            }
            let client = {
                let mut kept = guarded.lock();
                match &*kept {
                    Some((of, client)) if *of == guard => client.clone(),
                    _ => {
                        let client = HttpClient::builder().no_redirects().guard(guard).build();
                        client.start(&runtime);
                        *kept = Some((guard, HttpClient::clone(&client)));
                        client
                    }
                }
            };
            Through::new(client).send(request).await
        })
    }
}

/// The guard near the server if all its addresses are in the same kind of network: any of them may be
/// that of the server.
fn near_all(addresses: &[SocketAddr]) -> AddressGuard {
    let mut guards = addresses.iter().map(|it| AddressGuard::near(it.ip()));
    let first = guards.next().unwrap_or_else(AddressGuard::public_only);
    match guards.all(|guard| guard == first) {
        true => first,
        false => AddressGuard::public_only(),
    }
}

/// A service of the application's own: names are its to judge, addresses in URLs are judged here.
pub(in crate::http::client) struct ServiceCarrier<S> {
    service: Through<S>,
    guard: AddressGuard,
}

impl<S> ServiceCarrier<S> {
    pub(in crate::http::client) fn new(
        runtime: &RuntimeHandle,
        service: S,
        server: &Url,
        allow_private: bool,
    ) -> Self {
        let guard = AddressGuard::near_host(server.host_str().unwrap_or_default());
        Self {
            service: Through::new(service).on(runtime.clone()),
            guard: match allow_private {
                true => guard.allow_private(),
                false => guard,
            },
        }
    }
}

impl<S, B> DocumentCarrier for ServiceCarrier<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    fn send(&self, request: Request<Full<Bytes>>, is_given: bool) -> Sending {
        let host = request.uri().host().unwrap_or_default();
        match self.guard.judge_host(host) {
            Err(refused) if !is_given => Box::pin(async move {
                Err(Unsent {
                    begun: false,
                    cause: refused.to_string(),
                })
            }),
            _ => self.service.send(request),
        }
    }
}

/// The response of a party.
pub(super) struct Fetched {
    head: Parts,
    body: Vec<u8>,
}

impl Fetched {
    /// Hands the response to `take`.
    pub(super) fn with<T>(&self, take: impl FnOnce(HttpResponse<'_>) -> T) -> T {
        let headers = self.head.headers.iter();
        let headers: Vec<(&str, &[u8])> = headers
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        take(HttpResponse {
            status: self.head.status.as_u16(),
            headers: &headers,
            body: &self.body,
        })
    }
}

/// The exchanges of authorization: each is bounded in time, redirects and length.
pub(super) struct Documents {
    carrier: Box<dyn DocumentCarrier>,
    server: String,
    /// The origins that the user gave.
    given: Vec<String>,
}

impl Documents {
    pub(super) fn new(carrier: Box<dyn DocumentCarrier>, config: &AuthConfig) -> Self {
        let registered = config.pre_registered.as_ref();
        let mut given = vec![
            Some(&config.server),
            config.preferred_issuer.as_ref(),
            registered.and_then(|client| client.issuer.as_ref()),
        ];
        if let Grant::Enterprise(grant) = &config.grant {
            given.extend([Some(&grant.token_endpoint), grant.client.issuer.as_ref()]);
        }
        let origin = |url: &String| Uri::parse(url).ok().map(|url| url.origin());
        Self {
            carrier,
            server: config.server.clone(),
            given: given.into_iter().flatten().filter_map(origin).collect(),
        }
    }

    /// Sends a request and reads its response. The error is a text without secrets.
    pub(super) async fn fetch(
        &self,
        request: &HttpRequest,
        runtime: &RuntimeHandle,
    ) -> Result<Fetched, String> {
        match within(runtime, LIMIT, self.follow(request)).await {
            Some(fetched) => fetched,
            None => Err(format!("no whole response within {} s", LIMIT.as_secs())),
        }
    }

    async fn follow(&self, request: &HttpRequest) -> Result<Fetched, String> {
        let mut url = request.url.clone();
        for left in (0..=request.max_redirects).rev() {
            let sending = self
                .carrier
                .send(build(request, &url)?, self.is_given(&url));
            let response = sending.await.map_err(|unsent| unsent.cause)?;
            match redirect(&url, &response) {
                None => return read(response).await,
                Some(_) if left == 0 && request.max_redirects == 0 => return read(response).await,
                Some(to) => {
                    self.judge(&to)?;
                    url = to;
                }
            }
        }
        Err(String::from("too many redirects"))
    }

    fn is_given(&self, url: &str) -> bool {
        Uri::parse(url).is_ok_and(|url| self.given.contains(&url.origin()))
    }

    /// Judges where a redirect leads to.
    fn judge(&self, url: &str) -> Result<(), String> {
        let server = Uri::parse(&self.server);
        let is_allowed = match (server, Uri::parse(url)) {
            (Ok(server), Ok(to)) => self.is_given(url) || server.may_name(&to),
            _ => false,
        };
        match is_allowed {
            true => Ok(()),
            false => Err(format!("redirected to {}", without_secrets(url))),
        }
    }
}

fn build(request: &HttpRequest, url: &str) -> Result<Request<Full<Bytes>>, String> {
    let body = request.body.as_ref();
    let body = body.map_or_else(Bytes::new, |body| {
        Bytes::copy_from_slice(body.expose().as_bytes())
    });
    let mut built = Request::builder().method(request.method).uri(url);
    for (name, value) in &request.headers {
        let mut value = HeaderValue::from_str(value.expose())
            .map_err(|_| format!("the field {name} cannot be sent"))?;
        value.set_sensitive(true);
        built = built.header(HeaderName::from_static(name), value);
    }
    let built = built.body(Full::new(body));
    built.map_err(|_| String::from("the URL cannot be requested"))
}

/// Returns the URL that a response redirects to.
fn redirect(url: &str, response: &Response<Reply>) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?.to_str().ok()?;
    let mut to = Url::parse(url).ok()?.join(location).ok()?;
    to.set_fragment(None);
    Some(to.into())
}

/// Reads a document. One that is too long is one byte longer than it may be, so that its length is
/// noticed; nothing is read of one that is announced to be longer (AU-31).
async fn read(response: Response<Reply>) -> Result<Fetched, String> {
    let (head, reply) = response.into_parts();
    let body = match is_announced_too_long(&head.headers) {
        true => Whole::TooLong(Vec::new()),
        false => whole(reply, HttpRequest::MAX_BODY).await,
    };
    let body = match body {
        Whole::All(body) => body,
        Whole::TooLong(_) => vec![b' '; HttpRequest::MAX_BODY + 1],
        Whole::Broken => return Err(String::from("the response broke off")),
    };
    Ok(Fetched { head, body })
}

fn is_announced_too_long(headers: &HeaderMap) -> bool {
    let length = headers.get(CONTENT_LENGTH);
    let length = length.and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    length.is_some_and(|length| length > HttpRequest::MAX_BODY as u64)
}

/// The time limit of one document.
const LIMIT: Duration = Duration::from_secs(30);
