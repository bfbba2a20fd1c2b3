use core::error::Error;
use core::fmt;
use std::io;

/// Reasons for which there is no response.
#[derive(Debug)]
#[non_exhaustive]
pub enum SendFailed {
    /// No absolute URL with a scheme that this build speaks: `http`, and `https` with the feature
    /// `tls`. Here it is without user, password and query.
    Address(String),
    /// The text given to [`HttpClientBuilder::proxy`](super::HttpClientBuilder::proxy) is not the
    /// URL of a proxy. Nothing was sent: not past it either.
    Proxy,
    /// The client has no runtime: nothing was begun that brings one, and it was not
    /// [started](super::HttpClient::start) by itself. Nothing was sent.
    NotStarted,
    /// There is no connection: an unknown name, a closed port, an untrusted
    /// certificate, a proxy that refuses. Nothing was sent.
    Unreachable {
        /// Host and port that were tried.
        server: String,
        /// The error of the attempt to connect.
        cause: io::Error,
    },
    /// There was no connection within the time limit. Nothing was sent.
    TimedOut {
        /// Host and port that were tried.
        server: String,
    },
    /// The connection ended without a response. The server may have read the request.
    Lost(Box<dyn Error + Send + Sync>),
    /// The server's response is not HTTP. A port that speaks TLS alone sends such a response for
    /// `http://`.
    NotHttp {
        /// Host and port that were tried.
        server: String,
        /// True if the connection has TLS.
        tls: bool,
    },
    /// The body of the response has an encoding that was not requested.
    Coding(String),
    /// The server sent the request from here to there, and again, without an end.
    Redirects,
}

impl SendFailed {
    /// Returns true if the server has certainly not seen the request, so that it may be sent again
    /// whatever it does.
    pub const fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Address(_)
                | Self::Proxy
                | Self::NotStarted
                | Self::Unreachable { .. }
                | Self::TimedOut { .. }
        )
    }
}

impl fmt::Display for SendFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(url) if cfg!(not(feature = "tls")) && url.starts_with("https:") => {
                write!(
                    f,
                    "{url} needs the feature `tls`, which this build does not have"
                )
            }
            Self::Address(url) => write!(f, "not a URL to send to: {url}"),
            Self::Proxy => f.write_str("the proxy that was set has no URL that can be used"),
            Self::NotStarted => f.write_str("the HTTP client has no runtime"),
            Self::Unreachable { server, .. } => write!(f, "cannot connect to {server}"),
            Self::TimedOut { server } => write!(f, "no connection to {server} in time"),
            Self::Lost(_) => f.write_str("the connection was lost"),
            Self::NotHttp { server, tls: true } => write!(f, "{server} does not answer in HTTP"),
            Self::NotHttp { server, tls: false } => write!(
                f,
                "{server} does not answer in HTTP; if it speaks TLS, the URL begins with https://"
            ),
            Self::Coding(coding) => write!(f, "a response in an unknown encoding: {coding}"),
            Self::Redirects => f.write_str("too many redirects"),
        }
    }
}

impl Error for SendFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { cause, .. } => Some(cause),
            Self::Lost(cause) => Some(&**cause),
            _ => None,
        }
    }
}

/// The reason for which the body of a response ends too early.
#[derive(Debug)]
pub struct BodyFailed(Box<dyn Error + Send + Sync>);

impl BodyFailed {
    pub(super) fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for BodyFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the response broke off")
    }
}

impl Error for BodyFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

/// A URL for errors and logs: without user, password, query and fragment.
pub(crate) fn without_secrets(url: &str) -> String {
    let url = url.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = url.split_once("//") else {
        return url.to_owned();
    };
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = authority.rsplit('@').next().unwrap_or_default();
    format!("{scheme}//{host}{path}")
}

#[cfg(test)]
mod tests {
    use super::without_secrets;

    #[test]
    fn errors_show_no_secrets_of_a_url() {
        let check = |url, shown| assert_eq!(without_secrets(url), shown);
        check("ftp://ada:pw@a.example:1/b", "ftp://a.example:1/b");
        check("https://pw@a.example?key=1#x", "https://a.example");
        check("https://a.example/b@c", "https://a.example/b@c");
        check("https://a@b@c", "https://c");
        check("/mcp?key=1", "/mcp");
        check("", "");
    }
}
