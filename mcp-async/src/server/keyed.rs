//! The key of an item.

/// What a list is sorted by, and found by.
pub(super) trait Keyed {
    fn key(&self) -> &str;
}
