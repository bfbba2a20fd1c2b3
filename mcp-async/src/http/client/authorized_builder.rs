//! Connecting with authorization.

use std::sync::{Arc, OnceLock};

use url::Url;

use super::authorization::{
    Authorization, Authorizer, DocumentCarrier, DynUserAgent, GuardedClient, SystemBrowser,
};
use super::carrier::{Carrier, Through};
use super::connector::HttpConnector;
use super::settings::Settings;
use crate::client::{Client, ClientBuilder, ConnectError};
use crate::net::HttpClient;

impl<T> ClientBuilder<T> {
    /// Obtains access tokens when the server asks for them (OAuth 2.1), and sends them with every
    /// request to it. A call, or connecting, that the server refuses with status 401, or with 403 for
    /// lack of scopes, waits for the authorization and is then sent again. Its timeout does not
    /// run meanwhile, its [maximum duration](mcp_proto::client::Timeouts::max_duration) does. Calls
    /// that are refused together wait for one authorization.
    ///
    /// A user logs in with the browser of the system, unless another
    /// [user agent](Authorization::user_agent) is set. Of a client that connects
    /// [through a service](HttpConnector::through) the requests of the authorization go through the
    /// same service, which must judge the addresses that names resolve to; addresses in URLs are
    /// judged here; without a user agent no user is asked.
    ///
    /// ```
    /// use mcp_async::auth::Authorization;
    /// use mcp_async::client::ConnectError;
    /// use mcp_async::http::HttpConnector;
    /// use mcp_async::runtime::RuntimeHandle;
    /// use mcp_async::Client;
    ///
    /// async fn connect(runtime: RuntimeHandle) -> Result<Client, ConnectError> {
    ///     let builder = Client::builder("demo", "1.0").authorize(Authorization::new());
    ///     builder.connect(HttpConnector::new(runtime, "https://mcp.example/mcp")).await
    /// }
    /// ```
    pub fn authorize(mut self, authorization: Authorization) -> Self {
        if let Some(settings) = self.transport_data.get_mut::<Settings>() {
            settings.authorization = Some(authorization);
        }
        self
    }

    pub(super) fn has_authorization(&self) -> bool {
        self.settings().authorization.is_some()
    }
}

/// The carrier that fetches documents, and the agent that sends a user to pages.
pub(super) type Surroundings = (Box<dyn DocumentCarrier>, Option<Arc<dyn DynUserAgent>>);

impl HttpConnector {
    /// Connects with a client of HTTP whose addresses are known.
    pub(super) async fn connect_authorized(
        &self,
        client: ClientBuilder,
    ) -> Result<Client, ConnectError> {
        let settings = client.settings();
        let url = settings.check(&self.url)?;
        let authorization = settings.authorization.unwrap_or_default();
        let first_address = Arc::new(OnceLock::new());
        let http = HttpClient::builder().note_first_address(Arc::clone(&first_address));
        let http = http.build();
        http.start(&self.runtime);
        let allow_private = authorization.allow_private;
        let server = url.clone();
        let documents = GuardedClient::new(&self.runtime, server, first_address, allow_private);
        let user_agent = authorization.chosen_user_agent().unwrap_or_else(|| {
            let browser: Arc<dyn DynUserAgent> = Arc::new(SystemBrowser::new());
            browser
        });
        let surroundings: Surroundings = (Box::new(documents), Some(user_agent));
        let carrier = Through::new(http).observed(settings.observer);
        self.connect_with(client, &url, Arc::new(carrier), surroundings)
            .await
    }

    /// Connects by a carrier, with an authorizer.
    pub(super) async fn connect_with(
        &self,
        client: ClientBuilder,
        url: &Url,
        carrier: Arc<dyn Carrier>,
        (documents, user_agent): Surroundings,
    ) -> Result<Client, ConnectError> {
        let settings = client.settings();
        let mut authorization = settings.authorization.clone().unwrap_or_default();
        authorization.complete(
            identifier(url),
            client.display_name(),
            client.newest_revision(),
        );
        if let Some(user_agent) = &user_agent {
            user_agent.start(&self.runtime);
        }
        let parts = client.parts(&self.runtime)?;
        let client_state = Arc::clone(&parts.client_state);
        let authorizer = Authorizer::new(authorization, user_agent, documents, client_state);
        let authorizer =
            authorizer.map_err(|error| ConnectError::Authorization(Arc::new(error)))?;
        let authorizer = Some(Arc::new(authorizer));
        self.dial(settings, parts, carrier, authorizer).await
    }
}

/// The URL of the server, without what is not sent to it.
fn identifier(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    // Both fail only for URLs without a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.into()
}
