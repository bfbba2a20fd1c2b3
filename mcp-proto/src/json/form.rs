//! The form of a string.

/// How the bytes of a string are to be read; of two forms the greater covers both.
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
