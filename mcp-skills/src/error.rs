//! Errors of the skills of a server.

use core::convert::Infallible;
use core::error::Error;
use core::fmt;
use std::io;

use crate::frontmatter::FrontmatterError;

/// The reason for which a skill is not served.
#[derive(Debug)]
pub struct SkillError {
    place: String,
    reason: Reason,
}

#[derive(Debug)]
enum Reason {
    Text(String),
    Io(io::Error),
    Frontmatter(FrontmatterError),
}

impl SkillError {
    pub(crate) fn new(place: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            place: place.into(),
            reason: Reason::Text(reason.into()),
        }
    }

    pub(crate) fn io(place: impl Into<String>, error: io::Error) -> Self {
        Self {
            place: place.into(),
            reason: Reason::Io(error),
        }
    }

    pub(crate) fn frontmatter(place: impl Into<String>, error: FrontmatterError) -> Self {
        Self {
            place: place.into(),
            reason: Reason::Frontmatter(error),
        }
    }

    /// Returns the skill, folder or file that is refused.
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl From<Infallible> for SkillError {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

impl fmt::Display for SkillError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "skill `{}`: ", self.place)?;
        match &self.reason {
            Reason::Text(text) => f.write_str(text),
            Reason::Io(_) => f.write_str("the file or folder cannot be read"),
            Reason::Frontmatter(_) => f.write_str("its frontmatter is refused"),
        }
    }
}

impl Error for SkillError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.reason {
            Reason::Text(_) => None,
            Reason::Io(error) => Some(error),
            Reason::Frontmatter(error) => Some(error),
        }
    }
}
