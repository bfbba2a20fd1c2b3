//! The setting that protects an endpoint.

use std::sync::Arc;

use super::Http;
#[cfg(feature = "http-client")]
use crate::http::server::login::DelegatedLogin;
use crate::http::server::protect::protection::Protection;
use crate::runtime::RuntimeHandle;
#[cfg(feature = "http-client")]
use crate::server::RegisterError;
#[cfg(feature = "http-client")]
use crate::server::serving::Server;

impl Http {
    /// Protects the endpoint with access tokens of OAuth 2.1, as a resource server (RFC 9728): each
    /// request needs a token that the [`Protection`] accepts, and the metadata document that clients
    /// begin with is published.
    ///
    /// Requests are checked in the service itself, after path, host and origin: a browser's
    /// preflight is answered without a token, and refusals have the headers of CORS that let a page
    /// read their challenge. 401, 403 and 400 name in `WWW-Authenticate` what is missing. Responses
    /// that are event streams end when the token expires.
    ///
    /// The [`Principal`](crate::server::Principal) of a request is its issuer, subject and client,
    /// with [`TokenClaims`](mcp_auth::resource::TokenClaims) as its claims. Sessions and what
    /// belongs to them are unknown to other principals. It takes the place of one of
    /// [`authenticate`](Self::authenticate), whose hook is not called.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::auth::{Protection, StaticKeys, TokenClaims};
    /// use mcp_async::http::Http;
    /// use mcp_async::server::{Context, Principal, Tool};
    ///
    /// fn protected(keys: &str) -> Http {
    ///     let purge = Tool::new("purge").scopes(["notes:delete"]);
    ///     let purge = purge.handler(|(): (), cx: Context| async move {
    ///         let claims = cx.principal().and_then(Principal::claims::<TokenClaims>);
    ///         Ok(claims.and_then(TokenClaims::subject).unwrap_or("a program").to_owned())
    ///     });
    ///     let protection = Protection::new("https://mcp.example.com/mcp")
    ///         .issuer_with_keys("https://login.example.com", StaticKeys::new(keys))
    ///         .scopes(["notes:read"]);
    ///     Server::builder("notes", "1.0").with(purge).http().protect(protection)
    /// }
    /// ```
    pub fn protect(mut self, protection: Protection) -> Self {
        self.protection = Some(protection);
        self
    }

    /// Protects the endpoint by logins of its users at a provider that lets no clients register themselves, such as
    /// GitHub, Google or Entra ID: the server is the authorization server of its clients, and a client of the
    /// provider.
    ///
    /// It serves the endpoints of an authorization server at the origin of the resource, or below
    /// [another issuer](mcp_auth::authorization_server::LoginSettings::issuer): its metadata, `/register`, `/authorize`,
    /// `/consent`, `/callback`, `/token` and `/revoke`. A router in front of the service passes them on. The user
    /// consents on a page of this server, and then logs in at the provider. Each login asks, unless the server offers to
    /// [remember a consent](mcp_auth::authorization_server::LoginSettings::remember_consent).
    ///
    /// It is a [`protect`](Self::protect) with tokens of this server, whose handlers find the token of the provider by
    /// [`ProviderLogin`](crate::auth::ProviderLogin). A revoked token is refused within half a minute.
    #[cfg(feature = "http-client")]
    pub fn delegate_login(mut self, login: DelegatedLogin) -> Self {
        self.login = Some(login);
        self
    }

    /// Builds the guard, or notes the mistake.
    pub(super) fn build_guard(&mut self, protection: Protection, runtime: &RuntimeHandle) {
        match protection.build(self.options.path.as_deref(), runtime) {
            Ok(guard) => self.options.guard = Some(Arc::new(guard)),
            Err(mistake) => self.mistakes.push(mistake),
        }
    }

    /// Builds the authorization server and the guard of its tokens, or notes the mistake.
    #[cfg(feature = "http-client")]
    pub(super) fn build_login(
        &mut self,
        login: DelegatedLogin,
        server: &Server,
        runtime: &RuntimeHandle,
    ) {
        if self.options.guard.is_some() {
            let reason = "it protects the endpoint already: `DelegatedLogin::protection`";
            let mistake = RegisterError::setting("protect", &reason);
            self.mistakes.push(mistake);
            return;
        }
        let means = self.sharing.means.as_ref();
        let store = means.map(|means| Arc::clone(&means.store));
        match login.build(store, server.sealed_with(), runtime) {
            Ok((protection, login)) => {
                self.options.login = Some(login);
                self.build_guard(protection, runtime);
            }
            Err(mistake) => self.mistakes.push(mistake),
        }
    }
}
