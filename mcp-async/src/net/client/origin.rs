use http::uri::Authority;
use http::{HeaderValue, Uri};

use super::{SendFailed, without_secrets};

/// A server, as connections know it: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Origin {
    tls: bool,
    /// Lower case; an address of IPv6 has its brackets.
    host: String,
    port: u16,
    /// Host, and the port unless it is the scheme's own.
    header: HeaderValue,
}

impl Origin {
    pub(super) fn of(uri: &Uri) -> Result<Self, SendFailed> {
        let refuse = || SendFailed::Address(without_secrets(&uri.to_string()));
        let (tls, usual) = match uri.scheme_str() {
            Some("http") => (false, 80),
            Some("https") if cfg!(feature = "tls") => (true, 443),
            _ => return Err(refuse()),
        };
        let host = uri
            .host()
            .filter(|host| !host.is_empty())
            .ok_or_else(refuse)?;
        let host = host.to_ascii_lowercase();
        let port = uri.port_u16().unwrap_or(usual);
        let header = if port == usual {
            HeaderValue::from_str(&host)
        } else {
            HeaderValue::from_str(&format!("{host}:{port}"))
        };
        Ok(Self {
            tls,
            host,
            port,
            header: header.map_err(|_| refuse())?,
        })
    }

    /// The failure of an exchange with this server.
    pub(super) fn failed(&self, error: hyper::Error) -> SendFailed {
        if error.is_parse() {
            return SendFailed::NotHttp {
                server: self.authority(),
                tls: self.tls,
            };
        }
        SendFailed::Lost(error.into())
    }

    pub(super) const fn is_tls(&self) -> bool {
        self.tls
    }

    pub(super) fn host_header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// The host as resolvers and certificates know it.
    pub(super) fn host(&self) -> &str {
        let inner = self
            .host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        inner.unwrap_or(&self.host)
    }

    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// Host and port, whatever the port is.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    /// The URL of a path here, without a user.
    pub(super) fn absolute(&self, path: &str) -> Uri {
        let scheme = if self.tls { "https" } else { "http" };
        let authority = Authority::try_from(self.header.as_bytes());
        let parts = authority.map(|authority| {
            Uri::builder()
                .scheme(scheme)
                .authority(authority)
                .path_and_query(path)
                .build()
        });
        match parts {
            Ok(Ok(uri)) => uri,
            _ => Uri::default(),
        }
    }
}
