//! Lists and reads the files of a folder on Unix: each name is opened relative to the folder that was opened before it, and no link is
//! followed, whatever becomes of the folder meanwhile.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, open, openat, statat};
use rustix::io::Errno;

use super::file_path::{FilePath, is_served};
use super::{FoundFile, MAX_DEPTH, is_missing};

/// Returns the files in the folder at this path; `max_entries` entries are looked at.
pub(super) fn list(folder: &Path, max_entries: usize) -> io::Result<Vec<FoundFile>> {
    let mut lister = Lister {
        found: Vec::new(),
        left: max_entries,
        names: Vec::new(),
    };
    lister.folder(open(folder, FOLDER, Mode::empty())?)?;
    Ok(lister.found)
}

/// Returns the first bytes of a file, as many as `limit` at most.
pub(super) fn read(folder: &Path, path: &FilePath, limit: usize) -> io::Result<Vec<u8>> {
    let (file, folders) = path.split().ok_or(io::ErrorKind::NotFound)?;
    let mut folder = open(folder, FOLDER, Mode::empty())?;
    for name in folders {
        folder = open_folder(folder.as_fd(), name)?;
    }
    // Opening a device can have an effect.
    check_file(&statat(&folder, file, AtFlags::SYMLINK_NOFOLLOW)?)?;
    let file = openat(&folder, file, FILE, Mode::empty())?;
    let found = fstat(&file)?;
    check_file(&found)?;
    let length = usize::try_from(found.st_size).unwrap_or_default();
    let mut bytes = Vec::with_capacity(length.saturating_add(1).min(limit));
    let limit = u64::try_from(limit).unwrap_or(u64::MAX);
    File::from(file).take(limit).read_to_end(&mut bytes)?;
    Ok(bytes)
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
    fn folder(&mut self, folder: OwnedFd) -> io::Result<()> {
        let mut folder = Dir::new(folder)?;
        while let Some(entry) = folder.read() {
            let entry = entry?;
            // The folder and the one above are entries, too.
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            match self.left.checked_sub(1) {
                Some(left) => self.left = left,
                None => break,
            }
            let name = core::str::from_utf8(name)
                .ok()
                .filter(|name| is_served(name));
            if let Some(name) = name {
                match self.entry(folder.fd()?, name, entry.file_type()) {
                    // It has gone meanwhile, or is not for this process.
                    Err(error) if is_missing(&error) => {}
                    done => done?,
                }
            }
        }
        Ok(())
    }

    fn entry(&mut self, folder: BorrowedFd<'_>, name: &str, kind: FileType) -> io::Result<()> {
        // Some file systems do not tell the kind of an entry.
        if !matches!(
            kind,
            FileType::RegularFile | FileType::Directory | FileType::Unknown
        ) {
            return Ok(());
        }
        let found = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {
                let path = FilePath::in_folder(&self.names, name.to_owned());
                let bytes = u64::try_from(found.st_size).unwrap_or_default();
                self.found.push(FoundFile { path, bytes });
            }
            FileType::Directory if self.names.len() < MAX_DEPTH => {
                let inner = open_folder(folder, name)?;
                self.names.push(name.to_owned());
                let listed = self.folder(inner);
                self.names.pop();
                listed?;
            }
            _ => {}
        }
        Ok(())
    }
}

fn open_folder(folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd, Errno> {
    openat(folder, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty())
}

fn check_file(found: &rustix::fs::Stat) -> io::Result<()> {
    match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => Ok(()),
        _ => Err(io::ErrorKind::NotFound.into()),
    }
}

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
/// A pipe that has taken the place of a file is not waited for, and a terminal does not become that of this process.
const FILE: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);
