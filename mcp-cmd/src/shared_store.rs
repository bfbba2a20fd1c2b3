//! Credentials that several processes share.

use core::pin::pin;
use core::time::Duration;
use std::io;

use super::screen::Screen;
use mcp_tokio::auth::{CredentialLock, CredentialStore, Credentials, FileCredentialStore};
use tokio::time::timeout;

/// A file of credentials that says when it waits for another process. Without a terminal it does
/// not wait long: the other process may wait for a person.
pub(crate) struct SharedStore {
    pub(crate) file: FileCredentialStore,
    pub(crate) screen: Screen,
}

impl CredentialStore for SharedStore {
    async fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        self.file.load(server).await
    }

    async fn save(&self, credentials: &Credentials) -> io::Result<()> {
        self.file.save(credentials).await
    }

    async fn remove(&self, server: &str, issuer: &str) -> io::Result<()> {
        self.file.remove(server, issuer).await
    }

    async fn lock(&self, server: &str) -> io::Result<CredentialLock> {
        let mut lock = pin!(self.file.lock(server));
        if let Ok(lock) = timeout(SILENT, &mut lock).await {
            return lock;
        }
        if self.screen.can_ask() {
            self.screen.say(
                "another process is logging in at this server; waiting for it (Ctrl-C ends this)",
            );
            return lock.await;
        }
        let lock = timeout(LONGEST, lock).await;
        lock.unwrap_or_else(|_| Err(io::ErrorKind::ResourceBusy.into()))
    }
}

/// The longest wait that is not announced: a process that refreshes a token needs less.
const SILENT: Duration = Duration::from_millis(500);
/// The longest further wait without a terminal.
const LONGEST: Duration = Duration::from_secs(2);
