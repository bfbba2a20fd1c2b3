//! Sockets, HTTP and TLS below the protocol: what a [`Network`] brings and what is made of it.
//!
//! Nothing here has heard of MCP. [`Listen`] serves any service of `tower` on any runtime,
//! [`HttpClient`] sends requests from any.

mod client;
mod closing;
mod exchange;
mod io;
mod listen;
mod network;
mod remote;
mod time;
#[cfg(feature = "tls")]
mod tls;
mod wire;

#[cfg(feature = "client")]
pub(crate) use client::without_secrets;
pub use client::{HttpClient, HttpClientBuilder, Reply, ReplyFailed, SendFailed};
pub use listen::Listen;
pub use network::Network;
pub use remote::RemoteAddr;
#[cfg(feature = "tls")]
pub use tls::{Identity, Roots, TlsError};
