//! The login of a user at the provider, for handlers.

use core::fmt;
use std::sync::Arc;

use mcp_auth::authorization_server::{LoginError, ProviderToken};

use super::login_server::LoginServer;

/// The login of the user of a request at the provider, among the claims of its
/// [`Principal`](crate::server::Principal).
///
/// ```
/// use mcp_async::auth::ProviderLogin;
/// use mcp_async::server::{Context, HandlerError, Principal};
///
/// /// Returns the token for requests to the provider's API, as the user of this call.
/// async fn token(cx: &Context) -> Result<String, HandlerError> {
///     let login = cx.principal().and_then(Principal::claims::<ProviderLogin>);
///     let login = login.ok_or_else(|| HandlerError::visible("log in first"))?;
///     Ok(login.token().await?.access_token.expose().to_owned())
/// }
/// ```
#[derive(Clone)]
pub struct ProviderLogin {
    server: Arc<LoginServer>,
    login: String,
}

impl ProviderLogin {
    pub(in crate::http::server) const fn new(server: Arc<LoginServer>, login: String) -> Self {
        Self { server, login }
    }

    /// Returns the access token of the provider. One that is about to expire is refreshed before, once for all
    /// requests and processes. It is for the provider's API and for no client.
    ///
    /// # Errors
    /// [`LoginError::Ended`] if the provider has ended the login: the next request of the client is refused, and the
    /// client logs in again. [`LoginError::Unavailable`] if the provider does not answer.
    pub async fn token(&self) -> Result<ProviderToken, LoginError> {
        self.server.provider_token(&self.login).await
    }
}

impl fmt::Debug for ProviderLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProviderLogin").finish_non_exhaustive()
    }
}
