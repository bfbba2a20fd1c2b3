//! Sockets, HTTP and TLS on the sockets of a [`Runtime`](crate::runtime::Runtime), independent of MCP.
//!
//! `HttpListener` (feature `http-server`) serves any service of `tower` on any runtime; `HttpClient` (feature
//! `http-client`) sends requests on any runtime.

#[cfg(feature = "http-client")]
mod client;
#[cfg(feature = "http-server")]
mod closing;
#[cfg(feature = "http-server")]
mod exchange;
#[cfg(feature = "http-client")]
mod guard;
#[cfg(feature = "http-server")]
mod handshakes;
#[cfg(feature = "http-server")]
mod http_listener;
pub(crate) mod io;
mod maybe_tls_stream;
#[cfg(not(feature = "tls"))]
mod no_tls;
#[cfg(feature = "http-server")]
mod remote;
pub(crate) mod time;
#[cfg(feature = "tls")]
mod tls;

#[cfg(feature = "http-client")]
pub(crate) use client::without_secrets;
#[cfg(feature = "http-client")]
pub use client::{BodyFailed, HttpClient, HttpClientBuilder, ResponseBody, SendFailed};
#[cfg(feature = "http-client")]
pub use guard::{AddressClass, AddressGuard, AddressRefused};
#[cfg(feature = "http-server")]
pub use http_listener::HttpListener;
#[cfg(feature = "http-server")]
pub use remote::RemoteAddr;
#[cfg(feature = "http-server")]
pub(crate) use remote::client_network;
#[cfg(all(feature = "tls", feature = "http-server"))]
pub use tls::Identity;
#[cfg(all(feature = "tls", feature = "http-client"))]
pub use tls::RootCertificates;
#[cfg(feature = "tls")]
pub use tls::TlsError;

#[cfg(not(feature = "tls"))]
use no_tls as tls;
