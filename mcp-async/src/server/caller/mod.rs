//! The client that calls: who it is, what it declared, what it may, and the handle that reaches it.

#[cfg(all(feature = "auth", feature = "http-server"))]
pub(super) mod access;
pub(super) mod ask;
pub(super) mod buckets;
pub(super) mod client_info;
pub(super) mod extension_revisions;
pub(super) mod live;
pub(super) mod log;
pub(super) mod lookup;
pub(super) mod peer;
pub(super) mod principal;
pub(super) mod rate;

use mcp_proto::server::{Growing, Server};

/// The state machine of a connection.
pub(crate) type Machine = Server<'static, Growing>;
