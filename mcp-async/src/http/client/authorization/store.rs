//! The store of credentials between runs.

use mcp_auth::Credentials;

use super::user_agent::AuthorizationFuture;

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
/// use mcp_async::auth::{AuthorizationFuture, CredentialLock, CredentialStore, Credentials};
///
/// /// The table of an application with one process, so it needs no lock.
/// #[derive(Default)]
/// struct Table(Mutex<BTreeMap<(String, String), String>>);
///
/// impl CredentialStore for Table {
///     fn load<'a>(&'a self, server: &'a str) -> AuthorizationFuture<'a, Option<Credentials>> {
///         Box::pin(async move {
///             let rows = self.0.lock().unwrap();
///             let row = rows.iter().find(|((of, _), _)| of == server);
///             let record = row.map(|(_, json)| Credentials::from_json(json.as_bytes()));
///             record.transpose().map_err(io::Error::other)
///         })
///     }
///
///     fn save<'a>(&'a self, credentials: &'a Credentials) -> AuthorizationFuture<'a, ()> {
///         Box::pin(async move {
///             let key = (credentials.server.clone(), credentials.issuer.clone());
///             let json = credentials.to_json().expose().to_owned();
///             let mut rows = self.0.lock().unwrap();
///             rows.retain(|(server, _), _| *server != key.0);
///             rows.insert(key, json);
///             Ok(())
///         })
///     }
///
///     fn remove<'a>(&'a self, server: &'a str, issuer: &'a str) -> AuthorizationFuture<'a, ()> {
///         Box::pin(async move {
///             self.0.lock().unwrap().remove(&(server.to_owned(), issuer.to_owned()));
///             Ok(())
///         })
///     }
///
///     fn lock<'a>(&'a self, _server: &'a str) -> AuthorizationFuture<'a, CredentialLock> {
///         Box::pin(async { Ok(Box::new(()) as CredentialLock) })
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
    fn load<'a>(&'a self, server: &'a str) -> AuthorizationFuture<'a, Option<Credentials>>;

    /// Saves a record, in place of that of the same server and issuer. When the future is done, a
    /// process that begins now finds it.
    ///
    /// # Errors
    ///
    /// The record was not saved.
    fn save<'a>(&'a self, credentials: &'a Credentials) -> AuthorizationFuture<'a, ()>;

    /// Removes the record of this server and issuer, if there is one.
    ///
    /// # Errors
    ///
    /// The record may still be there.
    fn remove<'a>(&'a self, server: &'a str, issuer: &'a str) -> AuthorizationFuture<'a, ()>;

    /// Waits until no other client obtains credentials for this server. The client bounds the
    /// time.
    ///
    /// # Errors
    ///
    /// The lock cannot be taken.
    fn lock<'a>(&'a self, server: &'a str) -> AuthorizationFuture<'a, CredentialLock>;
}
