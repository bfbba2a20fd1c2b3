//! Aliases of URIs that several servers list.

use core::fmt::Write as _;

/// Returns the alias of a URI that another server lists, too; `None` for a URI that clients may fetch by themselves, which must stay
/// (RS-13).
pub(crate) fn alias(server: &str, uri: &str) -> Option<String> {
    let is_fetched = |scheme: &str| {
        let start = uri.get(..scheme.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    (!is_fetched("http:") && !is_fetched("https:")).then(|| prefix(server) + uri)
}

/// Returns the server's own URI of an alias; other URIs are returned unchanged.
pub(crate) fn original<'u>(server: &str, uri: &'u str) -> &'u str {
    match uri.strip_prefix(SCHEME) {
        Some(_) => uri.strip_prefix(&*prefix(server)).unwrap_or(uri),
        None => uri,
    }
}

/// Returns the prefix of the aliases of a server.
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
