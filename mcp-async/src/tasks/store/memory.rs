//! A store of tasks in the memory of this process.

use core::fmt;
use core::future::{Future, ready};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use mcp_proto::Instant;

use super::{TaskRecord, TaskStore, TaskStoreError, TaskStoreFuture};
use crate::leases::Leases;
use crate::lock::lock;
use crate::runtime::monotonic;
use crate::shrink::shrink;

/// Keeps tasks in memory, until they expire or the process ends. Clones share the tasks.
#[derive(Clone)]
pub struct MemoryTaskStore {
    tables: Arc<Mutex<Tables>>,
    now: Arc<dyn Fn() -> Instant + Send + Sync>,
}

#[derive(Default)]
struct Tables {
    tasks: HashMap<Arc<str>, Entry>,
    /// Ids by the time when they expire.
    expiring: BTreeSet<(u64, Arc<str>)>,
    /// Ids by their owners.
    owned: BTreeSet<(String, Arc<str>)>,
    leases: Leases,
    /// The number of the newest watch.
    watches: u64,
}

struct Entry {
    record: Arc<TaskRecord>,
    /// The wakers of watches, by the numbers of these.
    watching: HashMap<u64, Waker>,
}

/// Waits for a later version of a record. Dropping it removes its waker.
struct Watch<'a> {
    store: &'a MemoryTaskStore,
    id: &'a str,
    version: u64,
    /// The number of the watch, once it has a waker.
    number: Option<u64>,
}

impl Future for Watch<'_> {
    type Output = Result<(), TaskStoreError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let replaced = {
            let tables = &mut *self.store.lock();
            match tables.tasks.get_mut(self.id) {
                Some(entry) if entry.record.version() <= self.version => {
                    let number = *self.number.get_or_insert_with(|| {
                        tables.watches = tables.watches.wrapping_add(1);
                        tables.watches
                    });
                    match entry.watching.get(&number) {
                        Some(waker) if waker.will_wake(cx.waker()) => None,
                        _ => entry.watching.insert(number, cx.waker().clone()),
                    }
                }
                _ => return Poll::Ready(Ok(())),
            }
        };
        drop(replaced);
        Poll::Pending
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        let waker = {
            let tables = &mut *self.store.lock();
            let entry = tables.tasks.get_mut(self.id);
            entry.and_then(|entry| entry.watching.remove(&number))
        };
        drop(waker);
    }
}

impl MemoryTaskStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self {
            tables: Arc::default(),
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
        self.lock().tasks.len()
    }

    /// Returns whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        lock(&self.tables)
    }
}

impl Default for MemoryTaskStore {
    fn default() -> Self {
        Self::new()
    }
}

impl TaskStore for MemoryTaskStore {
    fn create<'a>(&'a self, record: &'a TaskRecord) -> TaskStoreFuture<'a, bool> {
        Box::pin(async move {
            let tables = &mut *self.lock();
            if tables.tasks.contains_key(record.id()) {
                return Ok(false);
            }
            let id: Arc<str> = record.id().into();
            if let Some(at) = record.expires_at() {
                tables.expiring.insert((at, Arc::clone(&id)));
            }
            if let Some(owner) = record.owner() {
                tables.owned.insert((owner.to_owned(), Arc::clone(&id)));
            }
            let entry = Entry {
                record: Arc::new(record.clone()),
                watching: HashMap::new(),
            };
            tables.tasks.insert(id, entry);
            Ok(true)
        })
    }

    fn load<'a>(&'a self, id: &'a str) -> TaskStoreFuture<'a, Option<TaskRecord>> {
        Box::pin(async move {
            let record = self.lock().tasks.get(id).map(|entry| entry.record.clone());
            Ok(record.map(|record| TaskRecord::clone(&record)))
        })
    }

    fn replace<'a>(&'a self, record: &'a TaskRecord) -> TaskStoreFuture<'a, bool> {
        Box::pin(async move {
            let new = Arc::new(record.clone());
            let (old, watching) = {
                let tables = &mut *self.lock();
                let Some(entry) = tables.tasks.get_mut(record.id()) else {
                    return Ok(false);
                };
                if entry.record.version().checked_add(1) != Some(record.version()) {
                    return Ok(false);
                }
                let watching = core::mem::take(&mut entry.watching);
                (core::mem::replace(&mut entry.record, new), watching)
            };
            drop(old);
            watching.into_values().for_each(Waker::wake);
            Ok(true)
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> TaskStoreFuture<'a, ()> {
        Box::pin(async move {
            let removed = {
                let tables = &mut *self.lock();
                let removed = tables.tasks.remove_entry(id);
                if let Some((id, entry)) = &removed {
                    if let Some(at) = entry.record.expires_at() {
                        tables.expiring.remove(&(at, Arc::clone(id)));
                    }
                    if let Some(owner) = entry.record.owner() {
                        tables.owned.remove(&(owner.to_owned(), Arc::clone(id)));
                    }
                }
                shrink(&mut tables.tasks);
                removed
            };
            if let Some((_, entry)) = removed {
                entry.watching.into_values().for_each(Waker::wake);
            }
            Ok(())
        })
    }

    fn list<'a>(
        &'a self,
        owner: &'a str,
        after: Option<&'a str>,
        limit: usize,
    ) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let records: Vec<_> = {
                let tables = &*self.lock();
                let from = (owner.to_owned(), Arc::<str>::from(after.unwrap_or("")));
                let ids = tables.owned.range(from..);
                let ids = ids
                    .take_while(|(of, _)| of == owner)
                    .filter(|(_, id)| after != Some(&**id));
                let records = ids.filter_map(|(_, id)| tables.tasks.get(id));
                let records = records.map(|entry| Arc::clone(&entry.record));
                records.take(limit).collect()
            };
            // Copies of large records do not delay other tasks.
            Ok(records.iter().map(|record| (**record).clone()).collect())
        })
    }

    fn orphaned(&self, limit: usize) -> TaskStoreFuture<'_, Vec<TaskRecord>> {
        Box::pin(async move {
            let now = (self.now)();
            let records: Vec<_> = {
                let Tables { tasks, leases, .. } = &*self.lock();
                if !leases.has_ended_leases(now) {
                    return Ok(Vec::new());
                }
                let records = tasks.values().map(|entry| &entry.record);
                let orphaned = records.filter(|record| {
                    !record.status().is_terminal() && leases.of(record.boot(), now).is_none()
                });
                orphaned.take(limit).cloned().collect()
            };
            Ok(records.iter().map(|record| (**record).clone()).collect())
        })
    }

    fn expired<'a>(&'a self, now: u64, limit: usize) -> TaskStoreFuture<'a, Vec<TaskRecord>> {
        Box::pin(async move {
            let records: Vec<_> = {
                let tables = &*self.lock();
                let ids = tables.expiring.iter().take_while(|(at, _)| *at <= now);
                let records = ids.filter_map(|(_, id)| tables.tasks.get(id));
                let records = records.map(|entry| Arc::clone(&entry.record));
                records.take(limit).collect()
            };
            Ok(records.iter().map(|record| (**record).clone()).collect())
        })
    }

    fn watch<'a>(&'a self, id: &'a str, version: u64) -> TaskStoreFuture<'a, ()> {
        Box::pin(Watch {
            store: self,
            id,
            version,
            number: None,
        })
    }

    fn renew<'a>(&'a self, boot: &'a str, last: u64, lease: Duration) -> TaskStoreFuture<'a, u64> {
        let now = (self.now)();
        let number = self.lock().leases.renew(boot, last, now, lease);
        Box::pin(ready(Ok(number)))
    }

    fn is_alive<'a>(&'a self, boot: &'a str) -> TaskStoreFuture<'a, bool> {
        let now = (self.now)();
        let number = self.lock().leases.of(boot, now);
        Box::pin(ready(Ok(number.is_some())))
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
