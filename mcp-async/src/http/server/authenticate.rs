//! The hook that verifies who sends a request.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use http::request::Parts;
use mcp_proto::http::Endpoint;

use super::answer::Answer;
use super::auth_error::AuthError;
use super::endpoint::HttpEndpoint;
use super::head::RequestHead;
use crate::runtime::Runtime;
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
pub(super) struct Hook(pub(super) Arc<dyn Authenticate>);

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authenticate")
    }
}

impl<R: Runtime> HttpEndpoint<R> {
    /// Verifies the sender, and keeps the principal in the extensions of the request; the answer
    /// if it is refused. Without a hook, and for what the other checks refuse or answer, nothing
    /// is done.
    pub(super) async fn authenticate(&self, parts: &mut Parts) -> Option<Answer> {
        let Hook(hook) = self.options.authenticate.as_ref()?;
        if !self.is_admitted(parts) {
            return None;
        }
        let verified = hook.authenticate(parts).await;
        parts.extensions.remove::<Principal>();
        match verified {
            Ok(Some(principal)) => parts.extensions.insert(principal),
            Ok(None) => None,
            Err(error) => return Some(error.into_answer()),
        };
        None
    }

    /// Whether the request goes to one of the endpoints, passes its checks of host and origin,
    /// and is no preflight.
    fn is_admitted(&self, parts: &Parts) -> bool {
        let head = RequestHead(parts);
        let http_sse = self.options.http_sse.as_ref();
        let endpoint = match http_sse.is_some_and(|both| both.is_at(parts.uri.path())) {
            true => Endpoint {
                path: None,
                ..self.endpoint()
            },
            false => self.endpoint(),
        };
        endpoint.admit(&head).is_ok() && !head.is_preflight()
    }
}
