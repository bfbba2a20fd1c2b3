//! The path of a file in its folder.

use core::fmt;

use super::MAX_DEPTH;
use crate::uri_template::percent;

/// The names on the way from a folder to a file in it, each of which is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilePath(Vec<String>);

impl FilePath {
    /// Reads the part of a URI after that of the folder; `None` if no file can have it.
    pub(super) fn from_uri_path(text: &str) -> Option<Self> {
        // Both are written encoded in a name; here a query and a fragment would begin.
        if text.contains(['?', '#']) {
            return None;
        }
        let names = text.split('/').map(|name| {
            let name = percent::decode(name)?;
            is_served(&name).then_some(name)
        });
        // No more than could be found.
        let names: Vec<String> = names.take(MAX_DEPTH + 2).collect::<Option<_>>()?;
        (names.len() <= MAX_DEPTH + 1).then_some(Self(names))
    }

    /// The file of this name in a folder.
    pub(super) fn in_folder(folder: &[String], name: String) -> Self {
        let names = folder.iter().cloned();
        Self(names.chain([name]).collect())
    }

    /// The part of the URI after that of the folder.
    pub(super) fn to_uri_path(&self) -> String {
        let mut text = String::new();
        for name in &self.0 {
            if !text.is_empty() {
                text.push('/');
            }
            percent::encode(&mut text, name, false);
        }
        text
    }

    /// The folders on the way, and the name of the file.
    pub(super) fn split(&self) -> Option<(&str, &[String])> {
        let (file, folders) = self.0.split_last()?;
        Some((file, folders))
    }

    pub(super) fn extension(&self) -> Option<&str> {
        let (name, _) = self.split()?;
        let (_, extension) = name.rsplit_once('.')?;
        Some(extension)
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join("/"))
    }
}

/// Returns true if a file or a folder of this name is served: names with a dot at their beginning are not, `.` and `..` among them.
pub(super) fn is_served(name: &str) -> bool {
    is_name(name, cfg!(windows)) && !name.starts_with('.')
}

/// Returns true if the text is one name, and nothing that leads to another file.
fn is_name(text: &str, windows: bool) -> bool {
    // A colon names a stream of a file or a drive; a dot or a space at the end is dropped.
    let is_alias =
        windows && (text.contains(['\\', ':']) || text.ends_with(['.', ' ']) || is_device(text));
    !text.is_empty() && !text.contains(['/', '\0']) && !is_alias
}

/// Returns true for the names that Windows gives to devices in each folder, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end();
    let numbered = |prefix: &str| {
        let number = stem.get(..3).filter(|it| it.eq_ignore_ascii_case(prefix));
        let mut number = number
            .and_then(|_| stem.get(3..))
            .unwrap_or_default()
            .chars();
        matches!(
            (number.next(), number.next()),
            (Some('0'..='9' | '¹' | '²' | '³'), None)
        )
    };
    let devices = ["con", "prn", "aux", "nul", "conin$", "conout$"];
    devices
        .iter()
        .any(|device| stem.eq_ignore_ascii_case(device))
        || numbered("com")
        || numbered("lpt")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_written_and_read() {
        for (path, uri) in [
            ("a.md", "a.md"),
            ("a b/ü%?#&.txt", "a%20b/%C3%BC%25%3F%23%26.txt"),
            ("%2e%2e/x", "%252e%252e/x"),
            ("a..b/c", "a..b/c"),
            ("new\nline", "new%0Aline"),
        ] {
            let names = path.split('/').map(str::to_owned);
            let written = FilePath(names.collect());
            assert_eq!(written.to_uri_path(), uri);
            assert_eq!(FilePath::from_uri_path(uri), Some(written.clone()));
            assert_eq!(written.to_string(), path);
        }
        let needless = FilePath::from_uri_path("%61.md").unwrap();
        assert_eq!(needless.to_uri_path(), "a.md");
        let deep = |depth| FilePath::from_uri_path(&format!("{}x", "a/".repeat(depth)));
        assert!(deep(MAX_DEPTH).is_some() && deep(MAX_DEPTH + 1).is_none());
        assert!(deep(30_000).is_none());
    }

    #[test]
    fn uris_that_name_no_file() {
        for uri in [
            "",
            "/",
            "a/",
            "/a",
            "a//b",
            ".",
            "..",
            "../a",
            "a/../b",
            "a/./b",
            "%2e%2e/a",
            ".%2E/a",
            "a/%2e",
            "a%2fb",
            "a%2F..%2F..",
            "..%2fa",
            "a%00",
            "%00",
            "%",
            "%4",
            "%zz",
            "%ff",
            "a?b",
            "a#b",
            ".git",
            "a/.env",
            "%2Egit/config",
            "a/...",
        ] {
            assert_eq!(FilePath::from_uri_path(uri), None, "{uri}");
        }
        // Once decoded is decoded.
        assert!(FilePath::from_uri_path("%252e%252e").is_some());
    }

    #[test]
    fn names_on_windows() {
        for name in [
            "a\\b",
            "..\\a",
            "c:",
            "c:a",
            "a.txt:stream",
            "a.txt::$DATA",
            "a.",
            "a ",
            "nul",
            "NUL.txt",
            "Con",
            "aux .txt",
            "COM1",
            "com¹.log",
            "lpt9",
            "CONIN$",
            "nul.tar.gz",
        ] {
            assert!(!is_name(name, true), "{name}");
        }
        for name in [
            "a",
            "com",
            "com10",
            "comma",
            "null",
            "console.md",
            "a b.c",
            "ü",
            "nül",
        ] {
            assert!(is_name(name, true), "{name}");
        }
        assert!(is_name("a\\b:c", false));
    }
}
