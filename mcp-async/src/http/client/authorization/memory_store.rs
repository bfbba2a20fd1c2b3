//! Credentials that end with the process.

use core::fmt;
use core::future::poll_fn;
use core::task::Poll;
use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, MutexGuard};

use mcp_auth::Credentials;

use super::store::{CredentialLock, CredentialStore};
use crate::sync::{Lock, Waiters};

/// Keeps credentials in memory. Clones share them, so that several clients of one process log in
/// once.
#[derive(Clone, Default)]
pub struct MemoryCredentialStore(Arc<Lock<State>>);

#[derive(Default)]
struct State {
    /// The newest record comes last.
    records: Vec<Credentials>,
    locked: BTreeSet<String>,
    waiting: Waiters,
}

/// Locks the records of one server.
struct ServerLock {
    store: MemoryCredentialStore,
    server: String,
}

impl MemoryCredentialStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock()
    }
}

impl CredentialStore for MemoryCredentialStore {
    async fn load(&self, server: &str) -> io::Result<Option<Credentials>> {
        let state = self.state();
        let mut records = state.records.iter().rev();
        Ok(records.find(|record| record.server == server).cloned())
    }

    async fn save(&self, credentials: &Credentials) -> io::Result<()> {
        let mut state = self.state();
        state.remove(&credentials.server, &credentials.issuer);
        state.records.push(credentials.clone());
        Ok(())
    }

    async fn remove(&self, server: &str, issuer: &str) -> io::Result<()> {
        self.state().remove(server, issuer);
        Ok(())
    }

    async fn lock(&self, server: &str) -> io::Result<CredentialLock> {
        poll_fn(move |cx| {
            let mut state = self.state();
            if state.locked.insert(server.to_owned()) {
                let lock = ServerLock {
                    store: self.clone(),
                    server: server.to_owned(),
                };
                return Poll::Ready(Ok(Box::new(lock) as CredentialLock));
            }
            state.waiting.register(cx);
            Poll::Pending
        })
        .await
    }
}

impl State {
    fn remove(&mut self, server: &str, issuer: &str) {
        self.records
            .retain(|record| record.server != server || record.issuer != issuer);
    }
}

impl Drop for ServerLock {
    fn drop(&mut self) {
        let waiting = {
            let mut state = self.store.state();
            state.locked.remove(&self.server);
            state.waiting.take()
        };
        waiting.wake();
    }
}

/// Shows no record.
impl fmt::Debug for MemoryCredentialStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryCredentialStore")
            .finish_non_exhaustive()
    }
}
