//! Paths of `file://` URIs.

use std::path::PathBuf;

use crate::uri_template::percent;

/// The path that a `file://` address names, by RFC 8089: absolute, on this machine or (on
/// Windows) in a share.
pub(crate) fn file_path(uri: &str) -> Option<PathBuf> {
    let (scheme, rest) = uri.split_at_checked("file://".len())?;
    if !scheme.eq_ignore_ascii_case("file://") || rest.contains(['?', '#', '\\']) {
        return None;
    }
    let (host, path) = rest.split_at(rest.find('/')?);
    // In an address dots are resolved without a look at the links, so they say two things.
    let segments = path.get(1..)?.split('/');
    let segments = segments.map(|segment| decode(segment).filter(|s| s != b"." && s != b".."));
    let segments: Vec<_> = segments.collect::<Option<_>>()?;
    let host = match host {
        host if host.eq_ignore_ascii_case("localhost") => "",
        host => host,
    };
    join(host, &segments)
}

/// One part of a path, without its percent signs.
fn decode(segment: &str) -> Option<Vec<u8>> {
    let separates = |byte: &u8| matches!(byte, 0 | b'/');
    percent::decode_bytes(segment).filter(|decoded| !decoded.iter().any(separates))
}

#[cfg(unix)]
fn join(host: &str, segments: &[Vec<u8>]) -> Option<PathBuf> {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let mut path = PathBuf::from("/");
    path.extend(segments.iter().cloned().map(OsString::from_vec));
    host.is_empty().then_some(path)
}

#[cfg(not(unix))]
fn join(host: &str, segments: &[Vec<u8>]) -> Option<PathBuf> {
    drive_path(host, segments).map(PathBuf::from)
}

/// The path as Windows writes it: on a drive, or in a share.
#[cfg(any(not(unix), test))]
fn drive_path(host: &str, segments: &[Vec<u8>]) -> Option<String> {
    let texts = segments.iter().map(|s| core::str::from_utf8(s).ok());
    let texts: Vec<_> = texts.collect::<Option<_>>()?;
    let (first, rest) = texts.split_first()?;
    let start = match (host, first.as_bytes()) {
        ("", [drive, b':' | b'|']) if drive.is_ascii_alphabetic() => {
            format!("{}:\\", char::from(*drive))
        }
        ("", _) | (_, b"") => return None,
        (host, _) => format!("\\\\{host}\\{first}\\"),
    };
    // A colon further on names a stream of a file, not a directory.
    let sound = !rest.iter().any(|segment| segment.contains([':', '\\']));
    sound.then(|| start + &rest.join("\\"))
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use std::path::Path;

    #[cfg(unix)]
    #[test]
    fn addresses() {
        let check = |uri: &str, path: Option<&str>| {
            assert_eq!(file_path(uri).as_deref(), path.map(Path::new), "{uri}");
        };
        check("file:///home/ada", Some("/home/ada"));
        check("FILE:///home/ada/", Some("/home/ada"));
        check("file://localhost/x", Some("/x"));
        check("file:///", Some("/"));
        check("file:///a%20b/%C3%A9", Some("/a b/é"));
        check("file:///a\\b", None);
        check("file:///a%5Cb", Some("/a\\b"));
        for uri in [
            "",
            "file:",
            "file://",
            "file:/x",
            "http:///x",
            "file://host/x",
            "file:///a/../b",
            "file:///a/%2e%2E/b",
            "file:///a/./b",
            "file:///a%2Fb",
            "file:///a%00b",
            "file:///a%0",
            "file:///a%zz",
            "file:///a?b",
            "file:///a#b",
            "é",
        ] {
            check(uri, None);
        }
    }

    #[test]
    fn addresses_on_windows() {
        let check = |host: &str, path: &str, expected: Option<&str>| {
            let segments: Vec<_> = path.split('/').map(|s| s.as_bytes().to_vec()).collect();
            assert_eq!(drive_path(host, &segments).as_deref(), expected, "{path}");
        };
        check("", "C:/Users/Ada", Some(r"C:\Users\Ada"));
        check("", "c|/x", Some(r"c:\x"));
        check("", "C:", Some(r"C:\"));
        check("host", "share/x", Some(r"\\host\share\x"));
        for path in [
            "",
            "Users",
            "CC:/x",
            "1:/x",
            r"C:/a\b",
            "C:/a:stream",
            r"C:/..\x",
        ] {
            check("", path, None);
        }
        check("host", "", None);
    }
}
