//! Changes of records.

use super::super::TaskRecord;

/// A change of one record.
pub(super) enum Change {
    /// Keeps a new record.
    Create(TaskRecord),
    /// Replaces the record of the version before.
    Replace(TaskRecord),
    /// Forgets the record of this id.
    Remove(String),
}

impl Change {
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Create(record) | Self::Replace(record) => record.id(),
            Self::Remove(id) => id,
        }
    }

    /// Returns true if a crash may undo the change.
    pub(super) const fn may_be_lost(&self) -> bool {
        match self {
            Self::Create(_) => false,
            Self::Replace(record) => !record.status().is_terminal(),
            Self::Remove(_) => true,
        }
    }
}
