//! The identity of a server.

use core::fmt;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::TlsAcceptor;
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;

use super::{TlsError, certificates_of, provider};
use crate::net::maybe_tls_stream::MaybeTlsStream;

/// The identity of a server: its certificate and the key to it.
///
/// ```no_run
/// use mcp_async::net::Identity;
///
/// let identity = Identity::from_pem(
///     &std::fs::read("certificate.pem")?,
///     &std::fs::read("key.pem")?,
/// )?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Identity(TlsAcceptor);

impl Identity {
    /// Reads the certificate, with those that vouch for it after it, and its private key: PEM, as
    /// certificate authorities hand them out.
    ///
    /// # Errors
    ///
    /// Nothing of the kind in the text, or a key that is of another certificate.
    pub fn from_pem(certificates: &[u8], key: &[u8]) -> Result<Self, TlsError> {
        let chain = certificates_of(certificates)?;
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::of("no private key"))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::of("the certificate and its key cannot be used"))?;
        config.alpn_protocols = super::versions();
        Ok(Self(Arc::new(config).into()))
    }

    pub(in crate::net) async fn accept<S>(&self, stream: S) -> io::Result<MaybeTlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = self.0.accept(stream).await?;
        Ok(MaybeTlsStream::Tls(Box::new(stream.into())))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}
