use core::fmt;
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::TlsAcceptor;
use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::wire::Wire;

/// Who a server is: its certificate and the key to it.
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
        let key = PrivateKeyDer::from_pem_slice(key)
            .map_err(|error| TlsError(format!("no private key: {error}")))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(|error| TlsError(error.to_string()))?;
        config.alpn_protocols = vec![b"h2".into(), b"http/1.1".into()];
        Ok(Self(Arc::new(config).into()))
    }

    pub(super) async fn accept<S>(&self, stream: S) -> io::Result<Wire<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let stream = self.0.accept(stream).await?;
        Ok(Wire::Tls(Box::new(stream.into())))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").finish_non_exhaustive()
    }
}

/// Certificates or a key that cannot be used.
#[derive(Clone, Debug)]
pub struct TlsError(String);

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for TlsError {}

/// Never the process's default: that is the program's to choose, or some other crate's.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(default_provider())
}

fn certificates_of(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(TlsError("no certificate in the text".into())),
        Ok(found) => Ok(found),
        Err(error) => Err(TlsError(format!("not a certificate: {error}"))),
    }
}
