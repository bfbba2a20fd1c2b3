//! Records of logins in a file.

use std::io;
use std::path::Path;
use std::sync::Arc;

use redb::{
    Database, Durability, Error, ReadableDatabase as _, ReadableTable as _, Table, TableDefinition,
};

use crate::connection::blocking;
use crate::crypto::unix_now;
use crate::http::StoreError;
use crate::private_file::open_database;
use crate::runtime::RuntimeHandle;

/// Records by their names: the version, the second in which it ends, and the record.
const RECORDS: TableDefinition<'_, &str, (u32, u64, &[u8])> = TableDefinition::new("logins");
/// Names by the end of their records.
const ENDING: TableDefinition<'_, (u64, &str), ()> = TableDefinition::new("ending");

/// A file that belongs to one process at a time. What is written is on the disk when the future resolves.
pub(super) struct LoginFile {
    database: Arc<Database>,
    runtime: RuntimeHandle,
}

impl LoginFile {
    /// Opens the file, or creates it for its owner alone.
    pub(super) fn open(path: &Path, runtime: &RuntimeHandle) -> io::Result<Self> {
        let database = open(path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        Ok(Self {
            database: Arc::new(database),
            runtime: runtime.clone(),
        })
    }

    /// Reads a record, in this thread.
    pub(super) fn load(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let load = || -> Result<Option<Vec<u8>>, Error> {
            let reading = self.database.begin_read()?;
            let stored = reading.open_table(RECORDS)?.get(key)?;
            let stored = stored.map(|stored| Stored::from(stored.value()));
            Ok(stored.filter(Stored::is_kept).map(|stored| stored.record))
        };
        load().map_err(StoreError::new)
    }

    /// Begins the next version of a record. After a crash it may be the one before: no process has it then.
    pub(super) async fn take(&self, key: &str) -> Result<Option<(u32, Vec<u8>)>, StoreError> {
        let key = key.to_owned();
        let take = move |tables: &mut Tables<'_>| {
            let Some(mut stored) = tables.get(&key)? else {
                return Ok(None);
            };
            stored.version = stored.version.wrapping_add(1);
            tables.put(&key, &stored)?;
            Ok(Some((stored.version, stored.record)))
        };
        self.change(Durability::None, take).await
    }

    pub(super) async fn create(
        &self,
        key: &str,
        record: &[u8],
        keep: u64,
    ) -> Result<(), StoreError> {
        let (key, stored) = (key.to_owned(), Stored::new(0, record, keep));
        let create = move |tables: &mut Tables<'_>| {
            tables.remove_ended()?;
            tables.put(&key, &stored)
        };
        self.change(Durability::Immediate, create).await
    }

    /// Replaces the record of this version; false if the record has another version or is gone.
    pub(super) async fn save(
        &self,
        key: &str,
        version: u32,
        record: &[u8],
        keep: u64,
    ) -> Result<bool, StoreError> {
        let (key, stored) = (key.to_owned(), Stored::new(version, record, keep));
        let save = move |tables: &mut Tables<'_>| {
            let is_current = tables.get(&key)?.is_some_and(|it| it.version == version);
            if is_current {
                tables.put(&key, &stored)?;
            }
            Ok(is_current)
        };
        self.change(Durability::Immediate, save).await
    }

    /// Removes the record of this version; false if the record has another version or is gone.
    pub(super) async fn remove(&self, key: &str, version: u32) -> Result<bool, StoreError> {
        let key = key.to_owned();
        let remove = move |tables: &mut Tables<'_>| {
            let is_current = tables.get(&key)?.is_some_and(|it| it.version == version);
            if is_current {
                tables.remove(&key)?;
            }
            Ok(is_current)
        };
        self.change(Durability::Immediate, remove).await
    }

    /// Changes the tables in one transaction, on a thread that may block.
    async fn change<T: Send + 'static>(
        &self,
        durability: Durability,
        change: impl FnOnce(&mut Tables<'_>) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, StoreError> {
        let database = Arc::clone(&self.database);
        let changed = blocking(self.runtime.clone(), move || -> Result<T, Error> {
            let mut writing = database.begin_write()?;
            writing.set_durability(durability)?;
            let made = change(&mut Tables {
                records: writing.open_table(RECORDS)?,
                ending: writing.open_table(ENDING)?,
            })?;
            writing.commit()?;
            Ok(made)
        });
        changed.await.map_err(StoreError::new)
    }
}

fn open(path: &Path) -> io::Result<Database> {
    let database = open_database(path, CACHE)?;
    let create = || -> Result<(), Error> {
        let writing = database.begin_write()?;
        writing.open_table(RECORDS)?;
        writing.open_table(ENDING)?;
        Ok(writing.commit()?)
    };
    create().map_err(io::Error::other)?;
    Ok(database)
}

/// A record, with its version and the second in which it ends.
struct Stored {
    version: u32,
    end: u64,
    record: Vec<u8>,
}

impl Stored {
    fn new(version: u32, record: &[u8], keep: u64) -> Self {
        Self {
            version,
            end: unix_now().as_secs().saturating_add(keep),
            record: record.to_vec(),
        }
    }

    fn is_kept(&self) -> bool {
        self.end > unix_now().as_secs()
    }
}

impl From<(u32, u64, &[u8])> for Stored {
    fn from((version, end, record): (u32, u64, &[u8])) -> Self {
        Self {
            version,
            end,
            record: record.to_vec(),
        }
    }
}

/// The tables in a transaction.
struct Tables<'w> {
    records: Table<'w, &'static str, (u32, u64, &'static [u8])>,
    ending: Table<'w, (u64, &'static str), ()>,
}

impl Tables<'_> {
    fn get(&self, key: &str) -> Result<Option<Stored>, Error> {
        let stored = self.records.get(key)?;
        let stored = stored.map(|stored| Stored::from(stored.value()));
        Ok(stored.filter(Stored::is_kept))
    }

    fn put(&mut self, key: &str, stored: &Stored) -> Result<(), Error> {
        self.remove(key)?;
        let value = (stored.version, stored.end, &*stored.record);
        self.records.insert(key, value)?;
        self.ending.insert((stored.end, key), ())?;
        Ok(())
    }

    fn remove(&mut self, key: &str) -> Result<(), Error> {
        let end = self.records.remove(key)?.map(|stored| stored.value().1);
        if let Some(end) = end {
            self.ending.remove((end, key))?;
        }
        Ok(())
    }

    /// Removes some records whose time is over, more than one for each that is created.
    fn remove_ended(&mut self) -> Result<(), Error> {
        let over = ..(unix_now().as_secs(), "");
        let ended = self.ending.range(over)?.take(REMOVED_AT_ONCE);
        let ended = ended.map(|ended| Ok(ended?.0.value().1.to_owned()));
        let ended: Result<Vec<String>, Error> = ended.collect();
        ended?.iter().try_for_each(|key| self.remove(key))
    }
}

const REMOVED_AT_ONCE: usize = 16;

/// The bytes of the cache of the database.
const CACHE: usize = 4 << 20;
