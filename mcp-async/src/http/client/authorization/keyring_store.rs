//! Credentials in the keyring of the system.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use keyring_core::{Entry, Error};
use mcp_auth::Credentials;

use super::blocking::blocking;
use super::lock_file::{lock, lock_ending};
use super::store::{CredentialLock, CredentialStore};

/// Keeps credentials in the keyring of the system, through the crate `keyring-core`.
///
/// The program chooses the keyring once, when it starts, with `keyring_core::set_default_store` and
/// a store of its platform, of which these are some:
///
/// | Platform | Store |
/// |---|---|
/// | macOS | `apple_native_keyring_store::keychain::Store` |
/// | Windows | `windows_native_keyring_store::Store` |
/// | Linux, BSD | `zbus_secret_service_keyring_store::Store` |
///
/// Each server has one entry, whose service is a name of the application, whose user is the URL of
/// the server, and whose secret is the newest record of the server, as [`Credentials::to_json`]
/// encodes it. A record of another issuer takes the place of the former one. The service and the
/// URL are not secret: some keyrings show them to other programs of the user.
///
/// An entry that cannot be decoded is an error until it is replaced or removed.
///
/// Some keyrings limit the length of a secret; Windows allows 2560 bytes. A longer record is not
/// saved, and the error states both lengths.
///
/// A keyring has no locks. Processes that share entries lock files in a folder, which is created if
/// it is not there. The files are empty and stay.
///
/// Calls of the keyring block, for example until the user unlocks it. Each runs on a thread of its
/// own.
///
/// ```no_run
/// use mcp_async::auth::{Authorization, KeyringCredentialStore};
///
/// # fn run() -> keyring_core::Result<()> {
/// // This keyring is for tests: it ends with the process.
/// keyring_core::set_default_store(keyring_core::mock::Store::new()?);
/// let store = KeyringCredentialStore::new("com.example.desk", "/home/ada/.local/state/desk");
/// let authorization = Authorization::new().store(store);
/// # drop(authorization);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct KeyringCredentialStore {
    service: String,
    locks: PathBuf,
}

impl KeyringCredentialStore {
    /// Creates a store of entries of this service, with lock files in this folder. Nothing is read
    /// or written yet.
    ///
    /// Processes that share a service must share the folder, too.
    pub fn new(service: impl Into<String>, locks: impl Into<PathBuf>) -> Self {
        Self {
            service: service.into(),
            locks: locks.into(),
        }
    }

    async fn run<T: Send + 'static>(
        &self,
        server: &str,
        work: impl FnOnce(&ServerEntry) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let entry = ServerEntry {
            store: self.clone(),
            server: server.to_owned(),
        };
        blocking(move || work(&entry)).await
    }
}

impl CredentialStore for KeyringCredentialStore {
    async fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        self.run(server, ServerEntry::read).await
    }

    async fn save(&self, credentials: &Credentials) -> io::Result<()> {
        let json = credentials.to_json();
        self.run(&credentials.server, move |entry| {
            let json = json.expose().as_bytes();
            if Credentials::from_json(json).is_err() {
                return Err(entry.error(
                    io::ErrorKind::InvalidInput,
                    format_args!("the record is too long"),
                ));
            }
            let _lock = entry.lock("write")?;
            let saved = entry.open().and_then(|entry| entry.set_secret(json));
            saved.map_err(|error| match error {
                Error::TooLong(name, limit) => entry.error(
                    io::ErrorKind::InvalidInput,
                    format_args!(
                        "the keyring limits `{name}` to {limit}, and the record has {} bytes",
                        json.len()
                    ),
                ),
                error => entry.keyring_error(error),
            })
        })
        .await
    }

    async fn remove(&self, server: &str, issuer: &str) -> io::Result<()> {
        let issuer = issuer.to_owned();
        self.run(server, move |entry| {
            let _lock = entry.lock("write")?;
            if entry.read()?.is_none_or(|record| record.issuer != issuer) {
                return Ok(());
            }
            match entry.open().and_then(|entry| entry.delete_credential()) {
                Ok(()) | Err(Error::NoEntry) => Ok(()),
                Err(error) => Err(entry.keyring_error(error)),
            }
        })
        .await
    }

    async fn lock(&self, server: &str) -> io::Result<CredentialLock> {
        self.run(server, |entry| {
            Ok(Box::new(entry.lock("client")?) as CredentialLock)
        })
        .await
    }
}

/// The entry of one server.
struct ServerEntry {
    store: KeyringCredentialStore,
    server: String,
}

impl ServerEntry {
    fn open(&self) -> keyring_core::Result<Entry> {
        Entry::new(&self.store.service, &self.server)
    }

    /// Returns the record of this server. A keyring that ignores the case of names may hold that of
    /// another one.
    fn read(&self) -> io::Result<Option<Credentials>> {
        // As bytes: Windows stores text in UTF-16, so that half as much fits.
        let json = match self.open().and_then(|entry| entry.get_secret()) {
            Ok(json) => json,
            Err(Error::NoEntry) => return Ok(None),
            Err(error) => return Err(self.keyring_error(error)),
        };
        let record = Credentials::from_json(&json)
            .map_err(|error| self.error(io::ErrorKind::InvalidData, format_args!("{error}")))?;
        Ok(Some(record).filter(|record| record.server == self.server))
    }

    /// Locks the file for this purpose. A client holds its lock while it saves and removes, so
    /// these have another one.
    fn lock(&self, purpose: &str) -> io::Result<File> {
        let folder: &Path = &self.store.locks;
        let name = format!("{}\n{}", self.store.service, self.server);
        lock(&folder.join(purpose), &lock_ending(&name))
            .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", folder.display())))
    }

    fn error(&self, kind: io::ErrorKind, text: core::fmt::Arguments<'_>) -> io::Error {
        let service = &self.store.service;
        io::Error::new(kind, format!("keyring service `{service}`: {text}"))
    }

    /// Describes an error. Parts that may repeat a secret are left out: bytes that were read,
    /// entries, and explanations of invalid values and formats.
    fn keyring_error(&self, error: Error) -> io::Error {
        use io::ErrorKind::{InvalidData, InvalidInput, Other, PermissionDenied, Unsupported};

        match error {
            Error::NoDefaultStore => self.error(
                Unsupported,
                format_args!(
                    "no keyring is chosen; call keyring_core::set_default_store at the start of \
                     the program"
                ),
            ),
            Error::NoStorageAccess(cause) => self.error(
                PermissionDenied,
                format_args!("the keyring cannot be accessed: {cause}"),
            ),
            Error::PlatformFailure(cause) => {
                self.error(Other, format_args!("the keyring failed: {cause}"))
            }
            Error::TooLong(name, limit) => self.error(
                InvalidInput,
                format_args!("the keyring limits `{name}` to {limit}"),
            ),
            Error::Invalid(name, _) => self.error(
                InvalidInput,
                format_args!("the keyring refuses the value of `{name}`"),
            ),
            Error::Ambiguous(entries) => self.error(
                InvalidData,
                format_args!("the keyring has {} such entries", entries.len()),
            ),
            Error::BadEncoding(_) | Error::BadDataFormat(..) => {
                self.error(InvalidData, format_args!("the entry is damaged"))
            }
            Error::BadStoreFormat(_) => {
                self.error(InvalidData, format_args!("the keyring is damaged"))
            }
            Error::NotSupportedByStore(_) => self.error(
                Unsupported,
                format_args!("the keyring does not support the operation"),
            ),
            _ => self.error(Other, format_args!("the keyring failed")),
        }
    }
}
