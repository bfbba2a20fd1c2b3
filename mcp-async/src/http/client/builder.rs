//! The HTTP settings of a client, and connecting by URL.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use tower_service::Service;

use super::authorization::Authorizer;
#[cfg(feature = "auth")]
use super::authorization::ServiceCarrier;
use super::carrier::{Carrier, Through};
use super::credentials::Credentials;
use super::http_event::{HttpEvent, HttpObserver};
use super::session::meet;
use super::settings::{Settings, bearer};
use crate::client::builder::{Parts, first};
use crate::client::supervisor::Dial;
use crate::client::{Client, ClientBuilder, ConnectError};
use crate::error::SpawnError;
use crate::lock::lock;
use crate::net::{HttpClient, Network};
use crate::runtime::Runtime;

impl<R, T> ClientBuilder<R, T> {
    /// Sends this header with every request over HTTP. An application cannot set the headers that
    /// the protocol or the transport decides (`Accept`, `Host`, all that begin with `Mcp-`):
    /// connecting then fails with [`ConnectError::Header`], as it does for an invalid name or value
    /// of a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        if let Some(http) = self.http() {
            http.header(name, value);
        }
        self
    }

    /// Sends this token with every request over HTTP, as `Authorization: Bearer`. It appears in no
    /// log and no `Debug`. [`Client::set_bearer`] replaces it while the client lives; a layer around
    /// an [`HttpClient`](crate::net::HttpClient), for [`connect_through`](Self::connect_through),
    /// can renew it by itself.
    pub fn bearer(mut self, token: &str) -> Self {
        if let Some(http) = self.http() {
            http.bearer(token);
        }
        self
    }

    /// Holds legacy sessions over HTTP to the transports draft of spring 2026, which was never
    /// published, for servers that [demand it](crate::server::ServerBuilder::draft_profile): requests and
    /// notifications repeat their method and what they are about in headers, from the handshake
    /// on; arguments of tools may be repeated as numbers; and a request of the server that belongs
    /// to none of ours is refused with -32602, pings excepted.
    ///
    /// The draft's own revision, `DRAFT-2026-v1`, is accepted then, but not offered while there is
    /// another one of its era. A client of [`revisions`](Self::revisions) that has no other offers
    /// it, and speaks it so without this setting.
    ///
    /// ```
    /// use mcp_async::client::ConnectError;
    /// use mcp_async::net::Network;
    /// use mcp_async::Client;
    /// use mcp_proto::{Revision, RevisionSet};
    ///
    /// async fn drafted<R: Network>(url: &str) -> Result<Client<R>, ConnectError> {
    ///     let client = Client::builder("demo", "1.0").draft_profile().connect(url).await?;
    ///     // Or in its own name, and in no other:
    ///     let only = RevisionSet::of(&[Revision::DraftV1]);
    ///     let named: Client<R> = Client::builder("demo", "1.0").revisions(only).connect(url).await?;
    /// #   drop(named);
    ///     Ok(client)
    /// }
    /// ```
    pub fn draft_profile(mut self) -> Self {
        if let Some(http) = self.http() {
            http.draft = true;
        }
        self
    }

    /// Sets a callback for each request to the server over HTTP and what comes back, to show or
    /// measure them. It is called at once and in the order of the steps, and must neither block nor
    /// panic. Requests of an authorization to other servers are not observed.
    ///
    /// ```
    /// use mcp_async::client::ClientBuilder;
    /// use mcp_async::http::{HttpEvent, HttpStep};
    ///
    /// fn observed<R>(builder: ClientBuilder<R>) -> ClientBuilder<R> {
    ///     builder.on_http(|event: HttpEvent<'_>| match event.step {
    ///         HttpStep::Request { method, url, .. } => eprintln!("{} {method} {url}", event.exchange),
    ///         HttpStep::Response { status, .. } => eprintln!("{} {status}", event.exchange),
    ///         _ => {}
    ///     })
    /// }
    /// # let _ = observed::<()>;
    /// ```
    pub fn on_http(mut self, callback: impl Fn(HttpEvent<'_>) + Send + Sync + 'static) -> Self {
        if let Some(http) = self.http() {
            http.observer = Some(Arc::new(HttpObserver::new(callback)));
        }
        self
    }

    fn http(&mut self) -> Option<&mut Settings> {
        self.transport_data.get_mut()
    }
}

impl<R: Runtime, T> ClientBuilder<R, T> {
    /// Connects to the server at this URL over HTTP, in a task of its own, and returns once the
    /// server has identified itself. Whatever revision it speaks, and whether it has sessions,
    /// streams or the two endpoints of 2024-11-05, is found out. A session that the server loses
    /// is opened again (of the old two endpoints [`restart`](Self::restart) tells), and
    /// [`Client::close`] ends it. A user and a password in the URL are not sent: see
    /// [`bearer`](Self::bearer) and [`header`](Self::header).
    ///
    /// Connections, proxies and certificates are as an [`HttpClient`](crate::net::HttpClient)
    /// has them by itself; one with other settings goes into
    /// [`connect_through`](Self::connect_through).
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn connect(self, url: &str) -> Result<Client<R>, ConnectError>
    where
        R: Network,
    {
        #[cfg(feature = "auth")]
        if self.has_authorization() {
            return Box::pin(self.connect_authorized(url)).await;
        }
        self.connect_through(url, HttpClient::<R>::default()).await
    }

    /// Speaks to the server at a URL through a service of `tower`, an HTTP client of your own
    /// or, in a test, the server itself.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http_body_util::Full;
    /// use mcp_async::client::{ClientBuilder, ConnectError};
    /// use mcp_async::{Client, Runtime};
    /// use tower_service::Service;
    ///
    /// async fn meet<R: Runtime, S, F>(
    ///     builder: ClientBuilder<R>,
    ///     service: S,
    /// ) -> Result<Client<R>, ConnectError>
    /// where
    ///     S: Service<
    ///         http::Request<Full<Bytes>>,
    ///         Response = http::Response<Full<Bytes>>,
    ///         Error = core::convert::Infallible,
    ///         Future = F,
    ///     >,
    ///     S: Clone + Send + 'static,
    ///     F: Future<Output = Result<S::Response, S::Error>> + Send,
    /// {
    ///     builder.connect_through("http://localhost/mcp", service).await
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn connect_through<S, B>(
        mut self,
        url: &str,
        service: S,
    ) -> Result<Client<R>, ConnectError>
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
        B: http_body::Body + Send + 'static,
        B::Data: Send,
    {
        let settings = self.http().cloned().unwrap_or_default();
        #[cfg(feature = "auth")]
        if let Some(authorization) = &settings.authorization {
            let user_agent = authorization.chosen_user_agent();
            let url = settings.check(url)?;
            let allow_private = authorization.allow_private;
            let documents = ServiceCarrier::new(service.clone(), &url, allow_private);
            let surroundings = (Box::new(documents) as _, user_agent);
            return self.connect_with(&url, service, surroundings).await;
        }
        let parts = self.parts()?;
        dial_through(url, service, settings, parts, None).await
    }
}

/// Connects through a service, again after each end if the policy says so.
pub(super) async fn dial_through<R: Runtime, S, B>(
    url: &str,
    service: S,
    settings: Settings,
    parts: Parts,
    authorizer: Option<Arc<Authorizer>>,
) -> Result<Client<R>, ConnectError>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<Box<dyn core::error::Error + Send + Sync>>,
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    let url = url.to_owned();
    let service = Mutex::new(service);
    let config = parts.config.clone();
    let dial: Dial = Box::new(move |client_state, negotiation| {
        let config = (config.clone()).with(|config| config.negotiation = negotiation);
        let service = lock(&service);
        let carrier = Box::new(Through::new(service.clone()).observed(settings.observer.clone()));
        let (settings, url) = (settings.clone(), url.clone());
        let authorizer = authorizer.clone();
        Box::pin(async move {
            let carrier = (carrier as Box<dyn Carrier>, authorizer);
            let met = meet(carrier, &url, &settings, R::default(), config, client_state);
            met.await.map_err(SpawnError::Connect)
        })
    });
    first(dial, parts).await.map_err(connect_error)
}

impl<R> Client<R> {
    /// Sends this token with every request over HTTP from now on, in place of the earlier one. The
    /// server's own stream is asked for again if the server refused it with 401 or 403. Results
    /// that are kept are forgotten, because they may be private to another principal. Other
    /// transports have no use for it.
    ///
    /// # Errors
    /// [`ConnectError::Header`] if a header cannot carry the token; nothing changed then.
    pub fn set_bearer(&self, token: &str) -> Result<(), ConnectError> {
        let value = bearer(token)?;
        if let Some(credentials) = self.inner.client_state.transport_data.get::<Credentials>() {
            credentials.renew(Some(value));
        }
        // CH-05: it may be another principal's.
        self.forget_cached();
        Ok(())
    }
}

impl<R: Runtime> Client<R> {
    /// Speaks to the server at this URL, with the settings of a [`builder`](Self::builder) that
    /// are there anyway, under the name of this crate.
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::net::Network;
    ///
    /// async fn tools<R: Network>() -> Result<usize, Box<dyn std::error::Error>> {
    ///     let client = Client::<R>::connect("http://localhost:8000/mcp").await?;
    ///     Ok(client.tools().all().await?.len())
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub async fn connect(url: &str) -> Result<Self, ConnectError>
    where
        R: Network,
    {
        let (name, version) = (env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        Self::builder(name, version).connect(url).await
    }
}

/// Of what dials by itself, and starts nothing.
fn connect_error(error: SpawnError) -> ConnectError {
    match error {
        SpawnError::Connect(error) => error,
        SpawnError::Start(_) | SpawnError::ExitedEarly(_) | SpawnError::Output(_) => {
            ConnectError::Closed
        }
    }
}
