//! The setting that protects an endpoint.

use super::Http;
use crate::http::server::protect::protection::Protection;

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
    /// use mcp_async::http::{Http, Principal};
    /// use mcp_async::server::{Context, Tool};
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
}
