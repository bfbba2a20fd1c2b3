//! The proofs that were used, of all keys.

use alloc::collections::{BTreeMap, BTreeSet};
use core::cmp::Reverse;

use super::Digest;
use super::expiring_map::ExpiringMap;
use super::proof::ACCEPTED;
use crate::UnixTime;

/// Proofs by the keys that signed them. When there are too many, the key with the most proofs makes
/// room; of several, the one that was used least recently.
///
/// A proof that may have been removed is refused. That concerns only the key whose proofs were
/// removed, so that no client can use up the memory for the proofs of another.
#[derive(Debug)]
pub(super) struct UsedProofs {
    keys: BTreeMap<Digest, UsedByKey>,
    by_size: BTreeSet<(usize, Reverse<u64>, Digest)>,
    by_end: BTreeSet<(UnixTime, Digest)>,
    /// The sum of the sizes, at most `capacity`.
    count: usize,
    capacity: usize,
    uses: u64,
    /// The latest end of a key that was removed: to make room, or by a clock that was ahead.
    removed_until: UnixTime,
}

#[derive(Debug)]
struct UsedByKey {
    ids: ExpiringMap<Digest, ()>,
    used: u64,
}

impl UsedProofs {
    pub(super) const fn new(capacity: usize) -> Self {
        Self {
            keys: BTreeMap::new(),
            by_size: BTreeSet::new(),
            by_end: BTreeSet::new(),
            count: 0,
            capacity: if capacity == 0 { 1 } else { capacity },
            uses: 0,
            removed_until: UnixTime::from_secs(0),
        }
    }

    /// Adds a proof of a key until a moment; false if it was used, or may have been.
    pub(super) fn insert(
        &mut self,
        key: Digest,
        id: Digest,
        until: UnixTime,
        now: UnixTime,
    ) -> bool {
        self.remove_expired(now);
        // No proof that can be accepted now ends later, whatever a clock that was ahead has removed.
        let latest = now.saturating_add(ACCEPTED);
        self.removed_until = self.removed_until.min(latest);
        let mut of_key = match self.take(&key) {
            Some(mut of_key) => {
                of_key.ids.limit_removed(latest);
                of_key
            }
            None if until <= self.removed_until => return false,
            None => UsedByKey {
                ids: ExpiringMap::after(self.removed_until, self.capacity),
                used: 0,
            },
        };
        let is_new = !of_key.ids.may_have_removed(until) && of_key.ids.insert(id, (), until, now);
        self.uses += 1;
        of_key.used = self.uses;
        self.put(key, of_key);
        if self.count > self.capacity {
            self.make_room();
        }
        is_new
    }

    fn remove_expired(&mut self, now: UnixTime) {
        while let Some((end, key)) = self.by_end.first().copied()
            && end <= now
        {
            self.take(&key);
            self.removed_until = self.removed_until.max(end);
        }
    }

    fn make_room(&mut self) {
        let Some((size, _, key)) = self.by_size.last().copied() else {
            return;
        };
        let Some(mut largest) = self.take(&key) else {
            return;
        };
        match size {
            1 => self.removed_until = self.removed_until.max(largest.ids.end()),
            _ => {
                largest.ids.evict();
                self.put(key, largest);
            }
        }
    }

    fn take(&mut self, key: &Digest) -> Option<UsedByKey> {
        let of_key = self.keys.remove(key)?;
        let size = of_key.ids.len();
        self.by_size.remove(&(size, Reverse(of_key.used), *key));
        self.by_end.remove(&(of_key.ids.end(), *key));
        self.count -= size;
        Some(of_key)
    }

    fn put(&mut self, key: Digest, of_key: UsedByKey) {
        let size = of_key.ids.len();
        self.by_size.insert((size, Reverse(of_key.used), key));
        self.by_end.insert((of_key.ids.end(), key));
        self.count += size;
        self.keys.insert(key, of_key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_key_makes_room_and_expired_keys_are_removed() {
        let at = UnixTime::from_secs;
        let mut proofs = UsedProofs::new(3);
        let mut insert = |key: u8, id: u8, until, now| {
            let is_new = proofs.insert([key; 32], [id; 32], at(until), at(now));
            assert_eq!(
                proofs.count,
                proofs.by_size.iter().map(|it| it.0).sum::<usize>()
            );
            assert_eq!(proofs.keys.len(), proofs.by_end.len());
            (is_new, proofs.keys.len(), proofs.count)
        };
        for id in 1..=3 {
            assert!(insert(1, id, 30, 0).0);
        }
        assert_eq!(insert(2, 1, 10, 0), (true, 2, 3));
        assert_eq!(insert(2, 1, 10, 0), (false, 2, 3));
        // Of the first key, proofs of that time may have been removed; the second has lost none.
        assert_eq!(insert(1, 1, 30, 0), (false, 2, 3));
        assert_eq!(insert(2, 2, 9, 0), (true, 2, 3));
        assert_eq!(insert(3, 1, 20, 0), (true, 3, 3));
        // All have one: the one that was used first is removed.
        assert_eq!(insert(4, 1, 20, 0), (true, 3, 3));
        assert_eq!(insert(1, 5, 30, 0), (false, 3, 3));
        assert_eq!(insert(1, 5, 31, 20), (true, 1, 1));
    }
}
