//! The errors of a store.

use core::error::Error;
use core::fmt;

/// Reasons for which a store did not carry out a call.
#[derive(Debug)]
#[non_exhaustive]
pub enum StoreError {
    /// The session belongs to a later epoch or to another owner than the caller names: another process has
    /// taken it over.
    Conflict,
    /// The session has ended, or the store has forgotten it.
    Gone,
    /// The store failed, for this reason. Its text is for the operator: no client sees it.
    Failed(Box<dyn Error + Send + Sync>),
}

impl StoreError {
    /// A failure of whatever keeps the data.
    pub fn new(cause: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Failed(cause.into())
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Conflict => "another process has taken the session over",
            Self::Gone => "the session has ended",
            Self::Failed(_) => "the store failed",
        })
    }
}

impl Error for StoreError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Conflict | Self::Gone => None,
            Self::Failed(cause) => Some(&**cause),
        }
    }
}
