//! The store of credentials between runs.

use core::future::Future;
use std::io;

use mcp_auth::Credentials;

use crate::runtime::BoxFuture;

/// Held while one client obtains credentials; dropping it lets the next one continue.
pub type CredentialLock = Box<dyn Send>;

/// Keeps credentials between runs.
///
/// A record belongs to one [`server`](Credentials::server) and one
/// [`issuer`](Credentials::issuer). It contains secrets: it belongs in a keyring, in a file that
/// only its owner can read, or in an encrypted table. [`Credentials::to_json`] and
/// [`Credentials::from_json`] encode it.
///
/// A store may keep the newest record of a server only.
///
/// Several processes may share a store. A client takes the lock, loads the record again, obtains
/// new credentials if the record is unchanged, saves them, and releases the lock, so that a refresh token
/// that is replaced at each use is used once.
///
/// ```
/// use std::collections::BTreeMap;
/// use std::io;
/// use std::sync::Mutex;
///
/// use mcp_async::auth::{CredentialLock, CredentialStore, Credentials};
///
/// /// The table of an application with one process, so it needs no lock.
/// #[derive(Default)]
/// struct Table(Mutex<BTreeMap<(String, String), String>>);
///
/// impl CredentialStore for Table {
///     async fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
///         let rows = self.0.lock().unwrap();
///         let row = rows.iter().find(|((of, _), _)| of == server);
///         let record = row.map(|(_, json)| Credentials::from_json(json.as_bytes()));
///         record.transpose().map_err(io::Error::other)
///     }
///
///     async fn save(&self, credentials: &Credentials) -> io::Result<()> {
///         let key = (credentials.server.clone(), credentials.issuer.clone());
///         let json = credentials.to_json().expose().to_owned();
///         let mut rows = self.0.lock().unwrap();
///         rows.retain(|(server, _), _| *server != key.0);
///         rows.insert(key, json);
///         Ok(())
///     }
///
///     async fn remove(&self, server: &str, issuer: &str) -> io::Result<()> {
///         self.0.lock().unwrap().remove(&(server.to_owned(), issuer.to_owned()));
///         Ok(())
///     }
///
///     async fn lock(&self, _server: &str) -> io::Result<CredentialLock> {
///         Ok(Box::new(()))
///     }
/// }
/// # let _ = Table::default();
/// ```
pub trait CredentialStore: Send + Sync + 'static {
    /// Loads the record of this server that was saved last, whatever its issuer. `server` is a canonical
    /// URL, with a hash of the query if the URL of the server has one.
    ///
    /// # Errors
    ///
    /// The store cannot be read, or the record is damaged.
    fn load(&self, server: &str) -> impl Future<Output = io::Result<Option<Credentials>>> + Send;

    /// Saves a record, in place of that of the same server and issuer. When the future is done, a
    /// process that begins now finds it.
    ///
    /// # Errors
    ///
    /// The record was not saved.
    fn save(&self, credentials: &Credentials) -> impl Future<Output = io::Result<()>> + Send;

    /// Removes the record of this server and issuer, if there is one.
    ///
    /// # Errors
    ///
    /// The record may still be there.
    fn remove(&self, server: &str, issuer: &str) -> impl Future<Output = io::Result<()>> + Send;

    /// Waits until no other client obtains credentials for this server. The client bounds the
    /// time.
    ///
    /// # Errors
    ///
    /// The lock cannot be taken.
    fn lock(&self, server: &str) -> impl Future<Output = io::Result<CredentialLock>> + Send;
}

/// A [`CredentialStore`] as an object: its futures are in boxes.
pub(super) trait DynCredentialStore: Send + Sync {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, io::Result<Option<Credentials>>>;
    fn save<'a>(&'a self, credentials: &'a Credentials) -> BoxFuture<'a, io::Result<()>>;
    fn remove<'a>(&'a self, server: &'a str, issuer: &'a str) -> BoxFuture<'a, io::Result<()>>;
    fn lock<'a>(&'a self, server: &'a str) -> BoxFuture<'a, io::Result<CredentialLock>>;
}

impl<S: CredentialStore> DynCredentialStore for S {
    fn load<'a>(&'a self, server: &'a str) -> BoxFuture<'a, io::Result<Option<Credentials>>> {
        Box::pin(CredentialStore::load(self, server))
    }

    fn save<'a>(&'a self, credentials: &'a Credentials) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(CredentialStore::save(self, credentials))
    }

    fn remove<'a>(&'a self, server: &'a str, issuer: &'a str) -> BoxFuture<'a, io::Result<()>> {
        Box::pin(CredentialStore::remove(self, server, issuer))
    }

    fn lock<'a>(&'a self, server: &'a str) -> BoxFuture<'a, io::Result<CredentialLock>> {
        Box::pin(CredentialStore::lock(self, server))
    }
}
