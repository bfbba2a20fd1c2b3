//! URIs that tell apart what several servers have under one URI.

use core::fmt::Write as _;

/// Returns the URI under which a server's resource is offered beside that of another server with the same one; `None` if it must keep
/// its URI, because clients may fetch it by themselves (RS-13).
pub(crate) fn alias(server: &str, uri: &str) -> Option<String> {
    let is_fetched = |scheme: &str| {
        let start = uri.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    (!is_fetched("http:") && !is_fetched("https:")).then(|| prefix(server) + uri)
}

/// Returns the URI that the server gave a resource.
pub(crate) fn original<'u>(server: &str, uri: &'u str) -> &'u str {
    match uri.strip_prefix(SCHEME) {
        Some(_) => uri.strip_prefix(&*prefix(server)).unwrap_or(uri),
        None => uri,
    }
}

/// Returns what stands before the URIs of a server that are told apart.
pub(crate) fn prefix(server: &str) -> String {
    let mut prefix = SCHEME.to_owned();
    for byte in server.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                prefix.push(char::from(byte));
            }
            // A string has room.
            _ => drop(write!(prefix, "%{byte:02X}")),
        }
    }
    prefix.push(':');
    prefix
}

const SCHEME: &str = "mcp-compose:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_lead_back() {
        for (server, uri, expected) in [
            ("b", "note://1", Some("mcp-compose:b:note://1")),
            (
                "b c:d%é",
                "note://{id}",
                Some("mcp-compose:b%20c%3Ad%25%C3%A9:note://{id}"),
            ),
            ("b", "HTTPS://a.example/x", None),
            ("b", "http://a.example/x", None),
            ("b", "", Some("mcp-compose:b:")),
        ] {
            let found = alias(server, uri);
            assert_eq!(found.as_deref(), expected);
            if let Some(found) = &found {
                assert_eq!(original(server, found), uri);
                assert_eq!(original("other", found), found);
            }
            assert_eq!(original(server, uri), uri);
        }
    }
}
