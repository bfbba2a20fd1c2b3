//! The way to a server at a URL.

use core::fmt;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower_service::Service;

use super::authorization::Authorizer;
#[cfg(feature = "auth")]
use super::authorization::ServiceCarrier;
use super::carrier::{Carrier, Through};
use super::session::open_connection;
use super::settings::Settings;
use crate::client::connecting::builder::Parts;
use crate::client::{Client, ClientBuilder, ConnectError, Connector};
use crate::net::{HttpClient, without_secrets};
use crate::runtime::RuntimeHandle;

/// A connector over HTTP to the server at a URL.
///
/// Whatever revision the server speaks, and whether it has sessions, streams or the two endpoints of 2024-11-05, is
/// found out. A session that the server loses is opened again (of the old two endpoints
/// [`restart`](ClientBuilder::restart) tells), and [`Client::close`] ends it. A user and a password in the URL are not
/// sent: see [`bearer`](ClientBuilder::bearer) and [`header`](ClientBuilder::header).
///
/// Connections, proxies and certificates are as an [`HttpClient`] has them by itself; one with other settings goes into
/// [`through`](Self::through).
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::http::HttpConnector;
/// use mcp_async::runtime::RuntimeHandle;
///
/// async fn tools(runtime: RuntimeHandle) -> Result<usize, Box<dyn std::error::Error>> {
///     let server = HttpConnector::new(runtime, "http://localhost:8000/mcp");
///     let client = Client::connect(server).await?;
///     Ok(client.tools().all().await?.len())
/// }
/// ```
#[must_use = "it does nothing until a client connects by it"]
pub struct HttpConnector {
    pub(super) runtime: RuntimeHandle,
    pub(super) url: String,
}

impl HttpConnector {
    /// Creates a connector to the server at this URL.
    pub fn new(runtime: impl Into<RuntimeHandle>, url: impl Into<String>) -> Self {
        Self {
            runtime: runtime.into(),
            url: url.into(),
        }
    }

    /// Sends the requests through a service of `tower`: an HTTP client with settings or layers of your own or, in a
    /// test, the server itself. Each request has the [`RuntimeHandle`] in its extensions, where an [`HttpClient`] finds
    /// it.
    ///
    /// ```
    /// use mcp_async::client::{Client, ConnectError};
    /// use mcp_async::http::HttpConnector;
    /// use mcp_async::net::HttpClient;
    ///
    /// async fn connect(server: HttpConnector) -> Result<Client, ConnectError> {
    ///     let http = HttpClient::builder().no_proxy().build();
    ///     Client::connect(server.through(http)).await
    /// }
    /// ```
    pub fn through<S, B>(self, service: S) -> impl Connector
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
    {
        ThroughService {
            server: self,
            service,
        }
    }
}

impl Connector for HttpConnector {
    async fn connect(self, client: ClientBuilder) -> Result<Client, ConnectError> {
        #[cfg(feature = "auth")]
        if client.has_authorization() {
            return self.connect_authorized(client).await;
        }
        let http = HttpClient::default();
        http.start(&self.runtime);
        let settings = client.settings();
        let parts = client.parts(&self.runtime)?;
        let carrier = Through::new(http).observed(settings.observer.clone());
        self.dial(settings, parts, Arc::new(carrier), None).await
    }
}

/// A server, and what requests to it go through.
struct ThroughService<S> {
    server: HttpConnector,
    service: S,
}

impl<S, B> Connector for ThroughService<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    async fn connect(self, client: ClientBuilder) -> Result<Client, ConnectError> {
        let Self { server, service } = self;
        let settings = client.settings();
        let carrier = Through::new(service.clone()).on(server.runtime.clone());
        let carrier = Arc::new(carrier.observed(settings.observer.clone()));
        #[cfg(feature = "auth")]
        if let Some(authorization) = &settings.authorization {
            let user_agent = authorization.chosen_user_agent();
            let url = settings.check(&server.url)?;
            let allow_private = authorization.allow_private;
            let documents = ServiceCarrier::new(&server.runtime, service, &url, allow_private);
            let surroundings = (Box::new(documents) as _, user_agent);
            return server
                .connect_with(client, &url, carrier, surroundings)
                .await;
        }
        let parts = client.parts(&server.runtime)?;
        server.dial(settings, parts, carrier, None).await
    }
}

impl HttpConnector {
    /// Connects by a carrier, again after each end if the policy says so.
    pub(super) async fn dial(
        &self,
        settings: Settings,
        parts: Parts,
        carrier: Arc<dyn Carrier>,
        authorizer: Option<Arc<Authorizer>>,
    ) -> Result<Client, ConnectError> {
        let url = self.url.clone();
        parts
            .dial(move |config, client_state| {
                let (settings, url) = (settings.clone(), url.clone());
                let carrier = (Arc::clone(&carrier), authorizer.clone());
                Box::pin(async move {
                    open_connection(carrier, &url, &settings, config, client_state).await
                })
            })
            .await
    }
}

/// Shows the URL without user, password and query.
impl fmt::Debug for HttpConnector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpConnector")
            .field("runtime", &self.runtime)
            .field("url", &without_secrets(&self.url))
            .finish()
    }
}
