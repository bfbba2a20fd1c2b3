//! How a user reaches the page of an authorization server, and comes back.

use core::future::Future;
use core::pin::Pin;
use std::io;

use mcp_proto::auth::AuthorizationPage;

/// The future of a [`UserAgent`] or a [`CredentialStore`](super::CredentialStore).
pub type AuthorizationFuture<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// Sends a user to a page and receives the redirect.
///
/// [`SystemBrowser`](super::SystemBrowser) is the default, [`Terminal`](super::Terminal) is for
/// machines without a browser.
///
/// ```
/// use mcp_async::auth::{AuthorizationFuture, AuthorizationPage, UserAgent};
///
/// /// An application with a web view.
/// struct WebView;
///
/// impl UserAgent for WebView {
///     fn redirect_uri<'a>(&'a self, _registered: Option<&'a str>) -> AuthorizationFuture<'a, String> {
///         Box::pin(async { Ok("http://127.0.0.1:8976/callback".into()) })
///     }
///
///     fn open<'a>(&'a self, page: &'a AuthorizationPage) -> AuthorizationFuture<'a, String> {
///         Box::pin(async move { navigate(&page.url, &page.redirect_uri).await })
///     }
/// }
///
/// /// Shows the page until it leads to a URL that begins with the redirect URI, and returns that URL.
/// async fn navigate(url: &str, redirect_uri: &str) -> std::io::Result<String> {
/// #   let _ = (url, redirect_uri);
///     // ..
/// #   Err(std::io::ErrorKind::Unsupported.into())
/// }
/// # let _ = WebView;
/// ```
pub trait UserAgent: Send + Sync + 'static {
    /// Prepares to receive one redirect and returns its URI: `https`, or `http` on this machine.
    /// `registered` is the URI of an earlier registration of this client; the registration is used
    /// again if the URI is the same.
    ///
    /// # Errors
    ///
    /// No redirect can be received.
    fn redirect_uri<'a>(&'a self, registered: Option<&'a str>) -> AuthorizationFuture<'a, String>;

    /// Opens the page and returns the URL to which the user was sent back, unchanged. The client
    /// bounds the time and checks the URL. The URL of the page is `http` or `https` and must not
    /// pass through a shell.
    ///
    /// # Errors
    ///
    /// The page cannot be opened, or the user declined. The text becomes part of the error of the
    /// call, so it must contain no secret.
    fn open<'a>(&'a self, page: &'a AuthorizationPage) -> AuthorizationFuture<'a, String>;
}
