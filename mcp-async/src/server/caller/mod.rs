//! The client that calls: who it is, what it declared, what it may, and the handle that reaches it.

pub(super) mod about;
#[cfg(all(feature = "auth", feature = "http-server"))]
pub(super) mod access;
pub(super) mod ask;
#[cfg(feature = "server")]
pub(super) mod extension_revisions;
#[cfg(feature = "server")]
pub(super) mod live;
pub(super) mod log;
#[cfg(feature = "server")]
pub(super) mod lookup;
pub(super) mod machine;
pub(super) mod peer;
pub(super) mod principal;
#[cfg(feature = "server")]
pub(super) mod rate;
