//! The hook that verifies who sends a request.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use http::request::Parts;

use super::access_error::AccessError;
use crate::runtime::BoxFuture;
use crate::server::Principal;

/// Verifies who sends a request: see [`Http::authenticate`](crate::http::Http::authenticate).
///
/// A type whose method is an `async fn` is one, and so is a closure. The closure reads what it needs
/// of the head, and returns a future with a [`Principal`], or with an `Option` of it where requests
/// without one are admitted.
///
/// ```
/// use http::header::{AUTHORIZATION, HeaderValue};
/// use http::request::Parts;
/// use mcp_async::http::{AccessError, Authenticate};
/// use mcp_async::server::Principal;
///
/// # async fn user_of(token: String) -> std::io::Result<Option<String>> { Ok(Some(token)) }
/// fn by_token() -> impl Authenticate {
///     |head: &Parts| {
///         let sent = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
///         let token = sent.and_then(|sent| sent.strip_prefix("Bearer ")).map(str::to_owned);
///         async move {
///             let challenge = || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
///             let name = user_of(token.ok_or_else(challenge)?).await?;
///             Ok::<_, AccessError>(Principal::new(name.ok_or_else(challenge)?))
///         }
///     }
/// }
/// # let _ = by_token();
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// Verifies the sender of a request with this head. `None` admits it without a principal.
    ///
    /// # Errors
    /// The request is answered with the [`AccessError`].
    fn authenticate(
        &self,
        head: &Parts,
    ) -> impl Future<Output = Result<Option<Principal>, AccessError>> + Send;
}

impl<F, Fut, P> Authenticate for F
where
    F: Fn(&Parts) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<P, AccessError>> + Send + 'static,
    P: Into<Option<Principal>>,
{
    async fn authenticate(&self, head: &Parts) -> Result<Option<Principal>, AccessError> {
        Ok(self(head).await?.into())
    }
}

/// An [`Authenticate`] as an object.
pub(in crate::http::server) trait DynAuthenticate: Send + Sync {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Verification<'a>;
}

impl<A: Authenticate> DynAuthenticate for A {
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Verification<'a> {
        Box::pin(Authenticate::authenticate(self, head))
    }
}

type Verification<'a> = BoxFuture<'a, Result<Option<Principal>, AccessError>>;

/// The hook among the settings of an endpoint.
#[derive(Clone)]
pub(in crate::http::server) struct Hook(pub(in crate::http::server) Arc<dyn DynAuthenticate>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authenticate")
    }
}
