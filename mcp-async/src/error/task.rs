//! Errors of tasks.

use core::fmt;

/// Reasons for which a task has no result. The error of a task that failed is the server's
/// ([`CallError::Server`](super::CallError::Server)).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskError {
    /// It was cancelled; with the server's message, if it sent one.
    Cancelled(Option<String>),
    /// Its time to live is over.
    Expired,
    /// The server's answer about the task contradicts itself or the protocol; the text explains the
    /// contradiction.
    Invalid(&'static str),
}

impl fmt::Display for TaskError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cancelled(None) => f.write_str("the task was cancelled"),
            Self::Cancelled(Some(message)) => write!(f, "the task was cancelled: {message}"),
            Self::Expired => f.write_str("the task is lost: its time to live is over"),
            Self::Invalid(why) => write!(f, "the server's answer about the task is invalid: {why}"),
        }
    }
}

impl core::error::Error for TaskError {}
