//! The hook that verifies who sends a request.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use http::request::Parts;

use super::auth_error::AuthError;
use crate::server::Principal;

/// Verifies who sends a request: see [`Http::authenticate`](crate::http::Http::authenticate).
///
/// A closure is one. It reads what it needs of the head, and returns a future with a
/// [`Principal`], or with an `Option` of it where requests without one are admitted.
///
/// ```
/// use http::header::{AUTHORIZATION, HeaderValue};
/// use http::request::Parts;
/// use mcp_async::http::{AuthError, Authenticate, Principal};
///
/// # async fn user_of(token: String) -> std::io::Result<Option<String>> { Ok(Some(token)) }
/// fn by_token() -> impl Authenticate {
///     |head: &Parts| {
///         let sent = head.headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
///         let token = sent.and_then(|sent| sent.strip_prefix("Bearer ")).map(str::to_owned);
///         async move {
///             let challenge = || AuthError::unauthorized(HeaderValue::from_static("Bearer"));
///             let name = user_of(token.ok_or_else(challenge)?).await?;
///             Ok::<_, AuthError>(Principal::new(name.ok_or_else(challenge)?))
///         }
///     }
/// }
/// # let _ = by_token();
/// ```
pub trait Authenticate: Send + Sync + 'static {
    /// Verifies the sender of a request with this head. `None` admits it without a principal.
    ///
    /// # Errors
    /// The request is answered with the [`AuthError`].
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Authenticated<'a>;
}

/// The future of [`Authenticate::authenticate`].
pub type Authenticated<'a> =
    Pin<Box<dyn Future<Output = Result<Option<Principal>, AuthError>> + Send + 'a>>;

impl<F, Fut, P> Authenticate for F
where
    F: Fn(&Parts) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<P, AuthError>> + Send + 'static,
    P: Into<Option<Principal>>,
{
    fn authenticate<'a>(&'a self, head: &'a Parts) -> Authenticated<'a> {
        let verified = self(head);
        Box::pin(async move { Ok(verified.await?.into()) })
    }
}

/// The hook among the settings of an endpoint.
#[derive(Clone)]
pub(in crate::http::server) struct Hook(pub(in crate::http::server) Arc<dyn Authenticate>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authenticate")
    }
}
