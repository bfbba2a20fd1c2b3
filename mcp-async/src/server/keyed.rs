//! The key of an item.

/// An item with the key by which its list is sorted and searched.
pub(super) trait Keyed {
    fn key(&self) -> &str;
}
