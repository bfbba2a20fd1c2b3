//! Credentials in a file.

use core::fmt::Write as _;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use mcp_auth::{Credentials, Secret};

use super::blocking::blocking;
use super::lock_file::{beside, lock, lock_ending};
use super::store::{CredentialLock, CredentialStore};
use crate::private_file::{check_owner, options};

/// Keeps credentials in a file that only its owner can read (mode 600 where the system has modes).
///
/// The file has one record for each line, as [`Credentials::to_json`] encodes it, the newest last. A
/// line that cannot be decoded is kept, and belongs to no server. The file is replaced as a whole, by
/// renaming a new one, whose name has the ending `.new`. Processes that share it lock files whose
/// names are its name with an ending of `.lock`. Its folder is created if it is not there.
///
/// On Unix, a symbolic link, a file of another user and one that other users can read or write are
/// errors. A file has at most 16 MiB.
///
/// ```no_run
/// use mcp_async::auth::{Authorization, FileCredentialStore};
///
/// let authorization = Authorization::new().store(FileCredentialStore::new("/home/ada/.local/state/demo/tokens"));
/// # drop(authorization);
/// ```
#[derive(Clone, Debug)]
pub struct FileCredentialStore {
    path: PathBuf,
}

impl FileCredentialStore {
    /// Creates a store at this path. Nothing is read or written yet.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let path = self.path.clone();
        blocking(move || {
            work(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })
        })
        .await
    }
}

impl CredentialStore for FileCredentialStore {
    async fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        let server = server.to_owned();
        self.run(move |path| {
            let lines = read(path)?.into_iter().rev();
            let mut records = lines.filter_map(|line| line.record);
            Ok(records.find(|record| record.server == server))
        })
        .await
    }

    async fn save(&self, credentials: &Credentials) -> io::Result<()> {
        let credentials = credentials.clone();
        self.run(move |path| {
            let line = Line::decode(credentials.to_json().expose());
            if line.record.is_none() {
                return Err(io::Error::other("the record is too long"));
            }
            change(path, |lines| {
                remove(lines, &credentials.server, &credentials.issuer);
                lines.push(line);
            })
        })
        .await
    }

    async fn remove(&self, server: &str, issuer: &str) -> io::Result<()> {
        let (server, issuer) = (server.to_owned(), issuer.to_owned());
        self.run(move |path| change(path, |lines| remove(lines, &server, &issuer)))
            .await
    }

    async fn lock(&self, server: &str) -> io::Result<CredentialLock> {
        let ending = lock_ending(server);
        self.run(move |path| Ok(Box::new(lock(path, &ending)?) as CredentialLock))
            .await
    }
}

/// A line of the file.
struct Line {
    text: Secret,
    /// `None` for a line that cannot be decoded, such as a record of another version.
    record: Option<Credentials>,
}

impl Line {
    fn decode(text: &str) -> Self {
        Self {
            text: text.into(),
            record: Credentials::from_json(text.as_bytes()).ok(),
        }
    }
}

fn remove(lines: &mut Vec<Line>, server: &str, issuer: &str) {
    let is_removed = |record: &Credentials| record.server == server && record.issuer == issuer;
    lines.retain(|line| !line.record.as_ref().is_some_and(is_removed));
}

fn read(path: &Path) -> io::Result<Vec<Line>> {
    let file = match options().read(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    check_owner(&file)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    check_length(&bytes)?;
    let text = String::from_utf8(bytes)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is not UTF-8"))?;
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    Ok(lines.map(Line::decode).collect())
}

fn check_length(bytes: &[u8]) -> io::Result<()> {
    match u64::try_from(bytes.len()).is_ok_and(|length| length <= MAX_FILE) {
        true => Ok(()),
        false => Err(io::Error::other(format!(
            "the file is longer than {MAX_FILE} bytes"
        ))),
    }
}

/// Reads, changes and replaces the file. Writers of several servers take turns: the lock of a
/// client is for one server, this one is for the file.
fn change(path: &Path, change: impl FnOnce(&mut Vec<Line>)) -> io::Result<()> {
    let _lock = lock(path, "write.lock")?;
    let mut lines = read(path)?;
    change(&mut lines);
    let mut text = String::new();
    for line in lines {
        let _ = writeln!(text, "{}", line.text.expose());
    }
    check_length(text.as_bytes())?;
    let temporary = beside(path, "new");
    // A process that was killed may have left it.
    let _ = fs::remove_file(&temporary);
    let written = (|| {
        let mut file = options().write(true).create_new(true).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// The most bytes that a file may have.
const MAX_FILE: u64 = 16 << 20;
