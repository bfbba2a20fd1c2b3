//! The way of a user to the page of an authorization server, and back.

use core::future::{Future, ready};
use std::io;

use mcp_auth::{AuthorizationPage, PreRegistered};

use crate::runtime::{BoxFuture, RuntimeHandle};

/// Sends a user to a page and receives the redirect, and asks for a client id where the
/// authorization server requires one.
///
/// [`SystemBrowser`](super::SystemBrowser) is the default, [`Terminal`](super::Terminal) is for
/// machines without a browser.
///
/// ```
/// use std::io;
///
/// use mcp_async::auth::{AuthorizationPage, UserAgent};
///
/// /// An application with a web view.
/// struct WebView;
///
/// impl UserAgent for WebView {
///     async fn redirect_uri(&self, _registered: Option<&str>) -> io::Result<String> {
///         Ok("http://127.0.0.1:8976/callback".into())
///     }
///
///     async fn open(&self, page: &AuthorizationPage) -> io::Result<String> {
///         navigate(&page.url, &page.redirect_uri).await
///     }
/// }
///
/// /// Shows the page until it leads to a URL that begins with the redirect URI, and returns that URL.
/// async fn navigate(url: &str, redirect_uri: &str) -> io::Result<String> {
/// #   let _ = (url, redirect_uri);
///     // ..
/// #   Err(io::ErrorKind::Unsupported.into())
/// }
/// # let _ = WebView;
/// ```
pub trait UserAgent: Send + Sync + 'static {
    /// A client begins to connect on this runtime. What receives redirects itself needs it, and what wraps another one
    /// passes this on.
    fn start(&self, _runtime: &RuntimeHandle) {}

    /// Prepares to receive one redirect and returns its URI: `https`, or `http` on this machine.
    /// `registered` is the URI of an earlier registration of this client; the registration is used
    /// again if the URI is the same.
    ///
    /// # Errors
    ///
    /// No redirect can be received.
    fn redirect_uri(
        &self,
        registered: Option<&str>,
    ) -> impl Future<Output = io::Result<String>> + Send;

    /// Opens the page and returns the URL to which the user was sent back, unchanged. The client
    /// bounds the time and checks the URL. The URL of the page is `http` or `https` and must not
    /// pass through a shell.
    ///
    /// # Errors
    ///
    /// The page cannot be opened, or the user declined. The text becomes part of the error of the
    /// call, so it must contain no secret.
    fn open(&self, page: &AuthorizationPage) -> impl Future<Output = io::Result<String>> + Send;

    /// Returns whether [`open`](Self::open) also receives redirects to paths below the URI of
    /// [`redirect_uri`](Self::redirect_uri). A client that registers itself then has a redirect URI of
    /// its own for each issuer, in [`AuthorizationPage::redirect_uri`], so that a response of one
    /// authorization server is not taken for that of another. The default is false.
    fn receives_subpaths(&self) -> bool {
        false
    }

    /// Asks the user for a client that is registered with this issuer with this redirect URI. It is
    /// called before [`open`](Self::open) if the application has configured no client and the
    /// authorization server does not let clients register themselves. The MCP server names the
    /// issuer, so the user must see it before a secret is entered.
    ///
    /// The client is stored with the tokens and is used again for the same issuer and redirect URI,
    /// until the authorization server refuses it. `None` is the default; it ends the authorization
    /// with an error that says what to configure.
    ///
    /// # Errors
    ///
    /// The user cannot be asked. The text becomes part of the error of the call, so it must contain
    /// no secret.
    fn registered_client(
        &self,
        issuer: &str,
        redirect_uri: &str,
    ) -> impl Future<Output = io::Result<Option<PreRegistered>>> + Send {
        let _ = (issuer, redirect_uri);
        ready(Ok(None))
    }
}

/// A [`UserAgent`] as an object: its futures are in boxes.
pub(in crate::http::client) trait DynUserAgent: Send + Sync {
    fn start(&self, runtime: &RuntimeHandle);
    fn redirect_uri<'a>(&'a self, registered: Option<&'a str>)
    -> BoxFuture<'a, io::Result<String>>;
    fn open<'a>(&'a self, page: &'a AuthorizationPage) -> BoxFuture<'a, io::Result<String>>;
    fn receives_subpaths(&self) -> bool;
    fn registered_client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, io::Result<Option<PreRegistered>>>;
}

impl<U: UserAgent> DynUserAgent for U {
    fn start(&self, runtime: &RuntimeHandle) {
        UserAgent::start(self, runtime);
    }

    fn redirect_uri<'a>(
        &'a self,
        registered: Option<&'a str>,
    ) -> BoxFuture<'a, io::Result<String>> {
        Box::pin(UserAgent::redirect_uri(self, registered))
    }

    fn open<'a>(&'a self, page: &'a AuthorizationPage) -> BoxFuture<'a, io::Result<String>> {
        Box::pin(UserAgent::open(self, page))
    }

    fn receives_subpaths(&self) -> bool {
        UserAgent::receives_subpaths(self)
    }

    fn registered_client<'a>(
        &'a self,
        issuer: &'a str,
        redirect_uri: &'a str,
    ) -> BoxFuture<'a, io::Result<Option<PreRegistered>>> {
        Box::pin(UserAgent::registered_client(self, issuer, redirect_uri))
    }
}
