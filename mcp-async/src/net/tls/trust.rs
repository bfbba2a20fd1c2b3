//! Whom a client trusts.

use core::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::TlsConnector;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use rustls_platform_verifier::BuilderVerifierExt as _;

use super::{TlsError, certificates_of, provider};
use crate::net::maybe_tls_stream::MaybeTlsStream;

/// Certificates of authorities that are trusted.
///
/// ```no_run
/// use mcp_async::net::RootCertificates;
///
/// let roots = RootCertificates::from_pem(&std::fs::read("authority.pem")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RootCertificates(Arc<RootCertStore>);

impl RootCertificates {
    /// Reads one certificate or several, in PEM.
    ///
    /// # Errors
    ///
    /// The text holds no certificate, or one that is not the certificate of an authority.
    pub fn from_pem(certificates: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates_of(certificates)? {
            roots.add(certificate).map_err(TlsError::of(
                "the certificate of an authority cannot be used",
            ))?;
        }
        Ok(Self(Arc::new(roots)))
    }
}

impl fmt::Debug for RootCertificates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RootCertificates").finish_non_exhaustive()
    }
}

/// The roots that a client trusts. Those of the operating system are read when they are first
/// needed.
pub(in crate::net) struct Trust {
    roots: Option<RootCertificates>,
    http1_only: bool,
    connector: OnceLock<Result<TlsConnector, TlsError>>,
}

impl Trust {
    pub(in crate::net) const fn new(roots: Option<RootCertificates>, http1_only: bool) -> Self {
        Self {
            roots,
            http1_only,
            connector: OnceLock::new(),
        }
    }

    pub(in crate::net) async fn connect<S>(
        &self,
        host: &str,
        stream: S,
    ) -> io::Result<MaybeTlsStream<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connector = self.connector.get_or_init(|| self.make());
        let connector = connector
            .as_ref()
            .map_err(|error| io::Error::other(error.clone()))?;
        let stream = connector.connect(name, stream).await.map_err(not_tls)?;
        Ok(MaybeTlsStream::Tls(Box::new(stream.into())))
    }

    fn make(&self) -> Result<TlsConnector, TlsError> {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(TlsError::of("TLS cannot be configured"))?;
        let mut config = match &self.roots {
            Some(roots) => builder.with_root_certificates(Arc::clone(&roots.0)),
            None => builder
                .with_platform_verifier()
                .map_err(TlsError::of("the system's certificates cannot be used"))?,
        }
        .with_no_client_auth();
        config.alpn_protocols = match self.http1_only {
            true => vec![b"http/1.1".into()],
            false => super::versions(),
        };
        Ok(Arc::new(config).into())
    }
}

/// Converts the error of a server that does not speak TLS into one that states that.
fn not_tls(error: io::Error) -> io::Error {
    let cause = error.get_ref().and_then(|cause| cause.downcast_ref());
    let text = match cause {
        Some(rustls::Error::InvalidMessage(_)) => "the server does not speak TLS there",
        _ if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the server ended the connection instead of a TLS handshake"
        }
        _ => return error,
    };
    io::Error::new(
        error.kind(),
        format!("{text}; without it the URL begins with http://"),
    )
}
