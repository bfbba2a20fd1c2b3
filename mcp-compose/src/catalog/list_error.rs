//! Errors of reading a list.

use core::error::Error;
use core::fmt;

use mcp_async::Method;
use mcp_async::client::CallError;
use mcp_async::code;

/// A list of a server that could not be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct ListError {
    /// The server.
    pub server: String,
    /// The method that reads the list.
    pub method: Method<'static>,
    /// The reason.
    pub kind: ListErrorKind,
}

/// A reason for which a list cannot be read.
#[derive(Debug)]
#[non_exhaustive]
pub enum ListErrorKind {
    /// The call of a page failed, its pages do not end ([`CallError::PaginationLimit`]), or it took longer than
    /// [`CatalogLimits::time`](super::CatalogLimits::time) ([`CallError::Timeout`]).
    Call(CallError),
    /// The list, the lists of the server, or all lists together, would have more than so many items; in one list a template
    /// counts once for each of its variables.
    Items(usize),
    /// The lists of the server, or all lists together, would have more than so many bytes.
    Bytes(usize),
}

impl ListErrorKind {
    /// Returns true if the server does not know the method: many servers of resources have no templates.
    pub(super) fn is_unknown_method(&self) -> bool {
        matches!(self, Self::Call(CallError::Server(error)) if error.code == code::METHOD_NOT_FOUND)
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} of the server {:?}: ",
            self.method.name(),
            self.server
        )?;
        match &self.kind {
            ListErrorKind::Call(error) => error.fmt(f),
            ListErrorKind::Items(limit) => write!(f, "there are more than {limit} items"),
            ListErrorKind::Bytes(limit) => write!(f, "the items have more than {limit} bytes"),
        }
    }
}

impl Error for ListError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.kind {
            ListErrorKind::Call(error) => error.source(),
            ListErrorKind::Items(_) | ListErrorKind::Bytes(_) => None,
        }
    }
}
