//! Lock files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::crypto::sha256;
use crate::private_file::options;

/// Waits for the lock file of this path and ending, whose folder is created if it is not there. The
/// lock ends with the file that is returned.
pub(super) fn lock(path: &Path, ending: &str) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let file = options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(beside(path, ending))?;
    file.lock()?;
    Ok(file)
}

/// The ending of a lock file for this text, such as the URL of a server.
pub(super) fn lock_ending(text: &str) -> String {
    let [a, b, c, d, ..] = sha256(text.as_bytes());
    format!("{a:02x}{b:02x}{c:02x}{d:02x}.lock")
}

/// The path with one more ending.
pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;

    let mut builder = fs::DirBuilder::new();
    builder.recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}
