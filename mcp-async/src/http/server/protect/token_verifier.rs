//! Verifiers of tokens that are not JSON Web Tokens.

use core::error::Error;
use core::future::Future;

use mcp_auth::Secret;
use mcp_auth::resource::TokenClaims;

use super::key_source::Answer;
use crate::runtime::RuntimeHandle;

/// Verifies opaque tokens of the application.
///
/// It finds out what a token states, and judges nothing: audience, expiry and scopes of the claims
/// are checked like those of every other token. It is asked about each request, unless
/// [`introspection_cache`](mcp_auth::resource::ResourceBuilder::introspection_cache) sets for how long answers are kept;
/// that a token is unknown is kept for 5 seconds. A closure is one, and so is a type whose method is an `async fn`.
///
/// ```
/// use mcp_async::auth::{Scopes, Secret, TokenClaims, TokenVerifier};
///
/// # async fn user_of(token: &str) -> std::io::Result<Option<String>> { Ok(Some(token.into())) }
/// fn by_database() -> impl TokenVerifier {
///     |token: Secret| async move {
///         let user = user_of(token.expose()).await?;
///         Ok::<_, std::io::Error>(user.map(|user| {
///             TokenClaims::new("https://login.example.com", "https://mcp.example.com/mcp")
///                 .with_subject(user)
///                 .with_scopes(Scopes::parse("notes:read"))
///         }))
///     }
/// }
/// # let _ = by_database();
/// ```
pub trait TokenVerifier: Send + Sync + 'static {
    /// Returns what the token states; `None` if it is unknown, expired or revoked.
    ///
    /// # Errors
    /// The token cannot be verified now. The error is written to the server's log only, and the
    /// request is answered with 503.
    fn verify(
        &self,
        token: Secret,
    ) -> impl Future<Output = Result<Option<TokenClaims>, Box<dyn Error + Send + Sync>>> + Send;
}

impl<F, Fut, E> TokenVerifier for F
where
    F: Fn(Secret) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Option<TokenClaims>, E>> + Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    async fn verify(
        &self,
        token: Secret,
    ) -> Result<Option<TokenClaims>, Box<dyn Error + Send + Sync>> {
        self(token).await.map_err(Into::into)
    }
}

/// Asks an authorization server about tokens (RFC 7662). A closure is one;
/// `RemoteIntrospection` (feature `http-client`) is another.
///
/// ```
/// use std::error::Error;
///
/// use mcp_async::auth::{Introspect, Secret};
///
/// /// Asks by a connection that the application has.
/// struct Gateway;
///
/// impl Introspect for Gateway {
///     async fn introspect(&self, token: Secret) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
///         Ok(ask(&token).await?)
///     }
/// }
///
/// # async fn ask(_: &Secret) -> std::io::Result<Vec<u8>> { Ok(vec![]) }
/// # let _ = Gateway;
/// ```
pub trait Introspect: Send + Sync + 'static {
    /// The endpoint begins to serve on this runtime. What asks over the network needs it, and what wraps another one
    /// passes this on.
    fn start(&self, _runtime: &RuntimeHandle) {}

    /// Returns the body of a response with status 200, of at most 1 MiB. It is kept for 30 seconds,
    /// and no longer than the token is valid.
    ///
    /// # Errors
    /// There is no such response. The error is written to the server's log only, and the request is
    /// answered with 503.
    fn introspect(
        &self,
        token: Secret,
    ) -> impl Future<Output = Result<Vec<u8>, Box<dyn Error + Send + Sync>>> + Send;
}

impl<F, Fut, E> Introspect for F
where
    F: Fn(Secret) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<u8>, E>> + Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    async fn introspect(&self, token: Secret) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        self(token).await.map_err(Into::into)
    }
}

/// A [`TokenVerifier`] as an object.
pub(in crate::http::server) trait DynTokenVerifier: Send + Sync {
    fn verify(&self, token: Secret) -> Answer<'_, Option<TokenClaims>>;
}

impl<V: TokenVerifier> DynTokenVerifier for V {
    fn verify(&self, token: Secret) -> Answer<'_, Option<TokenClaims>> {
        Box::pin(TokenVerifier::verify(self, token))
    }
}

/// An [`Introspect`] as an object.
pub(in crate::http::server) trait DynIntrospect: Send + Sync {
    fn start(&self, runtime: &RuntimeHandle);
    fn introspect(&self, token: Secret) -> Answer<'_, Vec<u8>>;
}

impl<I: Introspect> DynIntrospect for I {
    fn start(&self, runtime: &RuntimeHandle) {
        Introspect::start(self, runtime);
    }

    fn introspect(&self, token: Secret) -> Answer<'_, Vec<u8>> {
        Box::pin(Introspect::introspect(self, token))
    }
}
