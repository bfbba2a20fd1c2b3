//! The error of a type from which no schema of a tool is made.

use core::fmt;

/// Reasons for which a type makes no schema of a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TypeError {
    /// It is no object.
    NotObject,
    /// Its schema is nested too deeply to be sent.
    Deep,
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotObject => "arguments have names, and this type is no object",
            Self::Deep => "the schema of this type is nested too deeply",
        })
    }
}

impl core::error::Error for TypeError {}
