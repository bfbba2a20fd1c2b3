//! MCP over HTTP.
//!
//! A server becomes a [`tower_service::Service`] by [`Server::http`](crate::Server::http): hyper,
//! axum and whatever else speaks `tower` mount it.

#[cfg(feature = "client")]
pub(crate) mod client;
#[cfg(feature = "server")]
pub(crate) mod server;
#[cfg(feature = "server")]
mod store;

#[cfg(feature = "server")]
pub use server::{Http, HttpBody, HttpService, Principal};
#[cfg(feature = "server")]
pub use store::{
    EventStore, MemoryStore, Replay, SessionStore, StoreError, Stored, StoredEvent, Taken,
};
