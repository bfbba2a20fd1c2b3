//! The roots of a client, and whether a path lies in one of them.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::model::Root;

/// The client's roots: those with a `file://` address.
///
/// ```
/// use std::path::Path;
/// use mcp_async::model::Root;
/// use mcp_async::server::Roots;
///
/// # #[cfg(unix)] {
/// let roots = Roots::new(vec![Root::new("file:///etc"), Root::new("https://example.com/")]);
/// assert!(roots.contains(Path::new("/etc/hosts")));
/// assert!(!roots.contains(Path::new("/etc/../root/.profile")));
/// assert_eq!(roots.refused().len(), 1);
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    roots: Vec<(Root, PathBuf)>,
    refused: Vec<Root>,
}

impl Roots {
    /// Parts what has a sound address from what has not.
    pub fn new(roots: Vec<Root>) -> Self {
        let mut sorted = Self::default();
        for root in roots {
            match file_path(&root.uri) {
                Some(path) => sorted.roots.push((root, path)),
                None => sorted.refused.push(root),
            }
        }
        sorted
    }

    /// The roots, each with its path.
    pub fn iter(&self) -> impl Iterator<Item = (&Root, &Path)> {
        self.roots.iter().map(|(root, path)| (root, path.as_path()))
    }

    /// Returns the number of roots, without the [refused](Self::refused) ones.
    pub fn len(&self) -> usize {
        self.roots.len()
    }

    /// Returns true if there are no roots, apart from [refused](Self::refused) ones; then no path
    /// is inside one.
    pub fn is_empty(&self) -> bool {
        self.roots.is_empty()
    }

    /// Returns the roots that were refused: without a `file://` address, or with one that cannot be
    /// the path of a file. They count for nothing.
    pub fn refused(&self) -> &[Root] {
        &self.refused
    }

    /// Returns true if the path is a root or is inside one, when all links and all `..` of both are
    /// resolved.
    ///
    /// A path that does not exist yet is judged by its nearest parent that does, and by where a
    /// link in between would lead. A relative path starts in the working directory. A path that
    /// cannot be looked at is inside no root. The file system is asked at each call, so the answer
    /// holds for this moment: a process that changes directories meanwhile can change it, too.
    pub fn contains(&self, path: &Path) -> bool {
        let Ok(path) = std::path::absolute(path).and_then(|path| resolve(&path)) else {
            return false;
        };
        self.roots
            .iter()
            .filter_map(|(_, root)| resolve(root).ok())
            .any(|root| path.starts_with(root))
    }
}

/// The path without links and `..`, as far as it exists.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    let mut resolved = PathBuf::new();
    let mut rest = path.to_path_buf();
    let mut links = 0;
    loop {
        let mut components = rest.components();
        let Some(component) = components.next() else {
            break;
        };
        let remaining = components.as_path().to_path_buf();
        rest = match component {
            // At the root of everything it stays there.
            Component::ParentDir => {
                resolved.pop();
                remaining
            }
            Component::CurDir => remaining,
            Component::Prefix(_) | Component::RootDir => {
                resolved.push(component);
                remaining
            }
            Component::Normal(name) => {
                let next = resolved.join(name);
                match next.symlink_metadata() {
                    Ok(metadata) if metadata.is_symlink() => {
                        links += 1;
                        if links > LINKS {
                            return Err(io::ErrorKind::InvalidInput.into());
                        }
                        // An absolute target starts anew, because pushing its root does. One
                        // that does not exist is where a file would be made.
                        next.read_link()?.join(remaining)
                    }
                    Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                    _ => {
                        resolved = next;
                        remaining
                    }
                }
            }
        };
    }
    // Where one directory has several names (case, drives), all of them become one.
    for ancestor in resolved.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), resolved.strip_prefix(ancestor)) {
            return Ok(if rest.as_os_str().is_empty() {
                real
            } else {
                real.join(rest)
            });
        }
    }
    Ok(resolved)
}

/// The path that a `file://` address names, by RFC 8089: absolute, on this machine or (on
/// Windows) in a share.
fn file_path(uri: &str) -> Option<PathBuf> {
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
    let mut bytes = segment.bytes();
    let mut decoded = Vec::with_capacity(segment.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            byte => byte,
        });
    }
    let separates = |byte: &u8| matches!(byte, 0 | b'/');
    (!decoded.iter().any(separates)).then_some(decoded)
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

/// As many as Linux follows.
const LINKS: u32 = 40;

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn roots(uri: &str) -> Roots {
        Roots::new(vec![Root::new(uri)])
    }

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

    /// RT-05
    #[test]
    fn links_and_dots_are_resolved_on_both_sides() {
        let dir = std::env::temp_dir().join(format!("mcp-roots-{}", std::process::id()));
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("real/inner")).unwrap();
        fs::create_dir_all(dir.join("outside")).unwrap();
        fs::write(dir.join("real/file"), "").unwrap();
        symlink(dir.join("real"), dir.join("link")).unwrap();
        symlink("../outside", dir.join("real/out")).unwrap();
        symlink("inner", dir.join("real/in")).unwrap();
        symlink("../outside/new", dir.join("real/dangling")).unwrap();
        symlink("loop", dir.join("real/loop")).unwrap();
        for root in ["real", "link"] {
            let roots = roots(&format!("file://{}/{root}", dir.display()));
            let check = |path: &str, inside: bool| {
                assert_eq!(roots.contains(&dir.join(path)), inside, "{root}: {path}");
            };
            check("real", true);
            check("link", true);
            check("real/", true);
            check("real/file", true);
            check("link/file", true);
            check("real/inner/../file", true);
            check("real/in/x", true);
            check("real/in/../file", true);
            check("real/new/deep/file", true);
            check("real/new/../file", true);
            check("realistic", false);
            check("", false);
            check("outside", false);
            check("real/..", false);
            check("real/../outside/x", false);
            check("real/inner/../../outside", false);
            check("real/out", false);
            check("real/out/x", false);
            // `..` of where the link leads, not of the link.
            check("real/out/../real/file", true);
            check("real/out/../file", false);
            check("real/dangling", false);
            check("real/dangling/x", false);
            check("real/new/../../outside", false);
            check("real/loop", false);
            check("real/file/x", false);
        }
        assert!(roots("file:///").contains(Path::new("relative")));
        assert!(!Roots::default().contains(&dir));
        // RT-05: a root that does not exist, or not any more.
        let gone = roots(&format!("file://{}/gone", dir.display()));
        assert!(gone.contains(&dir.join("gone/x")));
        assert!(!gone.contains(&dir.join("real")));
        fs::remove_dir_all(&dir).unwrap();
    }
}
