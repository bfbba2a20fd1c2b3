//! The records of logins, in a store of sessions.

use core::time::Duration;
use std::sync::Arc;

use crate::http::store::DynSessionStore;
use crate::http::{MemoryStore, Owner, StoreError};

/// Records with versions, in the store that the sessions are in, or in memory.
///
/// A record is a session that belongs to no process: loading it to change it begins an epoch of it, and a write names
/// the epoch. No request of a client can name it, because no session id has a space.
pub(super) struct LoginRecords {
    /// Users who log in at the provider. In memory they are apart, so that many of them push out no login, like the
    /// consents.
    pending: Arc<dyn DynSessionStore>,
    consents: Arc<dyn DynSessionStore>,
    logins: Arc<dyn DynSessionStore>,
    owner: Owner,
}

/// A record with its version.
pub(super) type Loaded = Option<(u32, Vec<u8>)>;

impl LoginRecords {
    pub(super) fn new(store: Option<Arc<dyn DynSessionStore>>) -> Self {
        let memory = || Arc::new(MemoryStore::new(MOST_IN_MEMORY, 0, 0));
        Self {
            pending: store.clone().unwrap_or_else(|| memory()),
            consents: store.clone().unwrap_or_else(|| memory()),
            logins: store.unwrap_or_else(|| memory()),
            owner: Owner::new("logins", 0),
        }
    }

    fn store(&self, key: &str) -> &dyn DynSessionStore {
        if key.starts_with("login pending ") {
            return &*self.pending;
        }
        match key.starts_with("login consent ") {
            true => &*self.consents,
            false => &*self.logins,
        }
    }

    pub(super) async fn load(&self, key: &str, to_change: bool) -> Result<Loaded, StoreError> {
        if !to_change {
            let record = self.store(key).load(key).await?;
            return Ok(record.map(|record| (0, record)));
        }
        let taken = self.store(key).take_over(key, &self.owner).await?;
        Ok(taken.map(|taken| (taken.epoch, taken.record)))
    }

    pub(super) async fn create(
        &self,
        key: &str,
        record: &[u8],
        keep: u64,
    ) -> Result<(), StoreError> {
        let store = self.store(key);
        store
            .create(key, &self.owner, record, Duration::from_secs(keep))
            .await
    }

    pub(super) async fn save(
        &self,
        key: &str,
        version: u32,
        record: &[u8],
        keep: u64,
    ) -> Result<bool, StoreError> {
        let keep = Duration::from_secs(keep);
        let saved = self.store(key).save(key, version, record, keep).await;
        match saved {
            Ok(()) => Ok(true),
            Err(StoreError::Conflict | StoreError::Gone) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Removes a record. Stores do not say whether there was one, so that it is emptied first: of two that remove it,
    /// one succeeds.
    pub(super) async fn remove(&self, key: &str, version: u32) -> Result<bool, StoreError> {
        let is_emptied = self.save(key, version, &[], 1).await?;
        if is_emptied
            && let Err(StoreError::Failed(error)) = self.store(key).remove(key, version).await
        {
            return Err(StoreError::Failed(error));
        }
        Ok(is_emptied)
    }
}

/// The most logins in memory, the most users who log in, and the most consents. Those that were not used for longest make room.
const MOST_IN_MEMORY: usize = 10_000;
