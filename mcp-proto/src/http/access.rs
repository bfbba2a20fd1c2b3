//! The hosts that a server answers to, and the browser origins that it accepts.

use crate::json;

/// The names that requests may give a server in `Host`, and the origins that browsers may send
/// them from (SH-03).
///
/// Both keep web pages away from a server on the same machine: a page whose name was made to
/// resolve to 127.0.0.1 comes with that name as `Host`, any other with its own `Origin`.
///
/// ```
/// use mcp_proto::http::Access;
///
/// let access = Access::LOOPBACK;
/// assert!(access.allows_host(b"localhost:8000"));
/// assert!(!access.allows_host(b"attacker.example:8000"));
/// assert!(access.allows_origin(b"http://127.0.0.1:5173"));
/// assert!(!access.allows_origin(b"null"));
///
/// let access = Access { hosts: Some(&["mcp.example.com"]), origins: &["https://app.example.com"] };
/// assert!(access.allows_host(b"MCP.example.com:443"));
/// assert!(access.allows_origin(b"https://app.example.com"));
/// assert!(!access.allows_origin(b"https://app.example.com:8443"));
/// ```
#[derive(Debug)]
pub struct Access<'c, T = &'c str> {
    /// Names or addresses, `[::1]` in brackets, each for every port or with the port that it is
    /// for. `None` lets every name through.
    pub hosts: Option<&'c [T]>,
    /// Scheme, host and port as browsers send them; the port `*` stands for any, and none for
    /// the scheme's own.
    pub origins: &'c [T],
}

impl Access<'static> {
    /// Only this machine, under the names that it has for itself.
    pub const LOOPBACK: Self = Self {
        hosts: Some(&["localhost", "127.0.0.1", "[::1]"]),
        origins: &[
            "http://localhost:*",
            "http://127.0.0.1:*",
            "http://[::1]:*",
            "https://localhost:*",
            "https://127.0.0.1:*",
            "https://[::1]:*",
        ],
    };
}

impl Default for Access<'static> {
    fn default() -> Self {
        Self::LOOPBACK
    }
}

impl<T> Clone for Access<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Access<'_, T> {}

impl<T: AsRef<str>> Access<'_, T> {
    /// Returns true if a request with a `Host` of this value may be answered.
    pub fn allows_host(&self, host: &[u8]) -> bool {
        let Some(hosts) = self.hosts else { return true };
        let name = without_port(host);
        hosts.iter().any(|allowed| {
            let allowed = allowed.as_ref().as_bytes();
            // Most names are spelled as they are listed.
            allowed == name
                || allowed.eq_ignore_ascii_case(host)
                || allowed.eq_ignore_ascii_case(name)
        })
    }

    /// Returns true if a browser may send requests from a page of this `Origin`.
    pub fn allows_origin(&self, origin: &[u8]) -> bool {
        self.origins.iter().map(AsRef::as_ref).any(|allowed: &str| {
            match allowed.strip_suffix(":*") {
                Some(allowed) => {
                    let name = without_port(origin);
                    allowed.as_bytes().eq_ignore_ascii_case(name)
                }
                None => allowed.as_bytes().eq_ignore_ascii_case(origin),
            }
        })
    }
}

/// Returns true if these bytes are a host with an optional port: `uri-host [ ":" port ]` of RFC
/// 9112, section 3.2, where the port is a number of 16 bits.
pub(super) fn is_host(authority: &[u8]) -> bool {
    let (name, port) = match authority {
        [b'[', rest @ ..] => match rest.iter().position(|byte| *byte == b']') {
            Some(end) => (rest.get(..end), rest.get(end + 1..)),
            None => return false,
        },
        _ => {
            let colon = authority.iter().position(|byte| *byte == b':');
            let end = colon.unwrap_or(authority.len());
            (authority.get(..end), authority.get(end..))
        }
    };
    let (name, port) = (name.unwrap_or_default(), port.unwrap_or_default());
    let in_brackets = authority.first() == Some(&b'[');
    let is_sound = |byte: &u8| is_host_byte(*byte) || (in_brackets && *byte == b':');
    !name.is_empty() && name.iter().all(is_sound) && is_port(port)
}

/// Returns true if these bytes are empty, or a colon and a number of 16 bits, which may be left
/// out.
fn is_port(port: &[u8]) -> bool {
    let [b':', digits @ ..] = port else {
        return port.is_empty();
    };
    digits.is_empty() || json::digits(digits).is_some_and(|number| number <= u64::from(u16::MAX))
}

/// A byte of `reg-name` (RFC 3986, section 3.2.2).
const fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'.'
                | b'_'
                | b'~'
                | b'%'
                | b'!'
                | b'$'
                | b'&'
                | b'\''
                | b'('
                | b')'
                | b'*'
                | b'+'
                | b','
                | b';'
                | b'='
        )
}

/// A host or an origin without the port at its end.
fn without_port(authority: &[u8]) -> &[u8] {
    let colon = authority.iter().rposition(|byte| *byte == b':');
    match colon.and_then(|at| authority.split_at_checked(at)) {
        Some((name, [_, port @ ..])) if !port.is_empty() && port.iter().all(u8::is_ascii_digit) => {
            name
        }
        _ => authority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(access: &Access<'_>, host: &str, origin: &str, expected: (bool, bool)) {
        let found = (
            access.allows_host(host.as_bytes()),
            access.allows_origin(origin.as_bytes()),
        );
        assert_eq!(found, expected, "{host:?}, {origin:?}");
    }

    #[test]
    fn hosts_and_ports() {
        for host in [
            "localhost",
            "localhost:80",
            "localhost:",
            "a.example:65535",
            "127.0.0.1:080",
            "[::1]",
            "[::1]:8080",
            "[fe80::1%25eth0]:1",
            "a%20b",
            "_x",
        ] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in [
            "",
            ":80",
            "localhost:eighty",
            "localhost:80a",
            "localhost:-1",
            "localhost:65536",
            "localhost:99999999999999999999",
            "b\u{fc}cher.example",
            "localhost:8:8",
            "::1",
            "[::1",
            "[::1]x",
            "[]",
            "[::1]:x",
            "evil@localhost",
            "localhost/x",
            "a b",
            "a?b",
            "a#b",
            "a,b c",
            "a\tb",
            "http://localhost",
        ] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn loopback() {
        let access = &Access::LOOPBACK;
        check(access, "localhost", "http://localhost", (true, true));
        check(access, "LOCALHOST:80", "HTTP://LocalHost:80", (true, true));
        check(access, "127.0.0.1:1", "https://127.0.0.1:1", (true, true));
        check(access, "[::1]:8080", "http://[::1]:8080", (true, true));
        check(access, "[::1]", "http://[::1]", (true, true));
        check(access, "localhost:", "http://localhost:", (false, false));
        check(
            access,
            "localhost.example",
            "http://localhost.example",
            (false, false),
        );
        check(
            access,
            "evil@localhost",
            "http://evil@localhost",
            (false, false),
        );
        check(
            access,
            "localhost:8:8",
            "http://localhost:x",
            (false, false),
        );
        check(access, "", "", (false, false));
        check(access, "127.0.0.2", "file://localhost", (false, false));
        check(access, ":1", "null", (false, false));
    }

    #[test]
    fn listed() {
        let access = &Access {
            hosts: Some(&["a.example", "b.example:8443"]),
            origins: &["https://a.example", "https://b.example:8443", "app://x:*"],
        };
        check(access, "a.example:1", "https://a.example", (true, true));
        check(
            access,
            "b.example:8443",
            "https://b.example:8443",
            (true, true),
        );
        check(access, "b.example", "https://b.example", (false, false));
        check(access, "c.example", "http://a.example", (false, false));
        check(
            access,
            "a.example.",
            "https://a.example:444",
            (false, false),
        );
        check(access, "xa.example", "app://x:12", (false, true));
    }

    #[test]
    fn allow_any_host() {
        let access = &Access {
            hosts: None,
            origins: &[],
        };
        check(access, "whatever", "http://localhost", (true, false));
    }
}
