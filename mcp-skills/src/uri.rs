//! URIs of files of skills.

#[cfg(any(feature = "client", feature = "server", test))]
use core::fmt::Write as _;

use crate::SKILL_MD;

/// The URI of the folder whose `SKILL.md` has this URI, without a slash at its end.
pub(crate) fn folder_of(uri: &str) -> Option<&str> {
    uri.strip_suffix(SKILL_MD)?.strip_suffix('/')
}

/// Returns true if the URI is below the folder, without segments that lead out of it, also where a
/// program decodes them.
pub(crate) fn is_inside(uri: &str, folder: &str) -> bool {
    let path = uri
        .strip_prefix(folder)
        .and_then(|rest| rest.strip_prefix('/'));
    path.is_some_and(|path| {
        !path.contains(['\\', '?', '#'])
            && path
                .split('/')
                .all(|segment| !segment.is_empty() && !is_dots(segment) && !has_separator(segment))
    })
}

/// Encodes a path for a URI: everything except slashes and what a segment may contain (RFC 3986).
#[cfg(any(feature = "client", feature = "server", test))]
pub(crate) fn encode_path(path: &str) -> String {
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:@/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

/// Returns true if a segment means this folder or the one above, encoded or not.
fn is_dots(segment: &str) -> bool {
    let plain = segment.replace("%2e", ".").replace("%2E", ".");
    plain == "." || plain == ".."
}

/// Returns true if a segment contains an encoded separator.
fn has_separator(segment: &str) -> bool {
    let mut escapes = segment.split('%').skip(1);
    escapes.any(|escape| {
        let code = escape.get(..2).unwrap_or_default();
        code.eq_ignore_ascii_case("2f") || code.eq_ignore_ascii_case("5c")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_do_not_lead_out_of_a_folder() {
        for uri in [
            "skill://a/b",
            "skill://a/b/c.md",
            "skill://a/..b",
            "skill://a/%20",
            "skill://a/%2",
            "skill://a/%252f",
        ] {
            assert!(is_inside(uri, "skill://a"), "{uri}");
        }
        for uri in [
            "skill://a",
            "skill://a/",
            "skill://ab/c",
            "skill://a/../b",
            "skill://a/b/..",
            "skill://a/%2e%2E/b",
            "skill://a/.%2E/b",
            "skill://a/b//c",
            r"skill://a/..\b",
            "skill://a/%2e%2e%2fx",
            "skill://a/b%2Fc",
            "skill://a/..%5cb",
            "skill://a/%5C",
            "skill://a/b?c",
            "skill://a/b#c",
        ] {
            assert!(!is_inside(uri, "skill://a"), "{uri}");
        }
    }

    #[test]
    fn paths_are_encoded() {
        assert_eq!(encode_path("a b/é.md"), "a%20b/%C3%A9.md");
        assert_eq!(encode_path("a/b-1_2.~c"), "a/b-1_2.~c");
        assert_eq!(encode_path("50%?#"), "50%25%3F%23");
    }
}
