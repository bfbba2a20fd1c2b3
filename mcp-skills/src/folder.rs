//! Files of a folder.

use std::collections::BTreeMap;
use std::fs::{self, DirEntry, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::error::SkillError;
use crate::path::check_path;
use crate::{MAX_BYTES, MAX_FILES};

/// The files of a skill, by their paths in its folder.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Reads all files of a folder and of the folders in it, except those whose names begin with a dot.
pub(crate) fn read(folder: &Path) -> Result<Files, SkillError> {
    let root = fs::canonicalize(folder).map_err(|error| at(folder, error))?;
    let mut reader = Reader {
        root,
        files: Files::new(),
        bytes: 0,
        folders: vec![(folder.to_owned(), String::new(), 0)],
    };
    while let Some((folder, prefix, depth)) = reader.folders.pop() {
        if depth > MAX_DEPTH {
            return Err(refused(&folder, "its folders nest too deep"));
        }
        // A link may have taken its place since it was listed.
        let folder = fs::canonicalize(&folder).map_err(|error| at(&folder, error))?;
        if !folder.starts_with(&reader.root) {
            return Err(refused(&folder, "it is outside of the folder of the skill"));
        }
        for entry in fs::read_dir(&folder).map_err(|error| at(&folder, error))? {
            let entry = entry.map_err(|error| at(&folder, error))?;
            reader.entry(&entry, &prefix, depth)?;
        }
    }
    Ok(reader.files)
}

struct Reader {
    /// Without links.
    root: PathBuf,
    files: Files,
    bytes: u64,
    /// The folders that are still to be read, each with its path in the skill and its depth.
    folders: Vec<(PathBuf, String, usize)>,
}

impl Reader {
    fn entry(&mut self, entry: &DirEntry, prefix: &str, depth: usize) -> Result<(), SkillError> {
        let path = entry.path();
        let name = entry.file_name();
        let Some(name) = name.to_str() else {
            return Err(refused(&path, "its name is not UTF-8"));
        };
        if name.starts_with('.') {
            return Ok(());
        }
        let name = format!("{prefix}{name}");
        check_path(&name).map_err(|reason| refused(&path, reason))?;
        let kind = entry.file_type().map_err(|error| at(&path, error))?;
        if kind.is_dir() {
            self.folders.push((path, format!("{name}/"), depth + 1));
            return Ok(());
        }
        let target = match kind.is_symlink() {
            true => self.target(&path)?,
            false if kind.is_file() => path,
            false => return Err(refused(&path, "it is neither a file nor a folder")),
        };
        if self.files.len() == MAX_FILES {
            return Err(refused(&self.root, TOO_MANY_FILES));
        }
        let left = MAX_BYTES - self.bytes;
        let bytes = read_at_most(&target, left + 1).map_err(|error| at(&target, error))?;
        let len = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
        if len > left {
            return Err(refused(&self.root, TOO_MANY_BYTES));
        }
        self.bytes += len;
        self.files.insert(name, bytes);
        Ok(())
    }

    /// Returns the file that a link leads to, if it is in the folder.
    fn target(&self, link: &Path) -> Result<PathBuf, SkillError> {
        let target = fs::canonicalize(link).map_err(|error| at(link, error))?;
        if !target.starts_with(&self.root) {
            return Err(refused(link, "it is a link that leads out of the folder"));
        }
        let kind = fs::metadata(&target).map_err(|error| at(link, error))?;
        match kind.is_file() {
            true => Ok(target),
            false => Err(refused(link, "it is a link to something that is no file")),
        }
    }
}

fn read_at_most(file: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = options().read(true).open(file)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A link that has taken the place of a file is not followed, and a pipe not waited for.
#[cfg(unix)]
fn options() -> OpenOptions {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;

    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let mut options = OpenOptions::new();
    options.custom_flags(flags.bits().cast_signed());
    options
}

#[cfg(not(unix))]
fn options() -> OpenOptions {
    OpenOptions::new()
}

fn at(path: &Path, error: io::Error) -> SkillError {
    SkillError::io(path.display().to_string(), error)
}

fn refused(path: &Path, reason: &str) -> SkillError {
    SkillError::new(path.display().to_string(), reason)
}

const MAX_DEPTH: usize = 32;

pub(crate) const TOO_MANY_FILES: &str = "it has more than 512 files";
pub(crate) const TOO_MANY_BYTES: &str = "its files have more than 16 MiB";
