//! MCP over HTTP.
//!
//! [`Server::http`](crate::Server::http) returns the settings of an endpoint, of which
//! [`Http::into_service`] makes a [`tower_service::Service`]: hyper, axum and other frameworks can mount it.
//! [`HttpConnector`] connects a client.

#[cfg(feature = "http-client")]
pub(crate) mod client;
#[cfg(feature = "http-server")]
pub(crate) mod server;
#[cfg(feature = "http-server")]
mod store;

#[cfg(feature = "http-client")]
pub use client::{HttpConnector, HttpEvent, HttpStep};
#[cfg(all(feature = "http-server", feature = "http-client"))]
pub use server::HttpForward;
#[cfg(feature = "http-server")]
pub use server::{
    AccessError, Authenticate, Forward, ForwardError, ForwardedBody, Http, HttpBody, HttpService,
    HttpStatus, LocalForward, Readiness,
};
#[cfg(feature = "http-server")]
pub use store::{
    Announced, Claim, LiveProcess, MemoryStore, MemorySubscription, Owner, Replay, SessionStore,
    StoreError, StoreSubscription, StoredEvent, TakenSession, check_session_store,
};
