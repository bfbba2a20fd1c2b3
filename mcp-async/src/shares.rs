//! Places that callers share.

use core::hash::{Hash, Hasher};
use core::net::IpAddr;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, MutexGuard};

use crate::shrink::shrink;
use crate::sync::Lock;

/// The sender of requests, whose share the places count for that they take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CallerId {
    Principal(Arc<str>),
    Address(IpAddr),
}

/// Hashes an address as one number: in one step, not byte by byte.
impl Hash for CallerId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Self::Principal(name) => name.hash(state),
            Self::Address(IpAddr::V4(address)) => state.write_u32(address.to_bits()),
            Self::Address(IpAddr::V6(address)) => state.write_u128(address.to_bits()),
        }
    }
}

/// A bounded number of places, of which one caller may hold at most as many as are still free.
///
/// Alone it gets half of them, and two get a third each: the more callers there are, the less each of them
/// may hold. If each takes all that it can after the one before, about as many callers take all places as
/// their number has binary digits. Places without a caller are bounded by the number alone.
pub(crate) struct Shares<K> {
    table: Lock<Table<K>>,
    places: usize,
    /// The most that one caller may hold in any case.
    each: usize,
}

struct Table<K> {
    taken: usize,
    held: HashMap<K, usize>,
}

impl<K: Clone + Eq + Hash> Shares<K> {
    pub(crate) fn new(places: usize) -> Arc<Self> {
        Self::of(places, usize::MAX)
    }

    /// Any number of places, of which each caller may hold so many.
    pub(crate) fn for_each(each: usize) -> Arc<Self> {
        Self::of(usize::MAX, each)
    }

    fn of(places: usize, each: usize) -> Arc<Self> {
        Arc::new(Self {
            table: Lock::new(Table {
                taken: 0,
                held: HashMap::new(),
            }),
            places,
            each,
        })
    }

    /// Takes a place; `None` if there is none for this caller.
    pub(crate) fn take(self: &Arc<Self>, caller: Option<K>) -> Option<Share<K>> {
        self.take_all(caller, 1)
    }

    /// Takes so many places; `None` if there are not as many for this caller.
    pub(crate) fn take_all(self: &Arc<Self>, caller: Option<K>, places: usize) -> Option<Share<K>> {
        let mut share = self.empty(caller);
        share.grow_by(places).then_some(share)
    }

    /// A share that has no place yet.
    pub(crate) fn empty(self: &Arc<Self>, caller: Option<K>) -> Share<K> {
        Share {
            shares: Arc::clone(self),
            caller,
            places: 0,
        }
    }

    /// Returns whether this caller would get a place if all are taken and one became free.
    pub(crate) fn would_take_freed(&self, caller: Option<&K>) -> bool {
        let table = self.table();
        let holds = caller.is_some_and(|caller| table.held.contains_key(caller));
        table.taken >= self.places && self.places > 0 && !holds
    }

    fn table(&self) -> MutexGuard<'_, Table<K>> {
        self.table.lock()
    }
}

impl<K: Clone + Eq + Hash> Table<K> {
    fn held(&self, caller: &K) -> usize {
        self.held.get(caller).copied().unwrap_or_default()
    }

    /// Adds places and returns true. Returns false without a change if the caller would then hold more than `most`, or if
    /// there is no caller and `places` exceeds `most`.
    fn add(&mut self, caller: Option<&K>, places: usize, most: usize) -> bool {
        let Some(caller) = caller else {
            if places > most {
                return false;
            }
            self.taken = self.taken.saturating_add(places);
            return true;
        };
        match self.held.entry(caller.clone()) {
            Entry::Occupied(held) if held.get().saturating_add(places) > most => return false,
            Entry::Vacant(_) if places > most => return false,
            held => {
                let held = held.or_default();
                *held = held.saturating_add(places);
            }
        }
        self.taken = self.taken.saturating_add(places);
        true
    }

    fn remove(&mut self, caller: Option<&K>, places: usize) {
        self.taken = self.taken.saturating_sub(places);
        if let Some(caller) = caller
            && let Entry::Occupied(mut held) = self.held.entry(caller.clone())
        {
            *held.get_mut() = held.get().saturating_sub(places);
            if *held.get() == 0 {
                held.remove();
                if self.held.capacity() > KEPT {
                    shrink(&mut self.held);
                }
            }
        }
    }
}

/// The capacity of a table that keeps its storage: one caller that comes and goes allocates nothing.
const KEPT: usize = 64;

/// Places of one caller, given back when it is dropped.
pub(crate) struct Share<K: Clone + Eq + Hash> {
    shares: Arc<Shares<K>>,
    caller: Option<K>,
    places: usize,
}

impl<K: Clone + Eq + Hash> Share<K> {
    /// Makes it this large, at least; false, and nothing changes, if its caller may not hold so many.
    pub(crate) fn grow_to(&mut self, places: usize) -> bool {
        let more = places.saturating_sub(self.places);
        if more == 0 {
            return true;
        }
        let Shares {
            places: all, each, ..
        } = *self.shares;
        let mut table = self.shares.table();
        let free = all.saturating_sub(table.taken);
        if !table.add(self.caller.as_ref(), more, free.min(each)) {
            return false;
        }
        drop(table);
        self.places = places;
        true
    }

    /// Makes it so much larger; false, and nothing changes, if its caller may not hold so many.
    pub(crate) fn grow_by(&mut self, places: usize) -> bool {
        let before = self.places;
        // One after the other, so that many at once are no more than its caller would get one by one.
        let has_grown = (0..places).all(|_| self.grow_to(self.places.saturating_add(1)));
        if !has_grown {
            self.set(before);
        }
        has_grown
    }

    /// Returns true if its caller holds no more than is free, or all no more than there is if they have no caller.
    pub(crate) fn fits(&self) -> bool {
        let Shares { places, each, .. } = *self.shares;
        let table = self.shares.table();
        match &self.caller {
            Some(caller) => table.held(caller) <= places.saturating_sub(table.taken).min(each),
            None => table.taken <= places,
        }
    }

    /// Makes it this large, whatever its caller may hold: for what exists already.
    pub(crate) fn set(&mut self, places: usize) {
        if places == self.places {
            return;
        }
        let mut table = self.shares.table();
        table.remove(self.caller.as_ref(), self.places);
        if places > 0 {
            table.add(self.caller.as_ref(), places, usize::MAX);
        }
        drop(table);
        self.places = places;
    }
}

impl<K: Clone + Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        if self.places > 0 {
            let caller = self.caller.as_ref();
            self.shares.table().remove(caller, self.places);
        }
    }
}

/// The bytes that answers and events may take together while they are not read, the beginning of each answer and of each
/// session not counted: a short answer takes no lock, and less than its connection takes.
pub(crate) struct UnreadBudget(Arc<Shares<CallerId>>);

impl UnreadBudget {
    pub(crate) fn new(bytes: usize) -> Self {
        Self(Shares::new(bytes))
    }

    /// For the answer to one request, or the streams of one session.
    pub(crate) fn part(&self, caller: Option<CallerId>) -> UnreadBytes {
        UnreadBytes(self.0.empty(caller))
    }
}

/// The part of an [`UnreadBudget`] that one answer or the streams of one session take, given back when it is
/// dropped.
pub(crate) struct UnreadBytes(Share<CallerId>);

impl UnreadBytes {
    /// Counts so many bytes at least; false, and nothing changes, if they are more than there is room for.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> bool {
        self.0.grow_to(bytes.saturating_sub(FREE))
    }

    /// Returns true if their caller has no more unread than is free.
    pub(crate) fn fits(&self) -> bool {
        self.0.fits()
    }

    /// Counts so many bytes, which exist already.
    pub(crate) fn set(&mut self, bytes: usize) {
        self.0.set(bytes.saturating_sub(FREE));
    }
}

/// The beginning of each answer, and of the streams of each session, that is not counted.
pub(crate) const FREE: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(shares: &Arc<Shares<char>>, caller: Option<char>) -> Vec<Share<char>> {
        core::iter::from_fn(|| shares.take(caller)).collect()
    }

    #[test]
    fn a_caller_holds_at_most_what_is_free() {
        let shares = Shares::new(12);
        let first = take_all(&shares, Some('a'));
        let second = take_all(&shares, Some('b'));
        let third = take_all(&shares, Some('c'));
        assert_eq!([&first, &second, &third].map(Vec::len), [6, 3, 2]);
        drop(first);
        assert_eq!(take_all(&shares, Some('d')).len(), 4);
        // Without a caller only the number counts.
        assert_eq!(take_all(&shares, None).len(), 7);
    }

    #[test]
    fn many_places_at_once_are_no_more_than_one_after_the_other() {
        let shares = Shares::new(12);
        assert!(shares.take_all(Some('a'), 7).is_none());
        assert_eq!(shares.table().taken, 0);
        let six = shares.take_all(Some('a'), 6);
        assert!(six.is_some() && shares.take_all(Some('b'), 4).is_none());
        let mut three = shares.take_all(Some('b'), 3).expect("they are free");
        assert!(!three.grow_by(3));
        assert_eq!((three.places, shares.table().taken), (3, 9));
    }

    #[test]
    fn the_only_place_is_for_anyone() {
        let shares = Shares::new(1);
        let place = shares.take(Some('a'));
        assert!(place.is_some() && shares.take(Some('b')).is_none());
        assert!(shares.would_take_freed(Some(&'b')) && !shares.would_take_freed(Some(&'a')));
        drop(place);
        assert!(shares.take(Some('b')).is_some());
    }

    #[test]
    fn a_share_grows_and_shrinks() {
        let shares = Shares::new(100);
        let mut share = shares.empty(Some('a'));
        assert!(share.grow_to(60) && !share.grow_to(61));
        share.set(300);
        assert!(shares.take(Some('b')).is_none());
        share.set(10);
        assert!(share.grow_to(50));
        drop(share);
        assert_eq!(shares.table().taken, 0);
        assert!(shares.table().held.is_empty());
    }

    #[test]
    fn each_caller_can_have_a_bound_of_its_own() {
        let shares = Shares::for_each(2);
        let [first, second] = ['a', 'b'].map(|caller| take_all(&shares, Some(caller)));
        assert_eq!([first.len(), second.len()], [2, 2]);
    }
}
