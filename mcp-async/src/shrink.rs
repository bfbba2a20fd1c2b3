//! Tables that release unused storage.

use core::hash::{BuildHasher, Hash};
use std::collections::HashMap;

/// Gives back storage that entries no longer need: all of it when the table is empty, and half of
/// it or more when less than an eighth is in use. So a removal costs constant time on average.
pub(crate) fn shrink<K: Eq + Hash, V>(table: &mut HashMap<K, V, impl BuildHasher>) {
    if table.is_empty() || table.len() < table.capacity() / 8 {
        table.shrink_to(2 * table.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_follows_the_entries() {
        let mut table: HashMap<u32, u32> = (0..10_000).map(|key| (key, key)).collect();
        for key in 0..10_000 {
            table.remove(&key);
            shrink(&mut table);
            assert!(table.capacity() <= 8 * table.len() + 16, "{}", table.len());
        }
        assert_eq!(table.capacity(), 0);
    }
}
