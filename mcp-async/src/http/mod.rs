//! MCP over HTTP.
//!
//! [`Server::http`](crate::Server::http) turns a server into a [`tower_service::Service`], which hyper,
//! axum and other frameworks can mount.

#[cfg(feature = "http-client")]
pub(crate) mod client;
#[cfg(feature = "http-server")]
mod forward;
#[cfg(all(feature = "http-server", feature = "http-client"))]
mod http_forward;
#[cfg(feature = "http-server")]
pub(crate) mod server;
#[cfg(feature = "http-server")]
mod store;

#[cfg(feature = "http-server")]
pub use crate::server::Principal;
#[cfg(feature = "http-client")]
pub use client::{HttpEvent, HttpStep};
#[cfg(feature = "http-server")]
pub use forward::{Forward, ForwardError, ForwardFuture, ForwardedBody, LocalForward};
#[cfg(all(feature = "http-server", feature = "http-client"))]
pub use http_forward::HttpForward;
#[cfg(feature = "http-server")]
pub use server::{
    AuthError, Authenticate, Authenticated, Http, HttpBody, HttpService, HttpStatus, Readiness,
};
#[cfg(feature = "http-server")]
pub use store::{
    Announced, Claim, LiveProcess, MemoryStore, Owner, Replay, SessionStore, StoreError,
    StoreFuture, StoredEvent, Subscription, TakenSession, check_session_store,
};
