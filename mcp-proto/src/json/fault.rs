//! Faults of JSON text.

use core::fmt;

/// A fault for which a text is not accepted as JSON, and its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The offset of the first byte that cannot be right, at most the length of the text.
    pub at: usize,
}

/// The kinds of faults of a JSON text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// A byte that the grammar of RFC 8259 does not allow here.
    Syntax,
    /// The text ends inside a value.
    Incomplete,
    /// Bytes that are no UTF-8.
    Utf8,
    /// Containers nest deeper than the caller allows.
    Depth,
    /// Something follows the value.
    Trailing,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.kind {
            FaultKind::Syntax => "unexpected byte",
            FaultKind::Incomplete => "unexpected end",
            FaultKind::Utf8 => "invalid UTF-8",
            FaultKind::Depth => "nested too deeply",
            FaultKind::Trailing => "unexpected text after the value",
        })?;
        write!(f, " at byte {}", self.at)
    }
}

impl core::error::Error for Fault {}
