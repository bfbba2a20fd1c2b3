//! Logging in without a browser on this machine.

use std::io::{self, Write as _};

use mcp_proto::auth::AuthorizationPage;

use super::blocking::blocking;
use super::user_agent::{AuthorizationFuture, UserAgent};

/// Prints the URL of the page to standard error, and reads the URL of the redirect from standard
/// input.
///
/// The user opens the page in a browser on any machine. After the consent the browser shows an
/// error, because nothing listens at the redirect URI; the user copies the URL from its address
/// bar. If the client is closed meanwhile, the next line of standard input is still read.
#[derive(Clone, Debug)]
pub struct Terminal {
    redirect_uri: String,
}

impl Terminal {
    /// Creates one with the redirect URI `http://127.0.0.1:33418/callback`, where nothing listens.
    pub fn new() -> Self {
        Self {
            redirect_uri: "http://127.0.0.1:33418/callback".into(),
        }
    }

    /// Sets the redirect URI, for clients that were registered with another one.
    #[must_use]
    pub fn redirect_uri(mut self, uri: &str) -> Self {
        self.redirect_uri = uri.to_owned();
        self
    }
}

impl Default for Terminal {
    fn default() -> Self {
        Self::new()
    }
}

impl UserAgent for Terminal {
    fn redirect_uri<'a>(&'a self, _: Option<&'a str>) -> AuthorizationFuture<'a, String> {
        Box::pin(async { Ok(self.redirect_uri.clone()) })
    }

    fn open<'a>(&'a self, page: &'a AuthorizationPage) -> AuthorizationFuture<'a, String> {
        let (url, redirect_uri) = (page.url.clone(), page.redirect_uri.clone());
        Box::pin(blocking(move || {
            let mut out = io::stderr().lock();
            writeln!(out, "Open this page in a browser:\n\n  {url}\n")?;
            writeln!(
                out,
                "Then paste the address that begins with {redirect_uri} here:"
            )?;
            drop(out);
            let mut line = String::new();
            io::stdin().read_line(&mut line)?;
            match line.trim() {
                "" => Err(io::Error::other("no address was entered")),
                redirect => Ok(redirect.to_owned()),
            }
        }))
    }
}
