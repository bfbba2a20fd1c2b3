//! The HTTP settings of a client.

use std::sync::Arc;

use super::credentials::Credentials;
use super::http_event::{HttpEvent, HttpObserver};
use super::settings::{Settings, bearer};
use crate::client::{Client, ClientBuilder, ConnectError};

impl<T> ClientBuilder<T> {
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
    /// an [`HttpClient`](crate::net::HttpClient), for [`HttpConnector::through`](crate::http::HttpConnector::through),
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
    /// use mcp_async::Client;
    /// use mcp_async::{Revision, RevisionSet};
    ///
    /// let drafted = Client::builder("demo", "1.0").draft_profile();
    /// // Or in its own name, and in no other:
    /// let only = RevisionSet::of(&[Revision::DraftV1]);
    /// let named = Client::builder("demo", "1.0").revisions(only);
    /// # drop((drafted, named));
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
    /// fn observed(builder: ClientBuilder) -> ClientBuilder {
    ///     builder.on_http(|event: HttpEvent<'_>| match event.step {
    ///         HttpStep::Request { method, url, .. } => eprintln!("{} {method} {url}", event.exchange),
    ///         HttpStep::Response { status, .. } => eprintln!("{} {status}", event.exchange),
    ///         _ => {}
    ///     })
    /// }
    /// # let _ = observed;
    /// ```
    pub fn on_http(mut self, callback: impl Fn(HttpEvent<'_>) + Send + Sync + 'static) -> Self {
        if let Some(http) = self.http() {
            http.observer = Some(Arc::new(HttpObserver::new(callback)));
        }
        self
    }

    /// Returns the settings of HTTP.
    pub(super) fn settings(&self) -> Settings {
        let settings = self.transport_data.get::<Settings>();
        settings.cloned().unwrap_or_default()
    }

    fn http(&mut self) -> Option<&mut Settings> {
        self.transport_data.get_mut()
    }
}

impl Client {
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
