//! Where a server is.

use core::fmt;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::options::Common;

/// A program to start, or a URL to connect to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Program(Start),
    Url(Remote),
}

/// How to start a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    pub(crate) command: String,
    pub(crate) args: Vec<String>,
    pub(crate) env: BTreeMap<String, String>,
    pub(crate) cwd: Option<PathBuf>,
}

/// A server that runs already.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Remote {
    pub(crate) url: String,
    /// They may say who the user is, so they are not shown.
    pub(crate) headers: BTreeMap<String, String>,
}

impl Target {
    /// What the server is called here: never what it calls itself.
    pub(crate) fn label(&self, common: &Common) -> String {
        if let Some((_, name)) = common.config() {
            return name;
        }
        let label = match self {
            Self::Program(start) => Path::new(&start.command)
                .file_stem()
                .map(|stem| stem.to_string_lossy().into_owned()),
            Self::Url(remote) => Some(host(&remote.url).to_owned()),
        };
        label.unwrap_or_else(|| "server".to_owned())
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Remote")
            .field("url", &self.url)
            .finish_non_exhaustive()
    }
}

/// The command line with a URL in front as it is with the URL at the end: `client URL` asks who
/// the server is, `client URL list` lists what it has.
pub(crate) fn reordered(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    let first = words.get(1).and_then(|word| word.to_str());
    if first.is_some_and(is_url) {
        let url = words.remove(1);
        if words.len() == 1 {
            words.push("info".into());
        }
        words.extend(["--".into(), url]);
    }
    words
}

pub(crate) fn is_url(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Without user and password.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_in_front() {
        let check = |line: &str, expected: &str| {
            let words = reordered(line.split(' ').map(OsString::from));
            assert_eq!(words, Vec::from_iter(expected.split(' ')), "{line}");
        };
        check("client", "client");
        check("client list -- server", "client list -- server");
        check("client http://a/mcp", "client info -- http://a/mcp");
        check(
            "client https://a list tools",
            "client list tools -- https://a",
        );
        check("client list http://a", "client list http://a");
    }

    #[test]
    fn hosts() {
        let check = |url: &str, expected: &str| assert_eq!(host(url), expected);
        check("http://a", "a");
        check(
            "https://ada:secret@a.example:8000/mcp?x=@y",
            "a.example:8000",
        );
        check("a", "a");
    }
}
