//! Errors of configuration files.

use core::error::Error;
use core::fmt;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A configuration file, or a part of one, that cannot be used.
///
/// Its text names the file, the member and the reason. It has no values of variables or inputs.
#[derive(Clone, Debug)]
pub struct ConfigError {
    file: Option<PathBuf>,
    place: String,
    reason: Cow<'static, str>,
}

impl ConfigError {
    pub(super) fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self {
            file: None,
            place: String::new(),
            reason: reason.into(),
        }
    }

    /// Returns the path of the member: `mcpServers.notes.args[0]`, say; empty if the whole file is meant.
    pub fn place(&self) -> &str {
        &self.place
    }

    /// Returns the reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub(super) fn in_file(self, file: &Path) -> Self {
        let file = Some(file.to_owned());
        Self { file, ..self }
    }

    /// Adds the place of the object that has the member, or of the member itself.
    pub(super) fn at(self, place: &str) -> Self {
        let between = if self.place.is_empty() { "" } else { "." };
        let place = format!("{place}{between}{}", self.place);
        Self { place, ..self }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{}: ", file.display())?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.reason)
    }
}

impl Error for ConfigError {}
