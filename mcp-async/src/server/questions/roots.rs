//! The roots of a client, and whether a path lies in one of them.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::file_uri::file_path;
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

    /// Returns the roots that are not there at this moment: their directories were removed, or cannot be reached. No path is inside
    /// one. The client notifies the server of other changes: see
    /// [`ServerBuilder::on_roots_changed`](crate::server::ServerBuilder::on_roots_changed).
    pub fn vanished(&self) -> impl Iterator<Item = &Root> {
        let vanished = self.roots.iter().filter(|(_, path)| !exists(path));
        vanished.map(|(root, _)| root)
    }

    /// Returns true if the path is a root or is inside one, when all links and all `..` of both are
    /// resolved. A root that is not there contains nothing.
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
            .filter(|(_, root)| exists(root))
            .filter_map(|(_, root)| resolve(root).ok())
            .any(|root| path.starts_with(root))
    }
}

fn exists(root: &Path) -> bool {
    root.try_exists().unwrap_or(false)
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
        // A root that does not exist, or not any more.
        let gone = roots(&format!("file://{}/gone", dir.display()));
        assert!(!gone.contains(&dir.join("gone/x")) && !gone.contains(&dir.join("gone")));
        assert!(!gone.contains(&dir.join("real")));
        assert_eq!(gone.vanished().count(), 1);
        fs::create_dir(dir.join("gone")).unwrap();
        assert!(gone.contains(&dir.join("gone/x")));
        assert_eq!(gone.vanished().count(), 0);
        fs::remove_dir_all(&dir).unwrap();
        assert!(!gone.contains(&dir.join("gone/x")));
        assert_eq!(gone.vanished().count(), 1);
    }
}
