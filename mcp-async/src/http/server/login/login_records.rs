//! The records of logins.

use core::time::Duration;
use std::sync::Arc;

#[cfg(feature = "disk")]
use super::login_file::LoginFile;
use crate::http::store::DynSessionStore;
use crate::http::{MemoryStore, Owner, StoreError};
use crate::observe;

/// Records with versions.
pub(super) struct LoginRecords {
    /// Users who log in at the provider. In memory they are apart, so that many of them push out no login, like the
    /// consents.
    pending: Records,
    consents: Records,
    logins: Records,
    owner: Owner,
}

/// The place of records.
#[derive(Clone)]
pub(super) enum Records {
    /// A store of sessions.
    ///
    /// A record is a session that belongs to no process: loading it to change it begins an epoch of it, and a write
    /// names the epoch. No request of a client can name it, because no session id has a space.
    Store(Arc<dyn DynSessionStore>),
    /// A file.
    #[cfg(feature = "disk")]
    File(Arc<LoginFile>),
}

impl Records {
    fn in_memory() -> Self {
        Self::Store(Arc::new(MemoryStore::new(MOST_IN_MEMORY, 0, 0)))
    }
}

/// A record with its version.
pub(super) type Loaded = Option<(u32, Vec<u8>)>;

impl LoginRecords {
    /// Records in a place, or in memory. A file has no logins that are not complete: a program that does not log in
    /// can begin many.
    pub(super) fn new(place: Option<Records>) -> Self {
        let pending = match &place {
            Some(Records::Store(store)) => Records::Store(Arc::clone(store)),
            _ => Records::in_memory(),
        };
        Self {
            pending,
            consents: place.clone().unwrap_or_else(Records::in_memory),
            logins: place.unwrap_or_else(Records::in_memory),
            owner: Owner::new("logins", 0),
        }
    }

    /// Returns true if the record is one of a user who logs in at the provider.
    pub(super) fn is_pending(key: &str) -> bool {
        key.starts_with("login pending ")
    }

    fn place(&self, key: &str) -> &Records {
        if Self::is_pending(key) {
            return &self.pending;
        }
        match key.starts_with("login consent ") {
            true => &self.consents,
            false => &self.logins,
        }
    }

    pub(super) async fn load(&self, key: &str, to_change: bool) -> Result<Loaded, StoreError> {
        match self.place(key) {
            Records::Store(store) if to_change => {
                let taken = store.take_over(key, &self.owner).await?;
                Ok(taken.map(|taken| (taken.epoch, taken.record)))
            }
            Records::Store(store) => Ok(store.load(key).await?.map(|record| (0, record))),
            #[cfg(feature = "disk")]
            Records::File(file) if to_change => file.take(key).await,
            #[cfg(feature = "disk")]
            Records::File(file) => Ok(file.load(key)?.map(|record| (0, record))),
        }
    }

    pub(super) async fn create(
        &self,
        key: &str,
        record: &[u8],
        keep: u64,
    ) -> Result<(), StoreError> {
        match self.place(key) {
            Records::Store(store) => {
                let keep = Duration::from_secs(keep);
                store.create(key, &self.owner, record, keep).await
            }
            #[cfg(feature = "disk")]
            Records::File(file) => file.create(key, record, keep).await,
        }
    }

    pub(super) async fn save(
        &self,
        key: &str,
        version: u32,
        record: &[u8],
        keep: u64,
    ) -> Result<bool, StoreError> {
        match self.place(key) {
            Records::Store(store) => {
                let keep = Duration::from_secs(keep);
                match store.save(key, version, record, keep).await {
                    Ok(()) => Ok(true),
                    Err(StoreError::Conflict | StoreError::Gone) => Ok(false),
                    Err(error) => Err(error),
                }
            }
            #[cfg(feature = "disk")]
            Records::File(file) => file.save(key, version, record, keep).await,
        }
    }

    /// Removes a record. Stores of sessions do not say whether there was one, so that it is emptied first: of two that
    /// remove it, one succeeds. One that is empty is gone, also if the store fails then: it ends within a second.
    pub(super) async fn remove(&self, key: &str, version: u32) -> Result<bool, StoreError> {
        match self.place(key) {
            Records::Store(store) => {
                let is_emptied = self.save(key, version, &[], 1).await?;
                if is_emptied
                    && let Err(error @ StoreError::Failed(_)) = store.remove(key, version).await
                {
                    observe::store_failed(&error);
                }
                Ok(is_emptied)
            }
            #[cfg(feature = "disk")]
            Records::File(file) => file.remove(key, version).await,
        }
    }
}

/// The most logins in memory, the most users who log in, and the most consents. Those that were not written for longest
/// make room.
const MOST_IN_MEMORY: usize = 10_000;
