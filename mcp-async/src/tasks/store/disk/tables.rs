//! The tables of the file, and changes of them.

use redb::{Database, Error, ReadableTable as _, TableDefinition, WriteTransaction};

use super::super::{TaskRecord, TaskStoreError};
use super::change::Change;

/// Records by their ids.
pub(super) const TASKS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("tasks");
/// Ids by the time when they expire.
pub(super) const EXPIRING: TableDefinition<'_, (u64, &str), ()> = TableDefinition::new("expiring");
/// Ids by their owners.
pub(super) const OWNED: TableDefinition<'_, (&str, &str), ()> = TableDefinition::new("owned");
/// The boots of unfinished tasks, by the ids of these.
pub(super) const OPEN: TableDefinition<'_, &str, &str> = TableDefinition::new("open");

/// Creates the tables that do not exist.
pub(super) fn create(database: &Database) -> Result<(), TaskStoreError> {
    let create = || -> Result<(), Error> {
        let writing = database.begin_write()?;
        writing.open_table(TASKS)?;
        writing.open_table(EXPIRING)?;
        writing.open_table(OWNED)?;
        writing.open_table(OPEN)?;
        Ok(writing.commit()?)
    };
    create().map_err(TaskStoreError::new)
}

/// Makes a change, unless its condition does not hold. Returns whether it was made.
pub(super) fn apply(writing: &WriteTransaction, change: &Change) -> Result<bool, Error> {
    let mut tasks = writing.open_table(TASKS)?;
    // A record that cannot be read can only be removed.
    let known = tasks.get(change.id())?;
    let known = known.map(|bytes| TaskRecord::from_bytes(bytes.value()).ok());
    match (change, known) {
        (Change::Create(record), None) => {
            tasks.insert(record.id(), &*bytes(record)?)?;
            if let Some(at) = record.expires_at() {
                writing
                    .open_table(EXPIRING)?
                    .insert((at, record.id()), ())?;
            }
            if let Some(owner) = record.owner() {
                writing
                    .open_table(OWNED)?
                    .insert((owner, record.id()), ())?;
            }
            note_open(writing, record)?;
            Ok(true)
        }
        (Change::Replace(record), Some(Some(known)))
            if known.version().checked_add(1) == Some(record.version()) =>
        {
            tasks.insert(record.id(), &*bytes(record)?)?;
            note_open(writing, record)?;
            Ok(true)
        }
        (Change::Remove(id), Some(known)) => {
            tasks.remove(&**id)?;
            writing.open_table(OPEN)?.remove(&**id)?;
            if let Some(known) = known {
                if let Some(at) = known.expires_at() {
                    writing.open_table(EXPIRING)?.remove((at, &**id))?;
                }
                if let Some(owner) = known.owner() {
                    writing.open_table(OWNED)?.remove((owner, &**id))?;
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn note_open(writing: &WriteTransaction, record: &TaskRecord) -> Result<(), Error> {
    let mut open = writing.open_table(OPEN)?;
    match record.status().is_terminal() {
        true => open.remove(record.id())?,
        false => open.insert(record.id(), record.boot())?,
    };
    Ok(())
}

fn bytes(record: &TaskRecord) -> Result<Vec<u8>, Error> {
    let bytes = record.to_bytes();
    bytes.map_err(|error| Error::Io(std::io::Error::other(error)))
}
