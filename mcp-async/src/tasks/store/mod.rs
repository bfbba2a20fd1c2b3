//! Stores of tasks.

mod check;
#[cfg(feature = "disk")]
mod disk;
mod dyn_store;
mod memory;
mod record;
mod watches;

use core::error::Error;
use core::fmt;
use core::future::Future;
use core::time::Duration;

pub use self::check::{CheckError, check};
#[cfg(feature = "disk")]
pub use self::disk::DiskTaskStore;
pub use self::memory::MemoryTaskStore;
pub use self::record::{RecordError, TaskRecord};

pub(super) use self::dyn_store::{Answer, DynTaskStore};
pub(super) use self::record::{TaskFailure, TaskQuestion};

/// Keeps the tasks of a server, so that every process of it can show and change them.
///
/// Without one, tasks live in a [`MemoryTaskStore`]. A store that several processes share, or that
/// outlives a process, implements this trait; [`check`] tests it.
///
/// Each change of a task is one call of [`replace`](Self::replace), which compares the version: of
/// two writers one fails, reads the record again and decides anew. A record whose status is terminal
/// is never replaced by the server.
///
/// The process that works on a task [watches](Self::watch) its record, because answers and
/// cancellations may arrive at another process.
///
/// # Leases
/// A process has a random name, which is the boot of its tasks, and [renews](Self::renew) its lease several times in the
/// time of the lease. A renewal that finds no lease of the process, or one that is over, begins a new lease with a
/// greater number. Leases end by the clock of the store. A process judges its own lease by its own clock, from when it
/// sent the renewal: with another number its tasks of before may have failed. A task whose boot is not
/// [alive](Self::is_alive) has lost its process, and is marked as failed by the next process that looks at it.
///
/// # Errors
/// The server waits for a store for a limited time only, and then treats the call as failed; it may
/// have taken effect nevertheless.
///
/// # Example
/// The methods are written with `async fn`:
///
/// ```
/// # use core::time::Duration;
/// use mcp_async::tasks::store::{TaskRecord, TaskStore, TaskStoreError};
///
/// /// A table of a database.
/// struct Table(Database);
///
/// impl TaskStore for Table {
///     async fn load(&self, id: &str) -> Result<Option<TaskRecord>, TaskStoreError> {
///         let row = self.0.row(id).await.map_err(TaskStoreError::new)?;
///         Ok(row.map(|row| TaskRecord::from_bytes(&row)).transpose()?)
///     }
///
///     async fn remove(&self, id: &str) -> Result<(), TaskStoreError> {
///         self.0.delete(id).await.map_err(TaskStoreError::new)
///     }
///
///     // and the other methods.
/// #   async fn create(&self, _: &TaskRecord) -> Result<bool, TaskStoreError> { Ok(true) }
/// #   async fn replace(&self, _: &TaskRecord) -> Result<bool, TaskStoreError> { Ok(true) }
/// #   async fn list(&self, _: &str, _: Option<&str>, _: usize) -> Result<Vec<TaskRecord>, TaskStoreError> { Ok(vec![]) }
/// #   async fn expired(&self, _: u64, _: usize) -> Result<Vec<TaskRecord>, TaskStoreError> { Ok(vec![]) }
/// #   async fn orphaned(&self, _: usize) -> Result<Vec<TaskRecord>, TaskStoreError> { Ok(vec![]) }
/// #   async fn watch(&self, _: &str, _: u64) -> Result<(), TaskStoreError> { Ok(()) }
/// #   async fn renew(&self, _: &str, last: u64, _: Duration) -> Result<u64, TaskStoreError> { Ok(last) }
/// #   async fn is_alive(&self, _: &str) -> Result<bool, TaskStoreError> { Ok(true) }
/// }
/// # struct Database;
/// # impl Database {
/// #   async fn row(&self, _: &str) -> std::io::Result<Option<Vec<u8>>> { Ok(None) }
/// #   async fn delete(&self, _: &str) -> std::io::Result<()> { Ok(()) }
/// # }
/// # let _ = mcp_async::tasks::server::Tasks::new().store(Table(Database));
/// ```
pub trait TaskStore: Send + Sync {
    /// Keeps a new record. Returns `false`, and changes nothing, if its id is known. Once this has
    /// returned, every process finds the record.
    fn create(
        &self,
        record: &TaskRecord,
    ) -> impl Future<Output = Result<bool, TaskStoreError>> + Send;

    /// Returns the record of this id.
    fn load(
        &self,
        id: &str,
    ) -> impl Future<Output = Result<Option<TaskRecord>, TaskStoreError>> + Send;

    /// Replaces the record of this id, if its version is the one before the version of `record`. The
    /// comparison and the write are one atomic step. Returns `false`, and changes nothing, if it has
    /// another version or does not exist.
    fn replace(
        &self,
        record: &TaskRecord,
    ) -> impl Future<Output = Result<bool, TaskStoreError>> + Send;

    /// Forgets the record of this id. It is no error if there is none.
    fn remove(&self, id: &str) -> impl Future<Output = Result<(), TaskStoreError>> + Send;

    /// Returns up to `limit` records of an owner, in the order of their ids, after the id `after`.
    fn list(
        &self,
        owner: &str,
        after: Option<&str>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<TaskRecord>, TaskStoreError>> + Send;

    /// Returns up to `limit` records whose [`expires_at`](TaskRecord::expires_at) is at or before
    /// `now`.
    fn expired(
        &self,
        now: u64,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<TaskRecord>, TaskStoreError>> + Send;

    /// Returns up to `limit` records that are not terminal and whose boot is not
    /// [alive](Self::is_alive).
    fn orphaned(
        &self,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<TaskRecord>, TaskStoreError>> + Send;

    /// Resolves when the record of this id has a later version than `version`, or does not exist.
    /// It may resolve late or without a reason. Dropping the future ends the watch.
    fn watch(
        &self,
        id: &str,
        version: u64,
    ) -> impl Future<Output = Result<(), TaskStoreError>> + Send;

    /// Renews the lease of the process with this boot for `lease` from now. `last` is the number of the lease that the
    /// process had, 0 if it had none.
    ///
    /// Returns the number of the lease: `last` if that lease is not over, otherwise one that is greater than `last` and
    /// all earlier ones of the process.
    fn renew(
        &self,
        boot: &str,
        last: u64,
        lease: Duration,
    ) -> impl Future<Output = Result<u64, TaskStoreError>> + Send;

    /// Returns whether the process with this boot has a lease that is not over.
    fn is_alive(&self, boot: &str) -> impl Future<Output = Result<bool, TaskStoreError>> + Send;

    /// Returns whether watches resolve soon after each change, also of another process. The server
    /// looks at a watched record twice a second otherwise.
    fn watches_are_prompt(&self) -> bool {
        !self.is_shared()
    }

    /// Returns whether records come from more than this process, so that the server looks for
    /// [expired](Self::expired) and [orphaned](Self::orphaned) ones although it has no task.
    fn is_shared(&self) -> bool {
        true
    }
}

/// The error of a store of tasks that did not do what it was asked. The text is for the operator:
/// no client sees it.
#[derive(Debug)]
pub struct TaskStoreError(Box<dyn Error + Send + Sync>);

impl TaskStoreError {
    /// Creates an error with this cause.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(cause.into())
    }
}

impl fmt::Display for TaskStoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the store of tasks failed")
    }
}

impl Error for TaskStoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.0)
    }
}

impl From<RecordError> for TaskStoreError {
    fn from(error: RecordError) -> Self {
        Self::new(error)
    }
}
