//! Errors of starting a server as a child process.

use core::fmt;
use std::io;

use super::connect::ConnectError;
use crate::io::process::ExitedEarly;

/// Reasons for which there is no conversation with a child process.
#[derive(Debug)]
#[non_exhaustive]
pub enum SpawnError {
    /// It could not be started.
    Start(io::Error),
    /// It ended, or closed its output, before it was known who it is.
    ExitedEarly(ExitedEarly),
    /// It printed a line that is no message, and within two seconds nothing from which it is known
    /// who it is. Standard output is for messages only (ST-04); the server was killed.
    Output(ExitedEarly),
    /// It said something that leads to no connection, or nothing in time; it was shut down.
    Connect(ConnectError),
}

impl fmt::Display for SpawnError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(_) => f.write_str("the server cannot be started"),
            Self::ExitedEarly(died) | Self::Output(died) => died.fmt(f),
            Self::Connect(error) => error.fmt(f),
        }
    }
}

impl core::error::Error for SpawnError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Start(error) => Some(error),
            Self::ExitedEarly(died) | Self::Output(died) => died.source(),
            Self::Connect(error) => error.source(),
        }
    }
}
