//! Names of machines and exchanges.

/// Names a machine of an [`HttpServer`](super::HttpServer): that of a session, or of one request. It is not used
/// again after the machine is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerId(pub(super) u64);

/// Names an exchange of an [`HttpServer`](super::HttpServer): one request and its response. It is not used again
/// after the exchange is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExchangeId(pub(super) u64);
