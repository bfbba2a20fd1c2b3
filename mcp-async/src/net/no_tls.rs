//! A substitute for TLS in builds without it.

use std::io;

use super::maybe_tls_stream::MaybeTlsStream;

/// Without TLS no server has an identity.
#[derive(Clone)]
pub(super) enum Identity {}

impl Identity {
    pub(super) async fn accept<S>(&self, _: S) -> io::Result<MaybeTlsStream<S>> {
        match *self {}
    }
}

/// Without TLS no authority is trusted.
pub(super) enum RootCertificates {}

/// Whom a client trusts.
pub(super) struct Trust;

impl Trust {
    pub(super) const fn new(_: Option<RootCertificates>, _http1_only: bool) -> Self {
        Self
    }

    pub(super) async fn connect<S>(&self, host: &str, _: S) -> io::Result<MaybeTlsStream<S>> {
        let text = format!("TLS to {host} needs the feature `tls`");
        Err(io::Error::other(text))
    }
}
