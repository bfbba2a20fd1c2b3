//! Sockets, HTTP and TLS on the [`Network`] of a runtime, independent of MCP.
//!
//! [`Listen`] serves any service of `tower` on any runtime; [`HttpClient`] sends requests on any
//! runtime.

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
