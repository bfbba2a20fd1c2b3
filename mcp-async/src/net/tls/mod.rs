//! TLS, on both sides of a connection.

use core::fmt;
use std::sync::Arc;

use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

#[cfg(feature = "http-server")]
mod identity;
#[cfg(feature = "http-client")]
mod trust;

#[cfg(feature = "http-server")]
pub use identity::Identity;
#[cfg(feature = "http-client")]
pub use trust::RootCertificates;
#[cfg(feature = "http-client")]
pub(super) use trust::Trust;

/// Certificates or a key that cannot be used.
#[derive(Clone, Debug)]
pub struct TlsError {
    text: &'static str,
    cause: Option<Arc<dyn core::error::Error + Send + Sync>>,
}

impl TlsError {
    /// Returns a conversion from a cause to an error with this text.
    fn of<E: core::error::Error + Send + Sync + 'static>(text: &'static str) -> impl Fn(E) -> Self {
        move |cause| Self {
            text,
            cause: Some(Arc::new(cause)),
        }
    }
}

impl fmt::Display for TlsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl core::error::Error for TlsError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        let cause = self.cause.as_deref()?;
        Some(cause)
    }
}

/// Returns the versions of HTTP that are offered, by their names in ALPN, the preferred one first.
fn versions() -> Vec<Vec<u8>> {
    let mut versions = vec![b"http/1.1".to_vec()];
    if cfg!(feature = "http2") {
        versions.insert(0, b"h2".to_vec());
    }
    versions
}

/// Never the process's default: that is the program's to choose, or some other crate's.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(default_provider())
}

fn certificates_of(pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    match found {
        Ok(found) if found.is_empty() => Err(TlsError {
            text: "no certificate in the text",
            cause: None,
        }),
        Ok(found) => Ok(found),
        Err(error) => Err(TlsError::of("not a certificate")(error)),
    }
}
