//! Credentials in a file.

use core::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use mcp_proto::auth::Credentials;

use super::blocking::blocking;
use super::store::{CredentialLock, CredentialStore};
use super::user_agent::AuthorizationFuture;
use crate::crypto::{random, sha256};

/// Keeps credentials in a file that only its owner can read (mode 600 where the system has modes).
///
/// The file has one record for each line, as [`Credentials::to_json`] encodes it, the newest last. It
/// is replaced as a whole, by renaming a new one. Processes that share it lock files whose names are
/// its name with an ending of `.lock`. Its folder is created if it is not there.
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

    fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
    ) -> AuthorizationFuture<'static, T> {
        let path = self.path.clone();
        Box::pin(blocking(move || {
            work(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })
        }))
    }
}

impl CredentialStore for FileCredentialStore {
    fn load<'a>(&'a self, server: &'a str) -> AuthorizationFuture<'a, Option<Credentials>> {
        let server = server.to_owned();
        self.run(move |path| {
            let mut records = read(path)?.into_iter().rev();
            Ok(records.find(|record| record.server == server))
        })
    }

    fn save<'a>(&'a self, credentials: &'a Credentials) -> AuthorizationFuture<'a, ()> {
        let credentials = credentials.clone();
        self.run(move |path| {
            change(path, |records| {
                remove(records, &credentials.server, &credentials.issuer);
                records.push(credentials);
            })
        })
    }

    fn remove<'a>(&'a self, server: &'a str, issuer: &'a str) -> AuthorizationFuture<'a, ()> {
        let (server, issuer) = (server.to_owned(), issuer.to_owned());
        self.run(move |path| change(path, |records| remove(records, &server, &issuer)))
    }

    fn lock<'a>(&'a self, server: &'a str) -> AuthorizationFuture<'a, CredentialLock> {
        let [a, b, c, d, ..] = sha256(server.as_bytes());
        let ending = format!("{a:02x}{b:02x}{c:02x}{d:02x}.lock");
        self.run(move |path| Ok(Box::new(lock(path, &ending)?) as CredentialLock))
    }
}

fn remove(records: &mut Vec<Credentials>, server: &str, issuer: &str) {
    records.retain(|record| record.server != server || record.issuer != issuer);
}

fn read(path: &Path) -> io::Result<Vec<Credentials>> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| Credentials::from_json(line.as_bytes()).map_err(io::Error::other))
        .collect()
}

/// Reads, changes and replaces the file. Writers of several servers take turns: the lock of a
/// client is for one server, this one is for the file.
fn change(path: &Path, change: impl FnOnce(&mut Vec<Credentials>)) -> io::Result<()> {
    let _lock = lock(path, "write.lock")?;
    let mut records = read(path)?;
    change(&mut records);
    let mut text = String::new();
    for record in records {
        let _ = writeln!(text, "{}", record.to_json().expose());
    }
    let number = u64::from_ne_bytes(random()?);
    let temporary = beside(path, &format!("{number:016x}.new"));
    let written = (|| {
        let mut file = private().write(true).create_new(true).open(&temporary)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn lock(path: &Path, ending: &str) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let file = private()
        .write(true)
        .create(true)
        .truncate(false)
        .open(beside(path, ending))?;
    file.lock()?;
    Ok(file)
}

/// The path with one more ending.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

#[cfg(unix)]
fn private() -> OpenOptions {
    use std::os::unix::fs::OpenOptionsExt as _;

    let mut options = OpenOptions::new();
    options.mode(0o600);
    options
}

#[cfg(not(unix))]
fn private() -> OpenOptions {
    OpenOptions::new()
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
