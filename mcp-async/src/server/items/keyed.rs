//! The key of an item, and who sees it.

use super::visibility::Visibility;

/// An item with the key by which its list is sorted and searched.
pub(in crate::server) trait Keyed {
    fn key(&self) -> &str;

    fn visibility(&self) -> &Visibility;
}
