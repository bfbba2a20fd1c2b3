use core::hash::{Hash, Hasher};

use http::Uri;
use http::uri::{Authority, PathAndQuery};

use super::{SendFailed, without_secrets};

/// A server, as connections know it: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    tls: bool,
    /// The host in lower case, and the port unless it is the scheme's own.
    authority: Authority,
}

impl Origin {
    pub(super) fn of(uri: &Uri) -> Result<Self, SendFailed> {
        let refuse = || SendFailed::Address(without_secrets(&uri.to_string()));
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") if cfg!(feature = "tls") => true,
            _ => return Err(refuse()),
        };
        let authority = uri.authority().ok_or_else(refuse)?;
        if is_normal(authority.as_str(), tls) {
            let authority = authority.clone();
            return Ok(Self { tls, authority });
        }
        let host = authority.host().to_ascii_lowercase();
        if host.is_empty() {
            return Err(refuse());
        }
        let port = authority.port_u16().filter(|port| *port != usual(tls));
        let normal = port.map_or_else(|| host.clone(), |port| format!("{host}:{port}"));
        let authority = normal.parse().map_err(|_| refuse())?;
        Ok(Self { tls, authority })
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

    /// Host, and the port unless it is the scheme's own.
    pub(super) fn host_header(&self) -> &str {
        self.authority.as_str()
    }

    /// The host as resolvers and certificates know it.
    pub(super) fn host(&self) -> &str {
        let host = self.authority.host();
        let inner = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        inner.unwrap_or(host)
    }

    pub(super) fn port(&self) -> u16 {
        self.authority.port_u16().unwrap_or(usual(self.tls))
    }

    /// Host and port, whatever the port is.
    pub(super) fn authority(&self) -> String {
        format!("{}:{}", self.authority.host(), self.port())
    }

    /// The URL of a path here, without a user.
    pub(super) fn absolute(&self, path: Option<PathAndQuery>) -> Uri {
        let scheme = if self.tls { "https" } else { "http" };
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let uri = Uri::builder()
            .scheme(scheme)
            .authority(self.authority.clone())
            .path_and_query(path);
        uri.build().unwrap_or_default()
    }
}

/// An [`Authority`] hashes each byte alone, because it may have upper case.
impl Hash for Origin {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.tls, self.authority.as_str()).hash(state);
    }
}

/// The port of a scheme.
const fn usual(tls: bool) -> u16 {
    if tls { 443 } else { 80 }
}

/// Returns true if an authority is that of an [`Origin`] as it is.
fn is_normal(authority: &str, tls: bool) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let is_needed = |port: &str| {
        let number = port.parse().ok().filter(|_| !port.starts_with(['0', '+']));
        number.is_some_and(|number: u16| number != usual(tls))
    };
    let is_plain = |byte: u8| byte != b'@' && !byte.is_ascii_uppercase();
    !host.is_empty() && host.bytes().all(is_plain) && port.is_none_or(is_needed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(uri: &'static str, host: &str, port: u16, header: &str) {
        let origin = Origin::of(&Uri::from_static(uri)).unwrap();
        assert_eq!((origin.host(), origin.port()), (host, port), "{uri}");
        assert_eq!(origin.host_header(), header, "{uri}");
    }

    #[test]
    fn an_origin_is_a_host_and_a_port_however_they_are_written() {
        check("http://a.example/x", "a.example", 80, "a.example");
        check(
            "http://a.example:8080/x",
            "a.example",
            8080,
            "a.example:8080",
        );
        check(
            "http://me:secret@A.Example:80/x",
            "a.example",
            80,
            "a.example",
        );
        check("http://a.example:/x", "a.example", 80, "a.example");
        check("http://a.example:080/x", "a.example", 80, "a.example");
        check("http://a.example:0081/x", "a.example", 81, "a.example:81");
        check("http://[2001:db8::A]/x", "2001:db8::a", 80, "[2001:db8::a]");
        check("http://[::1]:81/x", "::1", 81, "[::1]:81");
        let same = ["http://a:81/x", "http://me@A:81/y?z"].map(Uri::from_static);
        let [one, other] = same.map(|uri| Origin::of(&uri).unwrap());
        assert_eq!(one, other);
        assert!(Origin::of(&Uri::from_static("/x")).is_err());
    }
}
