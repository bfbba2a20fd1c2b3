use core::fmt;
use std::io;
use std::sync::{Arc, OnceLock};

use futures_io::{AsyncRead, AsyncWrite};
use futures_rustls::{TlsAcceptor, TlsConnector};
use rustls::crypto::CryptoProvider;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use rustls_platform_verifier::BuilderVerifierExt as _;

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
        let key = PrivateKeyDer::from_pem_slice(key).map_err(TlsError::of("no private key"))?;
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
            .map_err(TlsError::of("the certificate and its key cannot be used"))?;
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

/// Certificates of authorities that are trusted.
///
/// ```no_run
/// use mcp_async::net::Roots;
///
/// let roots = Roots::from_pem(&std::fs::read("authority.pem")?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Roots(Arc<RootCertStore>);

impl Roots {
    /// Reads one certificate or several, in PEM.
    ///
    /// # Errors
    ///
    /// There is none, or one is no certificate of an authority.
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

impl fmt::Debug for Roots {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Roots").finish_non_exhaustive()
    }
}

/// Whom a client trusts. What the operating system says is read when it is first needed.
pub(super) struct Trust {
    roots: Option<Roots>,
    connector: OnceLock<Result<TlsConnector, TlsError>>,
}

impl Trust {
    pub(super) const fn new(roots: Option<Roots>) -> Self {
        let connector = OnceLock::new();
        Self { roots, connector }
    }

    pub(super) async fn connect<S>(&self, host: &str, stream: S) -> io::Result<Wire<S>>
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        let name = ServerName::try_from(host.to_owned()).map_err(io::Error::other)?;
        let connector = self.connector.get_or_init(|| self.make());
        let connector = connector
            .as_ref()
            .map_err(|error| io::Error::other(error.clone()))?;
        let stream = connector.connect(name, stream).await.map_err(not_tls)?;
        Ok(Wire::Tls(Box::new(stream.into())))
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
        config.alpn_protocols = vec![b"h2".into(), b"http/1.1".into()];
        Ok(Arc::new(config).into())
    }
}

/// Says so when the server does not speak TLS: what it sent, or that it hung up, does not.
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

/// Certificates or a key that cannot be used.
///
/// ```
/// use mcp_async::net::Roots;
///
/// let error = Roots::from_pem(b"").unwrap_err();
/// assert_eq!(error.to_string(), "no certificate in the text");
/// ```
#[derive(Clone, Debug)]
pub struct TlsError {
    text: &'static str,
    cause: Option<Arc<dyn core::error::Error + Send + Sync>>,
}

impl TlsError {
    /// What a cause leads to.
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
