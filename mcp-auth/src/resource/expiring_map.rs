//! A bounded map whose entries expire.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::UnixTime;

/// Values by keys, each until a moment. When it is full, the entry that expires first makes room.
#[derive(Clone, Debug)]
pub(super) struct ExpiringMap<K, V> {
    values: BTreeMap<K, (UnixTime, V)>,
    by_expiry: BTreeSet<(UnixTime, K)>,
    capacity: usize,
    /// The latest end of an entry that was removed.
    removed_until: UnixTime,
}

impl<K: Copy + Ord, V> ExpiringMap<K, V> {
    pub(super) const fn new(capacity: usize) -> Self {
        Self::after(UnixTime::from_secs(0), capacity)
    }

    /// A map whose entries until this moment may have been removed before.
    pub(super) const fn after(removed_until: UnixTime, capacity: usize) -> Self {
        Self {
            values: BTreeMap::new(),
            by_expiry: BTreeSet::new(),
            capacity,
            removed_until,
        }
    }

    /// Forgets the ends of removed entries that are later than this.
    pub(super) fn limit_removed(&mut self, latest: UnixTime) {
        self.removed_until = self.removed_until.min(latest);
    }

    /// Returns a value that is kept for at most `seconds`, and the moment until which it is kept, if that is not over. A value that
    /// would be kept for longer is of a clock that was set back since.
    pub(super) fn get(&self, key: &K, seconds: u64, now: UnixTime) -> Option<(UnixTime, &V)> {
        let (until, value) = self.values.get(key)?;
        let is_kept = now < *until && *until <= now.saturating_add(seconds);
        is_kept.then_some((*until, value))
    }

    /// Adds a value in the place of the one that the key has.
    pub(super) fn renew(&mut self, key: K, value: V, until: UnixTime, now: UnixTime) {
        if let Some((until, _)) = self.values.remove(&key) {
            self.by_expiry.remove(&(until, key));
        }
        self.insert(key, value, until, now);
    }

    /// Returns true if an entry that expires at `until` may have been removed: to make room, or by a clock that was ahead.
    pub(super) fn may_have_removed(&self, until: UnixTime) -> bool {
        until <= self.removed_until
    }

    /// Adds a value; false, and nothing changes, if the key has one that has not expired.
    pub(super) fn insert(&mut self, key: K, value: V, until: UnixTime, now: UnixTime) -> bool {
        self.remove_expired(now);
        if self.values.contains_key(&key) {
            return false;
        }
        if self.values.len() >= self.capacity.max(1) {
            self.evict();
        }
        self.values.insert(key, (until, value));
        self.by_expiry.insert((until, key));
        true
    }

    /// Removes the entry that expires first.
    pub(super) fn evict(&mut self) {
        if let Some((until, first)) = self.by_expiry.pop_first() {
            self.values.remove(&first);
            self.removed_until = self.removed_until.max(until);
        }
    }

    /// Removes all entries, as if none had been there.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// The moment from which nothing is lost with the map.
    pub(super) fn end(&self) -> UnixTime {
        let last = self.by_expiry.last().map(|(until, _)| *until);
        last.map_or(self.removed_until, |last| last.max(self.removed_until))
    }

    fn remove_expired(&mut self, now: UnixTime) {
        let is_expired = |(until, _): &(UnixTime, K)| *until <= now;
        while self.by_expiry.first().is_some_and(is_expired) {
            self.evict();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_expire_and_make_room() {
        let at = UnixTime::from_secs;
        let mut map = ExpiringMap::new(2);
        assert!(map.insert([1; 32], 'a', at(10), at(0)));
        assert!(!map.insert([1; 32], 'b', at(20), at(9)));
        let get =
            |map: &ExpiringMap<_, _>, key, now| map.get(&[key; 32], 20, at(now)).map(|it| *it.1);
        assert_eq!(get(&map, 1, 9), Some('a'));
        assert_eq!(get(&map, 1, 10), None);
        assert!(map.insert([1; 32], 'c', at(20), at(10)));
        assert!(map.insert([2; 32], 'd', at(15), at(10)));
        assert!(map.insert([3; 32], 'e', at(30), at(10)));
        assert_eq!(get(&map, 2, 10), None);
        assert_eq!(get(&map, 1, 10), Some('c'));
        assert!(map.may_have_removed(at(15)) && !map.may_have_removed(at(16)));
        assert_eq!((map.values.len(), map.by_expiry.len()), (2, 2));
        map.renew([3; 32], 'f', at(50), at(10));
        assert_eq!(map.get(&[3; 32], 20, at(40)), Some((at(50), &'f')));
        assert_eq!(get(&map, 3, 50), None);
        // The clock was set back.
        assert_eq!(get(&map, 3, 29), None);
        assert_eq!(get(&map, 3, 30), Some('f'));
        assert_eq!((map.values.len(), map.by_expiry.len()), (2, 2));
    }
}
