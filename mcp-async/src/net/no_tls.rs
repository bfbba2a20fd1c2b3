//! A substitute for TLS in builds without it.

use std::io;

use super::maybe_tls_stream::MaybeTlsStream;

/// Without TLS no server has an identity.
#[cfg(feature = "http-server")]
#[derive(Clone)]
pub(super) enum Identity {}

#[cfg(feature = "http-server")]
impl Identity {
    pub(super) async fn accept<S>(&self, _: S) -> io::Result<MaybeTlsStream<S>> {
        match *self {}
    }
}

/// Without TLS no authority is trusted.
#[cfg(feature = "http-client")]
pub(super) enum Roots {}

/// Whom a client trusts.
#[cfg(feature = "http-client")]
pub(super) struct Trust;

#[cfg(feature = "http-client")]
impl Trust {
    pub(super) const fn new(_: Option<Roots>, _http1_only: bool) -> Self {
        Self
    }

    pub(super) async fn connect<S>(&self, host: &str, _: S) -> io::Result<MaybeTlsStream<S>> {
        let text = format!("TLS to {host} needs the feature `tls`");
        Err(io::Error::other(text))
    }
}
