//! URLs of authorization: what is compared, and what is built from them.
//!
//! Nothing is normalised beyond what a rule says: paths stay escaped, because `%2F` is not `/`, and
//! dot segments stay as they are. Text goes out as it came in ([`Uri::as_str`]), never through a
//! type that adds a `/`.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

/// An absolute `http` or `https` URL, checked and divided into its parts.
///
/// ```
/// use mcp_auth::Uri;
///
/// let server = Uri::parse("HTTPS://Example.com:443/p/mcp?x=1")?;
/// assert_eq!(server.origin(), "https://example.com");
/// assert_eq!(
///     server.well_known("oauth-protected-resource"),
///     "https://example.com/.well-known/oauth-protected-resource/p/mcp",
/// );
/// assert!(Uri::parse("file:///etc/passwd").is_err());
/// # Ok::<(), mcp_auth::UriError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uri<'u> {
    text: &'u str,
    https: bool,
    host: &'u str,
    port: u16,
    path: &'u str,
    query: Option<&'u str>,
    fragment: bool,
}

impl<'u> Uri<'u> {
    /// Checks and divides a URL.
    ///
    /// # Errors
    ///
    /// [`UriError`] for anything but an absolute `http` or `https` URL of visible ASCII characters
    /// with a host and without user information.
    pub fn parse(text: &'u str) -> Result<Self, UriError> {
        let is_sound = |byte: u8| {
            matches!(byte, b'!'..=b'~')
                && !matches!(
                    byte,
                    b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}'
                )
        };
        if !text.bytes().all(is_sound) {
            return Err(UriError::Character);
        }
        let (scheme, rest) = text.split_once("://").ok_or(UriError::Relative)?;
        let https = match scheme {
            _ if scheme.eq_ignore_ascii_case("https") => true,
            _ if scheme.eq_ignore_ascii_case("http") => false,
            _ => return Err(UriError::Scheme),
        };
        let (rest, fragment) = match rest.split_once('#') {
            Some((rest, _)) => (rest, true),
            None => (rest, false),
        };
        let (rest, query) = match rest.split_once('?') {
            Some((rest, query)) => (rest, Some(query)),
            None => (rest, None),
        };
        let (authority, path) = match rest.find('/') {
            Some(at) => rest.split_at_checked(at).ok_or(UriError::Host)?,
            None => (rest, ""),
        };
        if authority.contains('@') {
            return Err(UriError::UserInfo);
        }
        let (host, port) = match authority.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']').ok_or(UriError::Host)?;
                address.parse::<Ipv6Addr>().map_err(|_| UriError::Host)?;
                let length = address.len().saturating_add(2);
                (authority.get(..length).ok_or(UriError::Host)?, port)
            }
            None => {
                let end = authority.find(':').unwrap_or(authority.len());
                authority.split_at_checked(end).ok_or(UriError::Host)?
            }
        };
        let in_name =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if host.is_empty() || !(host.starts_with('[') || host.bytes().all(in_name)) {
            return Err(UriError::Host);
        }
        let default = if https { 443 } else { 80 };
        let port = match port.strip_prefix(':') {
            Some("") => default,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                digits.parse().map_err(|_| UriError::Host)?
            }
            None if port.is_empty() => default,
            _ => return Err(UriError::Host),
        };
        Ok(Self {
            text,
            https,
            host,
            port,
            path,
            query,
            fragment,
        })
    }

    /// The URL as it was given.
    pub const fn as_str(&self) -> &'u str {
        self.text
    }

    /// Returns true if the scheme is `https`.
    pub const fn is_https(&self) -> bool {
        self.https
    }

    /// The host as it was given, an IPv6 address in brackets.
    pub const fn host(&self) -> &'u str {
        self.host
    }

    /// The port, that of the scheme if none was given.
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// The path as it was given, escaped; may be empty.
    pub const fn path(&self) -> &'u str {
        self.path
    }

    /// The query as it was given, escaped.
    pub const fn query(&self) -> Option<&'u str> {
        self.query
    }

    /// Returns true if there is a fragment, even an empty one.
    pub const fn has_fragment(&self) -> bool {
        self.fragment
    }

    /// Scheme, host and port: lowercase, without the port of the scheme, without a `/` at the end.
    pub fn origin(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        let mut host = String::from(self.host);
        host.make_ascii_lowercase();
        match (self.https, self.port) {
            (true, 443) | (false, 80) => format!("{scheme}://{host}"),
            (_, port) => format!("{scheme}://{host}:{port}"),
        }
    }

    /// Returns true if scheme, host and port are equal.
    pub fn is_same_origin(&self, other: &Uri<'_>) -> bool {
        self.https == other.https
            && self.port == other.port
            && self.host.eq_ignore_ascii_case(other.host)
    }

    /// Returns true if the host is this machine by name: `localhost`, a name below it,
    /// `127.0.0.0/8` or `[::1]`. Addresses that another name resolves to are not known here.
    pub fn is_loopback(&self) -> bool {
        if let Some(address) = self
            .host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
        {
            return address
                .parse()
                .is_ok_and(|address: Ipv6Addr| address.is_loopback());
        }
        if let Ok(address) = self.host.parse::<Ipv4Addr>() {
            return address.is_loopback();
        }
        let name = self.host.strip_suffix('.').unwrap_or(self.host);
        let end = name.len().checked_sub("localhost".len());
        let (before, last) = end
            .and_then(|end| name.split_at_checked(end))
            .unwrap_or((name, ""));
        last.eq_ignore_ascii_case("localhost") && (before.is_empty() || before.ends_with('.'))
    }

    /// Returns true if secrets may be sent to this URL: over TLS, or to this machine (AU-29,
    /// AU-32).
    pub fn is_confidential(&self) -> bool {
        self.https || self.is_loopback()
    }

    /// Returns true if a party of this URL may name the other one: secrets are safe there, and a
    /// party elsewhere does not lead to services of this machine (AU-29).
    pub fn may_name(&self, other: &Uri<'_>) -> bool {
        other.is_confidential() && (!other.is_loopback() || self.is_loopback())
    }

    /// The place of a well-known document for this identifier: between origin and path
    /// (RFC 8414, section 3.1; RFC 9728, section 3.1). A path of `/` alone counts as none.
    pub fn well_known(&self, name: &str) -> String {
        let path = if self.path == "/" { "" } else { self.path };
        format!("{}/.well-known/{name}{path}", self.origin())
    }

    /// The URL without query and fragment, the `htu` of a DPoP proof (RFC 9449, section 4.2).
    pub fn without_query(&self) -> &'u str {
        let end = self.text.find(['?', '#']).unwrap_or(self.text.len());
        self.text.get(..end).unwrap_or(self.text)
    }

    /// Returns true if both name the same resource (AU-23): equal after lowering the case of scheme
    /// and host and removing the port of the scheme and the `/` of an empty path. Paths are
    /// compared escaped. A URL with a fragment names no resource.
    pub fn is_same_resource(&self, other: &Uri<'_>) -> bool {
        self.is_same_origin(other)
            && self.path_or_root() == other.path_or_root()
            && self.query == other.query
            && !self.fragment
            && !other.fragment
    }

    /// Returns true if this resource is `other` or a parent of it at the same origin, at a `/`
    /// boundary, whatever the queries are: see
    /// [`AuthConfig::accept_parent_resource`](super::AuthConfig::accept_parent_resource).
    pub fn is_parent_resource(&self, other: &Uri<'_>) -> bool {
        let parent = self.path_or_root();
        let below = other.path_or_root().strip_prefix(parent);
        let at_boundary =
            |rest: &str| rest.is_empty() || parent.ends_with('/') || rest.starts_with('/');
        self.is_same_origin(other) && below.is_some_and(at_boundary) && !self.fragment
    }

    /// The canonical identifier of an MCP server, for `resource` where no document publishes one
    /// (AU-53): lowercase scheme and host, no fragment, no `/` of an empty path. The query is left
    /// out too (RFC 8707, section 2): it may hold a key, and the text is sent to another server.
    pub fn canonical(&self) -> String {
        let mut text = self.origin();
        if self.path != "/" {
            text.push_str(self.path);
        }
        text
    }

    pub(crate) fn path_or_root(&self) -> &'u str {
        if self.path.is_empty() { "/" } else { self.path }
    }
}

/// Reasons for which a text is no URL that authorization uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UriError {
    /// It has no scheme and authority.
    Relative,
    /// The scheme is neither `https` nor `http`.
    Scheme,
    /// The host or the port is missing or malformed.
    Host,
    /// It has a user name or a password.
    UserInfo,
    /// It contains a character that a URL cannot contain.
    Character,
}

impl fmt::Display for UriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Relative => "the URL is not absolute",
            Self::Scheme => "the scheme of the URL is neither https nor http",
            Self::Host => "the host or the port of the URL is missing or malformed",
            Self::UserInfo => "the URL contains a user name or a password",
            Self::Character => "the URL contains a character that must be escaped",
        })
    }
}

impl core::error::Error for UriError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> Uri<'_> {
        Uri::parse(text).unwrap()
    }

    #[test]
    fn unusable_urls() {
        for (text, error) in [
            ("", UriError::Relative),
            ("example.com/mcp", UriError::Relative),
            ("//example.com", UriError::Relative),
            ("javascript:alert(1)", UriError::Relative),
            ("file:///etc/passwd", UriError::Scheme),
            ("smb://host/share", UriError::Scheme),
            ("https://", UriError::Host),
            ("https:///path", UriError::Host),
            ("https://h:99999/", UriError::Host),
            ("https://h:+80/", UriError::Host),
            ("https://[::1/", UriError::Host),
            ("https://[::1]x/", UriError::Host),
            ("https://[v1.a]/", UriError::Host),
            ("https://a%2eb/", UriError::Host),
            ("https://user:word@h/", UriError::UserInfo),
            ("https://h\\@evil/", UriError::Character),
            ("https://h/ ", UriError::Character),
            ("https://h/\u{e9}", UriError::Character),
            ("https://h/\r\nX: y", UriError::Character),
        ] {
            assert_eq!(Uri::parse(text), Err(error), "{text}");
        }
    }

    #[test]
    fn resources_are_compared_escaped() {
        // AU-23.
        for (left, right) in [
            ("https://h", "https://h/"),
            ("https://H:443/mcp", "HTTPS://h/mcp"),
            ("http://h:80", "http://h/"),
        ] {
            assert!(uri(left).is_same_resource(&uri(right)), "{left} {right}");
        }
        for (left, right) in [
            ("https://h/a%2Fb", "https://h/a/b"),
            ("https://h/a%2Fb", "https://h/a%2fb"),
            ("https://h/mcp", "https://h/mcp/"),
            ("https://h/mcp", "https://h/MCP"),
            ("https://h/mcp", "http://h/mcp"),
            ("https://h/mcp", "https://h:8443/mcp"),
            ("https://h/mcp", "https://h.evil/mcp"),
            ("https://h/mcp", "https://h/mcp?"),
            ("https://h/mcp", "https://h/mcp#"),
        ] {
            assert!(!uri(left).is_same_resource(&uri(right)), "{left} {right}");
        }
    }

    #[test]
    fn parents_end_at_a_slash() {
        let server = uri("https://h/a/mcp?tenant=1");
        for parent in [
            "https://h",
            "https://h/",
            "https://h/a",
            "https://h/a/",
            "https://h/a/mcp",
        ] {
            assert!(uri(parent).is_parent_resource(&server), "{parent}");
        }
        for other in [
            "https://h/a/m",
            "https://h/a/mcp/",
            "https://h/b",
            "https://g/",
            "http://h/",
        ] {
            assert!(!uri(other).is_parent_resource(&server), "{other}");
        }
    }

    #[test]
    fn loopback_by_name() {
        for text in [
            "http://localhost:1",
            "http://LOCALHOST.",
            "http://a.localhost",
            "http://127.9.8.7",
            "http://[::1]:80",
            "http://[0:0::1]",
        ] {
            assert!(uri(text).is_loopback(), "{text}");
        }
        for text in [
            "http://localhost.evil.com",
            "http://notlocalhost",
            "http://128.0.0.1",
            "http://0.0.0.0",
            "http://[::2]",
            "http://127.1",
            "http://127.0.0.1.evil.com",
        ] {
            assert!(!uri(text).is_loopback(), "{text}");
        }
    }

    #[test]
    fn canonical_identifiers() {
        // AU-53, without a document.
        for (text, canonical) in [
            ("https://H/mcp", "https://h/mcp"),
            ("https://h/", "https://h"),
            ("https://h:8443", "https://h:8443"),
            ("https://h/mcp/#f", "https://h/mcp/"),
            ("https://h/mcp?key=B", "https://h/mcp"),
            ("https://h/?key=B", "https://h"),
        ] {
            assert_eq!(uri(text).canonical(), canonical);
        }
    }
}
