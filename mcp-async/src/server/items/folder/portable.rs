//! Lists and reads the files of a folder by paths, which are resolved and checked before they are opened.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use super::file_path::{FilePath, is_served};
use super::{FoundFile, MAX_DEPTH, is_missing};

/// Returns the files in the folder at this path; `max_entries` entries are looked at.
pub(super) fn list(folder: &Path, max_entries: usize) -> io::Result<Vec<FoundFile>> {
    let mut lister = Lister {
        found: Vec::new(),
        left: max_entries,
        names: Vec::new(),
    };
    lister.folder(&fs::canonicalize(folder)?)?;
    Ok(lister.found)
}

/// Returns the first bytes of a file, as many as `limit` at most.
pub(super) fn read(folder: &Path, path: &FilePath, limit: usize) -> io::Result<Vec<u8>> {
    let (file, folders) = path.split().ok_or(io::ErrorKind::NotFound)?;
    let mut resolved = fs::canonicalize(folder)?;
    for name in folders {
        resolved = resolve(&resolved, name)?;
    }
    let resolved = resolve(&resolved, file)?;
    // Opening a device can have an effect.
    check_file(&fs::symlink_metadata(&resolved)?)?;
    let file = File::open(resolved)?;
    check_file(&file.metadata()?)?;
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns the path of what has this name in a resolved folder, if it is no link and served by its own name, too: a short name of Windows
/// is another name of the same file.
fn resolve(folder: &Path, name: &str) -> io::Result<PathBuf> {
    let named = folder.join(name);
    if fs::symlink_metadata(&named)?.is_symlink() {
        return Err(io::ErrorKind::NotFound.into());
    }
    let resolved = fs::canonicalize(named)?;
    let own = resolved.file_name().and_then(|own| own.to_str());
    match resolved.parent() == Some(folder) && own.is_some_and(is_served) {
        true => Ok(resolved),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}

/// The files that were found until now.
struct Lister {
    found: Vec<FoundFile>,
    /// The number of entries that may still be looked at.
    left: usize,
    /// The names of the folders on the way.
    names: Vec<String>,
}

impl Lister {
    fn folder(&mut self, folder: &Path) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => break,
            }
            let name = entry.file_name();
            if let Some(name) = name.to_str().filter(|name| is_served(name)) {
                match self.entry(folder, name) {
                    // It has gone meanwhile, or is not for this process.
                    Err(error) if is_missing(&error) => {}
                    done => done?,
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, folder: &Path, name: &str) -> io::Result<()> {
        let path = folder.join(name);
        let found = fs::symlink_metadata(&path)?;
        if found.is_file() {
            let path = FilePath::in_folder(&self.names, name.to_owned());
            let bytes = found.len();
            self.found.push(FoundFile { path, bytes });
        } else if found.is_dir() && self.names.len() < MAX_DEPTH {
            self.names.push(name.to_owned());
            let listed = self.folder(&path);
            self.names.pop();
            listed?;
        }
        Ok(())
    }
}

fn check_file(found: &fs::Metadata) -> io::Result<()> {
    match found.is_file() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotFound.into()),
    }
}
