use core::error::Error;
use core::fmt;
use std::io;

/// Why there is no response.
#[derive(Debug)]
#[non_exhaustive]
pub enum SendFailed {
    /// No absolute URL with a scheme that this build speaks: `http`, and `https` with the feature
    /// `tls`.
    Address(String),
    /// There is no connection: a name that nobody knows, a port where nobody listens, a
    /// certificate that is not trusted, a proxy that refuses. Nothing was sent.
    Unreachable {
        /// Host and port that were tried.
        server: String,
        /// What went wrong.
        cause: io::Error,
    },
    /// There was no connection within the time limit. Nothing was sent.
    TimedOut {
        /// Host and port that were tried.
        server: String,
    },
    /// The connection ended without a response. The server may have read the request.
    Lost(Box<dyn Error + Send + Sync>),
    /// The body of the response is encoded as nobody asked for.
    Coding(String),
    /// The server sent the request from here to there, and again, without an end.
    Redirects,
}

impl SendFailed {
    /// Whether it is certain that the server has not seen the request, so that it may be sent
    /// again whatever it does.
    ///
    /// ```
    /// use mcp_async::net::SendFailed;
    ///
    /// assert!(SendFailed::Address("nowhere".into()).is_unsent());
    /// assert!(!SendFailed::Redirects.is_unsent());
    /// ```
    pub const fn is_unsent(&self) -> bool {
        matches!(
            self,
            Self::Address(_) | Self::Unreachable { .. } | Self::TimedOut { .. }
        )
    }
}

impl fmt::Display for SendFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(url) => write!(f, "not a URL to send to: {url}"),
            Self::Unreachable { server, cause } => write!(f, "cannot connect to {server}: {cause}"),
            Self::TimedOut { server } => write!(f, "no connection to {server} in time"),
            Self::Lost(cause) => {
                f.write_str("the connection was lost: ")?;
                whole(&**cause, f)
            }
            Self::Coding(coding) => write!(f, "a response in an unknown encoding: {coding}"),
            Self::Redirects => f.write_str("too many redirects"),
        }
    }
}

impl Error for SendFailed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unreachable { cause, .. } => cause.source(),
            _ => None,
        }
    }
}

/// Why the body of a response ends too early.
#[derive(Debug)]
pub struct ReplyFailed(Box<dyn Error + Send + Sync>);

impl ReplyFailed {
    pub(super) fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for ReplyFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the response broke off: ")?;
        whole(&*self.0, f)
    }
}

impl Error for ReplyFailed {}

/// An error and what it came from: the first alone often says nothing.
fn whole(error: &dyn Error, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{error}")?;
    let mut next = error.source();
    while let Some(source) = next {
        write!(f, ": {source}")?;
        next = source.source();
    }
    Ok(())
}
