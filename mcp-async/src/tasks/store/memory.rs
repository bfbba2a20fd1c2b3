//! A store of tasks in the memory of this process.

use core::fmt;
use core::time::Duration;
use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use mcp_proto::Instant;

use super::watches::Watches;
use super::{TaskRecord, TaskStore, TaskStoreError};
use crate::leases::Leases;
use crate::runtime::monotonic;
use crate::shrink::shrink;
use crate::sync::Lock;

/// Keeps tasks in memory, until they expire or the process ends. Clones share the tasks.
#[derive(Clone)]
pub struct MemoryTaskStore {
    tables: Arc<Lock<Tables>>,
    watches: Arc<Watches>,
    now: Arc<dyn Fn() -> Instant + Send + Sync>,
}

#[derive(Default)]
struct Tables {
    tasks: HashMap<Arc<str>, Arc<TaskRecord>>,
    /// Ids by the time when they expire.
    expiring: BTreeSet<(u64, Arc<str>)>,
    /// Ids by their owners.
    owned: BTreeSet<(Arc<str>, Arc<str>)>,
    leases: Leases,
}

impl MemoryTaskStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self {
            tables: Arc::default(),
            watches: Arc::default(),
            now: Arc::new(monotonic::now),
        }
    }

    /// Lets leases end by this clock instead of that of the system, in tests for instance. Clones that were made before keep
    /// the clock that they had.
    #[must_use]
    pub fn clock(mut self, now: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        self.now = Arc::new(now);
        self
    }

    /// Returns the number of tasks.
    pub fn len(&self) -> usize {
        self.tables.lock().tasks.len()
    }

    /// Returns whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps a new record, at once; `false` if its id is known.
    pub(crate) fn add(&self, record: &TaskRecord) -> bool {
        let tables = &mut *self.tables.lock();
        let Entry::Vacant(place) = tables.tasks.entry(Arc::clone(&record.id)) else {
            return false;
        };
        place.insert(Arc::new(record.clone()));
        let id = &record.id;
        if let Some(at) = record.expires_at() {
            tables.expiring.insert((at, Arc::clone(id)));
        }
        if let Some(owner) = &record.owner {
            tables.owned.insert((Arc::clone(owner), Arc::clone(id)));
        }
        true
    }

    /// Returns the record of this id.
    pub(crate) fn get(&self, id: &str) -> Option<TaskRecord> {
        let record = self.tables.lock().tasks.get(id).map(Arc::clone);
        record.map(|record| TaskRecord::clone(&record))
    }

    /// Replaces the record before this one, at once; `false` if the store has another one.
    pub(crate) fn exchange(&self, record: &TaskRecord) -> bool {
        let new = Arc::new(record.clone());
        let _old = match self.tables.lock().tasks.get_mut(record.id()) {
            Some(known) if known.version().checked_add(1) == Some(record.version()) => {
                core::mem::replace(known, new)
            }
            _ => return false,
        };
        self.watches.changed(record.id());
        true
    }

    /// Forgets the record of this id, at once.
    pub(crate) fn forget(&self, id: &str) {
        let _removed = {
            let tables = &mut *self.tables.lock();
            let removed = tables.tasks.remove_entry(id);
            if let Some((id, record)) = &removed {
                if let Some(at) = record.expires_at() {
                    tables.expiring.remove(&(at, Arc::clone(id)));
                }
                if let Some(owner) = &record.owner {
                    tables.owned.remove(&(Arc::clone(owner), Arc::clone(id)));
                }
            }
            shrink(&mut tables.tasks);
            removed
        };
        self.watches.changed(id);
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskStore for MemoryTaskStore {
    async fn create(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        Ok(self.add(record))
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        Ok(self.get(id))
    }

    async fn replace(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        Ok(self.exchange(record))
    }

    async fn remove(&self, id: &str) -> Result<(), TaskStoreError> {
        self.forget(id);
        Ok(())
    }

    async fn list(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let records: Vec<_> = {
            let tables = &*self.tables.lock();
            let from = (
                Arc::<str>::from(owner),
                Arc::<str>::from(after.unwrap_or("")),
            );
            let ids = tables.owned.range(from..);
            let ids = ids
                .take_while(|(of, _)| **of == *owner)
                .filter(|(_, id)| after != Some(&**id));
            let records = ids.filter_map(|(_, id)| tables.tasks.get(id));
            records.take(limit).cloned().collect()
        };
        // Copies of large records do not delay other tasks.
        Ok(records.iter().map(|record| (**record).clone()).collect())
    }

    async fn orphaned(&self, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let now = (self.now)();
        let records: Vec<_> = {
            let Tables { tasks, leases, .. } = &*self.tables.lock();
            if !leases.has_ended_leases(now) {
                return Ok(Vec::new());
            }
            let orphaned = tasks.values().filter(|record| {
                !record.status().is_terminal() && leases.of(record.boot(), now).is_none()
            });
            orphaned.take(limit).cloned().collect()
        };
        Ok(records.iter().map(|record| (**record).clone()).collect())
    }

    async fn expired(&self, now: u64, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let records: Vec<_> = {
            let tables = &*self.tables.lock();
            let ids = tables.expiring.iter().take_while(|(at, _)| *at <= now);
            let records = ids.filter_map(|(_, id)| tables.tasks.get(id));
            records.take(limit).cloned().collect()
        };
        Ok(records.iter().map(|record| (**record).clone()).collect())
    }

    async fn watch(&self, id: &str, version: u64) -> Result<(), TaskStoreError> {
        loop {
            // The watch begins before the record is read, so that no change is missed.
            let watch = self.watches.watch(id);
            let is_known = |known: &Arc<TaskRecord>| known.version() <= version;
            if !self.tables.lock().tasks.get(id).is_some_and(is_known) {
                return Ok(());
            }
            watch.changed().await;
        }
    }

    async fn renew(&self, boot: &str, last: u64, lease: Duration) -> Result<u64, TaskStoreError> {
        let now = (self.now)();
        let number = self.tables.lock().leases.renew(boot, last, now, lease);
        Ok(number)
    }

    async fn is_alive(&self, boot: &str) -> Result<bool, TaskStoreError> {
        let now = (self.now)();
        let number = self.tables.lock().leases.of(boot, now);
        Ok(number.is_some())
    }

    fn is_shared(&self) -> bool {
        false
    }
}

impl fmt::Debug for MemoryTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryTaskStore")
            .field("tasks", &self.len())
            .finish()
    }
}
