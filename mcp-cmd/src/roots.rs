//! Directories that the server may look at.

use core::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::exit::Failure;
use mcp_tokio::mcp_async::model::Root;

/// The directories as roots.
///
/// # Errors
///
/// One of them is not there, or is no directory.
pub(crate) fn roots(directories: &[PathBuf]) -> Result<Vec<Root>, Failure> {
    directories
        .iter()
        .map(|directory| root(directory))
        .collect()
}

fn root(directory: &Path) -> Result<Root, Failure> {
    let wrong = |why: &dyn core::fmt::Display| {
        Failure::usage(format!("--root {}: {why}", directory.display()))
    };
    let path = directory.canonicalize().map_err(|error| wrong(&error))?;
    if !path.is_dir() {
        return Err(wrong(&"it is no directory"));
    }
    let text = path.to_str().ok_or_else(|| wrong(&"its name is no text"))?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    Ok(Root {
        name,
        ..Root::new(uri(text))
    })
}

/// The URI of an absolute path (RFC 8089).
fn uri(path: &str) -> String {
    // The prefix of an absolute path on Windows is for its programs, not for others.
    let path = if cfg!(windows) {
        path.strip_prefix(r"\\?\")
            .unwrap_or(path)
            .replace('\\', "/")
    } else {
        path.to_owned()
    };
    let mut uri = "file://".to_owned();
    if !path.starts_with('/') {
        uri.push('/');
    }
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' | b':' => {
                uri.push(char::from(byte));
            }
            other => {
                let _ = write!(uri, "%{other:02X}");
            }
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris() {
        let check = |path: &str, expected: &str| assert_eq!(uri(path), expected, "{path}");
        check("/home/ada", "file:///home/ada");
        check("/a b/ü%?#", "file:///a%20b/%C3%BC%25%3F%23");
        check("/", "file:///");
        if cfg!(windows) {
            check(r"\\?\C:\Users\Ada", "file:///C:/Users/Ada");
        }
    }

    #[test]
    fn directories_only() {
        let here = std::env::temp_dir();
        assert!(root(&here).unwrap().uri.starts_with("file:///"));
        assert!(root(&here.join("no-such-directory")).is_err());
        assert!(root(&std::env::current_exe().unwrap()).is_err());
    }
}
