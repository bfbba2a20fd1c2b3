//! The form of a string.

/// The form of a string's bytes, by which they are read; of two forms the greater covers both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Form {
    /// Checked JSON without an escape: its own decoding.
    Plain,
    /// Checked JSON with escapes.
    Escaped,
    /// Checked JSON with half a surrogate pair.
    Lone,
    /// Text of ours, which may need escaping when it is written.
    Ours,
}
