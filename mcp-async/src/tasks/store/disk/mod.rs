//! A store of tasks in a file.

mod change;
mod tables;
mod writer;

use core::fmt;
use core::time::Duration;
use std::path::Path;
use std::sync::{Arc, MutexGuard};

use redb::{Database, ReadableDatabase as _, ReadableTable as _};

use self::change::Change;
use self::tables::{EXPIRING, OPEN, OWNED, TASKS};
use self::writer::Writer;
use super::watches::Watches;
use super::{TaskRecord, TaskStore, TaskStoreError};
use crate::leases::Leases;
use crate::private_file::open_database;
use crate::runtime::monotonic;
use crate::sync::Lock;

/// Keeps tasks in a file, over restarts of the program. Clones share the file.
///
/// The file belongs to one process at a time. Tasks that the process before has not finished are
/// reported as failed by the server that opens it; finished ones keep their results until they
/// expire.
///
/// A thread writes to the file. Changes that arrive while it writes are written together. A new
/// task and the end of a task are on the disk when their futures resolve; a status message may be
/// lost with a crash of the machine or the process. Reading happens in the calling thread, from the
/// cache of the database or of the system.
///
/// ```no_run
/// use mcp_async::tasks::store::DiskTaskStore;
///
/// let store = DiskTaskStore::open("/var/lib/reports/tasks")?;
/// # let _ = store;
/// # Ok::<(), mcp_async::tasks::store::TaskStoreError>(())
/// ```
#[derive(Clone)]
pub struct DiskTaskStore(Arc<Inner>);

struct Inner {
    database: Arc<Database>,
    writer: Writer,
    watches: Arc<Watches>,
    /// The leases of the boots of this process, which alone uses the file.
    leases: Lock<Leases>,
}

impl DiskTaskStore {
    /// Opens the file, or creates it with access for its owner only. On Unix, a symbolic link, a file of
    /// another user and one that other users can read or write are errors.
    ///
    /// # Errors
    /// The file cannot be opened or is in use, or it is no file of a store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TaskStoreError> {
        let database = open_database(path.as_ref(), CACHE).map_err(TaskStoreError::new)?;
        tables::create(&database)?;
        let database = Arc::new(database);
        let watches = Arc::<Watches>::default();
        Ok(Self(Arc::new(Inner {
            writer: Writer::start(Arc::clone(&database), {
                let watches = Arc::clone(&watches);
                move |id| watches.changed(id)
            })?,
            database,
            watches,
            leases: Lock::default(),
        })))
    }

    /// Reads the record of this id.
    fn read(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        let reading = self.0.database.begin_read().map_err(TaskStoreError::new)?;
        let tasks = reading.open_table(TASKS).map_err(TaskStoreError::new)?;
        let bytes = tasks.get(id).map_err(TaskStoreError::new)?;
        let record = bytes.map(|bytes| TaskRecord::from_bytes(bytes.value()));
        Ok(record.transpose()?)
    }

    /// Reads up to `limit` records, whose ids are found by the function. Records that cannot be read
    /// are left out: they may be those of a later version of the library.
    fn read_many(
        &self,
        limit: usize,
        ids: impl FnOnce(&redb::ReadTransaction, &mut Ids<'_>) -> Result<(), redb::Error>,
    ) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let reading = self.0.database.begin_read().map_err(TaskStoreError::new)?;
        let tasks = reading.open_table(TASKS).map_err(TaskStoreError::new)?;
        let mut records = Vec::new();
        let found = ids(&reading, &mut |id| {
            if records.len() == limit {
                return Ok(false);
            }
            let bytes = tasks.get(id)?;
            let record = bytes.map(|bytes| TaskRecord::from_bytes(bytes.value()));
            records.extend(record.and_then(Result::ok));
            Ok(true)
        });
        found.map_err(TaskStoreError::new)?;
        Ok(records)
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.0.leases.lock()
    }
}

/// Receives ids, and returns whether it wants more.
type Ids<'a> = dyn FnMut(&str) -> Result<bool, redb::Error> + 'a;

impl TaskStore for DiskTaskStore {
    async fn create(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        self.0.writer.change(Change::Create(record.clone())).await
    }

    async fn load(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
        self.read(id)
    }

    async fn replace(&self, record: &TaskRecord) -> Result<bool, TaskStoreError> {
        self.0.writer.change(Change::Replace(record.clone())).await
    }

    async fn remove(&self, id: &str) -> Result<(), TaskStoreError> {
        let removed = self.0.writer.change(Change::Remove(id.to_owned()));
        removed.await.map(drop)
    }

    async fn list(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.read_many(limit, |reading, each| {
            let owned = reading.open_table(OWNED)?;
            for entry in owned.range((owner, after.unwrap_or(""))..)? {
                let (key, _) = entry?;
                let (of, id) = key.value();
                if of != owner || (after != Some(id) && !each(id)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    async fn expired(&self, now: u64, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        self.read_many(limit, |reading, each| {
            let expiring = reading.open_table(EXPIRING)?;
            for entry in expiring.iter()? {
                let (key, _) = entry?;
                let (at, id) = key.value();
                if at > now || !each(id)? {
                    break;
                }
            }
            Ok(())
        })
    }

    async fn orphaned(&self, limit: usize) -> Result<Vec<TaskRecord>, TaskStoreError> {
        let (leases, now) = (self.leases().clone(), monotonic::now());
        let is_alive = |boot: &str| leases.of(boot, now).is_some();
        self.read_many(limit, |reading, each| {
            let open = reading.open_table(OPEN)?;
            for entry in open.iter()? {
                let (id, boot) = entry?;
                if !is_alive(boot.value()) && !each(id.value())? {
                    break;
                }
            }
            Ok(())
        })
    }

    async fn watch(&self, id: &str, version: u64) -> Result<(), TaskStoreError> {
        loop {
            // The watch begins before the record is read, so that no change is missed.
            let watch = self.0.watches.watch(id);
            let is_known = |known: TaskRecord| known.version() <= version;
            if !self.read(id)?.is_some_and(is_known) {
                return Ok(());
            }
            watch.changed().await;
        }
    }

    async fn renew(&self, boot: &str, last: u64, lease: Duration) -> Result<u64, TaskStoreError> {
        let number = self.leases().renew(boot, last, monotonic::now(), lease);
        Ok(number)
    }

    async fn is_alive(&self, boot: &str) -> Result<bool, TaskStoreError> {
        let number = self.leases().of(boot, monotonic::now());
        Ok(number.is_some())
    }

    fn watches_are_prompt(&self) -> bool {
        true
    }
}

impl fmt::Debug for DiskTaskStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DiskTaskStore").finish_non_exhaustive()
    }
}

/// Bytes of the file that are kept in memory.
const CACHE: usize = 8 << 20;
