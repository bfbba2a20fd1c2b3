//! MCP over HTTP.
//!
//! [`Server::http`](crate::Server::http) turns a server into a [`tower_service::Service`], which hyper,
//! axum and other frameworks can mount.

#[cfg(feature = "http-client")]
pub(crate) mod client;
#[cfg(feature = "http-server")]
pub(crate) mod server;
#[cfg(feature = "http-server")]
mod store;

#[cfg(feature = "http-server")]
pub use crate::server::Principal;
#[cfg(feature = "http-client")]
pub use client::{HttpEvent, HttpStep};
#[cfg(feature = "http-server")]
pub use server::{AuthError, Authenticate, Authenticated, Http, HttpBody, HttpService};
#[cfg(feature = "http-server")]
pub use store::{
    Claim, EventStore, MemoryStore, Relay, Replay, SessionStore, StoreError, StoreFuture,
    StoredEvent, TakenSession, check_event_store, check_relay, check_session_store,
};
