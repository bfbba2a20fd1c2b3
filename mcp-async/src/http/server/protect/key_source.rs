//! The source of an issuer's keys.

use core::error::Error;
use core::fmt;
use core::future::Future;

use crate::runtime::BoxFuture;

/// Fetches the keys that an issuer signs access tokens with, as a JSON Web Key Set (RFC 7517,
/// section 5).
///
/// A closure is one, and so is a type whose method is an `async fn`. The document is kept for ten
/// minutes, and fetched again when a token has an unknown `kid`, at most every 30 seconds
/// ([`KeyFetchPolicy`](mcp_auth::resource::KeyFetchPolicy)). All requests wait for one fetch,
/// which ends after the [timeout](super::Protection::timeout) of the protection.
///
/// ```
/// use mcp_async::auth::KeySource;
///
/// /// Keys in a file that another program writes.
/// fn from_file(path: &'static str) -> impl KeySource {
///     move || async move { std::fs::read(path) }
/// }
/// # let _ = from_file("keys.json");
/// ```
pub trait KeySource: Send + Sync + 'static {
    /// Fetches the document, of at most 1 MiB.
    ///
    /// # Errors
    /// The keys are not available. The error is written to the server's log only, and requests are
    /// answered with 503, or verified with the keys that were fetched before.
    fn fetch(&self) -> impl Future<Output = Result<Vec<u8>, Box<dyn Error + Send + Sync>>> + Send;
}

impl<F, Fut, E> KeySource for F
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<Vec<u8>, E>> + Send + 'static,
    E: Into<Box<dyn Error + Send + Sync>>,
{
    async fn fetch(&self) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        self().await.map_err(Into::into)
    }
}

/// A [`KeySource`] as an object.
pub(in crate::http::server) trait DynKeySource: Send + Sync {
    fn fetch(&self) -> Answer<'_, Vec<u8>>;
}

impl<K: KeySource> DynKeySource for K {
    fn fetch(&self) -> Answer<'_, Vec<u8>> {
        Box::pin(KeySource::fetch(self))
    }
}

/// The future of what the application is asked for.
pub(in crate::http::server) type Answer<'a, T> =
    BoxFuture<'a, Result<T, Box<dyn Error + Send + Sync>>>;

/// Keys that do not change while the server runs: a JSON Web Key Set.
#[derive(Clone)]
pub struct StaticKeys(Vec<u8>);

impl StaticKeys {
    /// The keys of this document.
    pub fn new(document: impl Into<Vec<u8>>) -> Self {
        Self(document.into())
    }
}

impl KeySource for StaticKeys {
    async fn fetch(&self) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        Ok(self.0.clone())
    }
}

impl fmt::Debug for StaticKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StaticKeys").finish_non_exhaustive()
    }
}
