//! The roots that a client shows to servers.

use super::Answerer;
use crate::client::session::handler::Answer;
use crate::connection::blocking;
use crate::error::ErrorReply;
use crate::file_uri::file_path;
use crate::model::{ListRootsResult, Root};
use crate::runtime::RuntimeHandle;
use crate::sync::Lock;

/// The directories that a server is shown.
#[derive(Default)]
pub(in crate::client) enum Roots {
    #[default]
    None,
    Listed(Lock<Vec<Root>>),
    Asked(Answerer<(), Vec<Root>>),
}

impl Roots {
    /// Replaces a list; without one there is nothing to replace.
    pub(in crate::client) fn set(&self, roots: Vec<Root>) {
        if let Self::Listed(listed) = self {
            let _old = core::mem::replace(&mut *listed.lock(), roots);
        }
    }

    /// Returns the roots that the program has listed.
    pub(in crate::client) fn listed(&self) -> Vec<Root> {
        match self {
            Self::Listed(roots) => roots.lock().clone(),
            Self::None | Self::Asked(_) => Vec::new(),
        }
    }

    /// Answers `roots/list`. With a runtime only those of the listed roots are shown that are there.
    pub(super) fn answer(&self, checks: Option<&RuntimeHandle>) -> Answer {
        match self {
            Self::None => Answer::refuse(ErrorReply::method_not_found()),
            Self::Listed(_) => match checks {
                None => Answer::ready(Ok(listed(self.listed()))),
                Some(runtime) => {
                    let checked = check(runtime.clone(), self.listed());
                    Answer::new(async move {
                        let there = checked.await.into_iter().filter(|(_, is_there)| *is_there);
                        Ok(listed(there.map(|(root, _)| root).collect()))
                    })
                }
            },
            Self::Asked(ask) => {
                let roots = ask(());
                Answer::new(async move {
                    let roots = roots.await?;
                    // RT-03: a root that is not a directory of this machine is never shown.
                    match roots.iter().all(|root| is_file(&root.uri)) {
                        true => Ok(listed(roots)),
                        false => Err(ErrorReply::internal()),
                    }
                })
            }
        }
    }
}

/// Returns the roots, each with true if its folder or file is there at this moment.
pub(in crate::client) async fn check(
    runtime: RuntimeHandle,
    roots: Vec<Root>,
) -> Vec<(Root, bool)> {
    let is_there = |root: &Root| {
        let path = file_path(&root.uri);
        path.is_some_and(|path| path.try_exists().unwrap_or(false))
    };
    let check = move || {
        let roots = roots.into_iter();
        let checked = roots.map(|root| {
            let is_there = is_there(&root);
            (root, is_there)
        });
        checked.collect()
    };
    blocking(runtime, check).await
}

/// Returns true if a root of both checks was there in one of them only.
pub(in crate::client) fn differ(one: &[(Root, bool)], other: &[(Root, bool)]) -> bool {
    one.iter().any(|(root, is_there)| {
        let mut same = other.iter().filter(|(known, _)| known.uri == root.uri);
        same.any(|(_, was_there)| was_there != is_there)
    })
}

/// Returns true if the URI is valid for a root (RT-03): `file://` and an absolute path without
/// `..`.
pub(in crate::client) fn is_file(uri: &str) -> bool {
    let scheme = uri.get(..7).unwrap_or_default();
    let rest = uri.get(7..).unwrap_or_default();
    // A host is another machine, but for the name of this one.
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    scheme.eq_ignore_ascii_case("file://") && path.starts_with('/') && !climbs(path)
}

/// Returns true if a segment of the path is `..`, with or without escapes.
fn climbs(path: &str) -> bool {
    path.split(['/', '\\']).any(|segment| {
        let plain = segment.replace("%2e", ".").replace("%2E", ".");
        plain
            .split("%2f")
            .flat_map(|part| part.split("%2F"))
            .any(|part| part == "..")
    })
}

fn listed(roots: Vec<Root>) -> ListRootsResult {
    ListRootsResult {
        roots,
        ..ListRootsResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_are_directories_of_this_machine() {
        let check = |uri, expected| assert_eq!(is_file(uri), expected, "{uri}");
        check("file:///home/ada", true);
        check("FILE:///home/ada", true);
        check("file://localhost/home", true);
        check("file:///C:/Users", true);
        check("file:///a/..b/c..", true);
        check("file:///a/../b", false);
        check("file:///a/%2e%2E/b", false);
        check("file:///a%2f..%2Fb", false);
        check("file:///a\\..\\b", false);
        check("file://elsewhere/home", false);
        check("file://", false);
        check("file:/home", false);
        check("https://example.com/", false);
        check("ä", false);
    }
}
