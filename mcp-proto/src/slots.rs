//! One table of requests: constant time by id, by deadline and in order of arrival.

pub(crate) use index::{Bucket, Buckets};

use crate::store::{self, Store};
use crate::time::Instant;

/// A bounded table whose entries are found by [`Key`], by a hash of the request id, by the
/// earliest deadline, and through two queues, each in constant or logarithmic time.
///
/// The caller provides the memory: a slice of slots, and the buckets of an index by hash, which are apart so that a search reads no slots
/// of other requests. All other links live inside the slots: slot `i` also holds position `i` of the heap of deadlines.
///
/// ```text
/// slot        0        1        2        3
/// value       a        free     b        free
/// heap        2        0        -        -          slot 2 is due first
/// ```
///
/// Getters: [`get`](Self::get), [`find`](Self::find), [`len`](Self::len),
/// [`next_deadline`](Self::next_deadline), [`first`](Self::first).
#[derive(Debug)]
pub(crate) struct Slots<T, S> {
    store: S,
    limit: usize,
    len: usize,
    armed: usize,
    free: u32,
    queues: [Ends; QUEUES],
    value: core::marker::PhantomData<T>,
}

/// The memory of a table: slots, and for each of them [`Buckets`] of the index.
pub(crate) trait SlotStore<T> {
    fn slots(&self) -> &[Slot<T>];
    fn slots_mut(&mut self) -> &mut [Slot<T>];
    fn buckets(&self) -> &[Bucket];
    fn buckets_mut(&mut self) -> &mut [Bucket];
    /// Makes room for `wanted` slots, or else for as many as possible; returns true if there is room for `least`.
    fn enlarge(&mut self, least: usize, wanted: usize) -> bool;
    /// Returns the most slots that there can be room for.
    fn max_len(&self) -> usize;
}

/// Memory that does not grow.
pub(crate) type Arrays<T, const N: usize> = ([Slot<T>; N], [Buckets; N]);

/// Memory that grows.
#[cfg(feature = "alloc")]
pub(crate) type Vectors<T> = (alloc::vec::Vec<Slot<T>>, index::growing::GrowingBuckets);

/// One entry of a table, free or taken.
#[derive(Clone, Debug)]
pub(crate) struct Slot<T> {
    value: Option<T>,
    generation: u32,
    /// The hash of the id; in a free slot, the index of the next free slot.
    hash: u32,
    heap: u32,
    position: u32,
    deadline: Instant,
    links: [Links; QUEUES],
}

/// Names an entry of a table, unambiguously also after the entry was removed: the generation of
/// its slot moved on.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// Slots with something left to do, in the order in which they were marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Queue {
    /// A message has to be derived from the slot.
    Transmit,
    /// The slot has a pending event.
    Event,
}

#[derive(Clone, Copy, Debug)]
struct Ends {
    first: u32,
    last: u32,
}

#[derive(Clone, Copy, Debug)]
struct Links {
    /// [`UNMARKED`] if the slot is in no queue.
    before: u32,
    after: u32,
}

/// No slot of the table is free, and it may not grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Returns arrays in which every slot is free.
pub(crate) const fn arrays<T, const N: usize>() -> Arrays<T, N> {
    ([const { Slot::EMPTY }; N], [[Bucket::FREE; 2]; N])
}

impl<T, S: Store<Slot<T>>, P: Store<Buckets>> SlotStore<T> for (S, P) {
    fn slots(&self) -> &[Slot<T>] {
        self.0.as_ref()
    }

    fn slots_mut(&mut self) -> &mut [Slot<T>] {
        self.0.as_mut()
    }

    fn buckets(&self) -> &[Bucket] {
        self.1.as_ref().as_flattened()
    }

    fn buckets_mut(&mut self) -> &mut [Bucket] {
        self.1.as_mut().as_flattened_mut()
    }

    fn enlarge(&mut self, least: usize, wanted: usize) -> bool {
        // The index last: it is of use again only after all slots were filed anew.
        store::enlarge(&mut self.0, least, wanted) && store::enlarge(&mut self.1, least, wanted)
    }

    fn max_len(&self) -> usize {
        self.0.max_len().min(self.1.max_len())
    }
}

impl<T, S: SlotStore<T>> Slots<T, S> {
    /// An empty table that never holds more than `limit` entries.
    pub(crate) fn new(store: S, limit: usize) -> Self {
        let limit = limit.min(NONE as usize - 1);
        let mut slots = Self {
            store,
            limit,
            len: 0,
            armed: 0,
            free: NONE,
            queues: [Ends {
                first: NONE,
                last: NONE,
            }; QUEUES],
            value: core::marker::PhantomData,
        };
        slots.adopt(0);
        slots
    }

    /// Puts `value` in; `hash` is that of the request id it will be looked up by.
    pub(crate) fn insert(&mut self, hash: u32, value: T) -> Result<Key, Full> {
        if self.len >= self.limit {
            return Err(Full);
        }
        if self.free == NONE {
            let old = self.capacity();
            let wanted = old.saturating_mul(2).max(8).min(self.limit);
            if wanted <= old || !self.store.enlarge(old + 1, wanted) {
                return Err(Full);
            }
            self.adopt(old);
            self.rehash();
        }
        let index = self.free;
        let slot = self.slot_mut(index).ok_or(Full)?;
        let free = core::mem::replace(&mut slot.hash, hash);
        slot.value = Some(value);
        let generation = slot.generation;
        self.free = free;
        self.len += 1;
        index::insert(self.store.buckets_mut(), hash, index);
        Ok(Key {
            slot: index,
            generation,
        })
    }

    /// The entry of `key`, unless it is gone.
    pub(crate) fn get(&self, key: Key) -> Option<&T> {
        self.entry(key)?.value.as_ref()
    }

    /// The entry of `key`, unless it is gone.
    pub(crate) fn get_mut(&mut self, key: Key) -> Option<&mut T> {
        let slot = self.slot_mut(key.slot)?;
        if slot.generation != key.generation {
            return None;
        }
        slot.value.as_mut()
    }

    /// Takes the entry out: of the table, the heap and the queues.
    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        self.entry(key)?;
        self.arm(key, None);
        self.unmark(Queue::Transmit, key);
        self.unmark(Queue::Event, key);
        let free = core::mem::replace(&mut self.free, key.slot);
        let slot = self.slot_mut(key.slot)?;
        let value = slot.value.take();
        slot.generation = slot.generation.wrapping_add(1);
        let hash = core::mem::replace(&mut slot.hash, free);
        index::remove(self.store.buckets_mut(), hash, key.slot);
        self.len -= 1;
        value
    }

    /// Files the entry under another id: a retried request keeps its key.
    pub(crate) fn rename(&mut self, key: Key, hash: u32) {
        let slot = self
            .slot_mut(key.slot)
            .filter(|slot| slot.generation == key.generation && slot.value.is_some());
        if let Some(slot) = slot {
            let old = core::mem::replace(&mut slot.hash, hash);
            index::remove(self.store.buckets_mut(), old, key.slot);
            index::insert(self.store.buckets_mut(), hash, key.slot);
        }
    }

    /// The entry filed under `hash` that `is` it.
    pub(crate) fn find(&self, hash: u32, is: impl Fn(&T) -> bool) -> Option<Key> {
        let is_it = |index| {
            let slot = self.slot(index);
            slot.is_some_and(|slot| slot.value.as_ref().is_some_and(&is))
        };
        let index = index::find(self.store.buckets(), hash, is_it)?;
        self.key(index)
    }

    /// Sets, moves or clears the deadline of `key`; one at [`Instant::MAX`] clears it.
    pub(crate) fn arm(&mut self, key: Key, deadline: Option<Instant>) {
        let deadline = deadline.and_then(Instant::as_deadline);
        if deadline.is_none() && self.armed == 0 {
            // Returns without reading the slot, whose end may not be in the cache.
            return;
        }
        let Some(position) = self.entry(key).map(|slot| slot.position) else {
            return;
        };
        match (deadline, position) {
            (None, NONE) => {}
            (None, at) => {
                self.armed -= 1;
                let last = self.at_heap(self.armed);
                self.set_heap(self.armed, NONE);
                if let Some(slot) = self.slot_mut(key.slot) {
                    slot.position = NONE;
                }
                if last != key.slot {
                    self.set_heap(at as usize, last);
                    self.sift_down(at as usize);
                    self.sift_up(at as usize);
                }
            }
            (Some(deadline), at) => {
                if let Some(slot) = self.slot_mut(key.slot) {
                    slot.deadline = deadline;
                }
                let at = if at == NONE {
                    self.armed += 1;
                    self.set_heap(self.armed - 1, key.slot);
                    self.armed - 1
                } else {
                    at as usize
                };
                self.sift_down(at);
                self.sift_up(at);
            }
        }
    }

    /// The deadline of `key`, if it has one.
    pub(crate) fn deadline(&self, key: Key) -> Option<Instant> {
        let slot = self.entry(key)?;
        (slot.position != NONE).then_some(slot.deadline)
    }

    /// The earliest deadline of all.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        Some(self.slot(self.at_heap(0))?.deadline)
    }

    /// The entry that is due first, if that is `now` or earlier; its deadline is cleared.
    pub(crate) fn pop_due(&mut self, now: Instant) -> Option<Key> {
        let key = self.key(self.at_heap(0))?;
        if self.due(0) > now {
            return None;
        }
        self.arm(key, None);
        Some(key)
    }

    /// Puts `key` at the end of `queue`, unless it is in it.
    pub(crate) fn mark(&mut self, queue: Queue, key: Key) {
        if self
            .entry(key)
            .is_none_or(|slot| slot.links[queue as usize].is_marked())
        {
            return;
        }
        let last = self.queues[queue as usize].last;
        if let Some(slot) = self.slot_mut(key.slot) {
            slot.links[queue as usize] = Links {
                before: last,
                after: NONE,
            };
        }
        match self.slot_mut(last) {
            Some(before) => before.links[queue as usize].after = key.slot,
            None => self.queues[queue as usize].first = key.slot,
        }
        self.queues[queue as usize].last = key.slot;
    }

    /// Takes `key` out of `queue`.
    pub(crate) fn unmark(&mut self, queue: Queue, key: Key) {
        if self.queues[queue as usize].first == NONE {
            return;
        }
        let Some(links) = self.entry(key).map(|slot| slot.links[queue as usize]) else {
            return;
        };
        if !links.is_marked() {
            return;
        }
        match self.slot_mut(links.before) {
            Some(before) => before.links[queue as usize].after = links.after,
            None => self.queues[queue as usize].first = links.after,
        }
        match self.slot_mut(links.after) {
            Some(after) => after.links[queue as usize].before = links.before,
            None => self.queues[queue as usize].last = links.before,
        }
        if let Some(slot) = self.slot_mut(key.slot) {
            slot.links[queue as usize] = Links::NONE;
        }
    }

    /// The entry that was marked first.
    pub(crate) fn first(&self, queue: Queue) -> Option<Key> {
        self.key(self.queues[queue as usize].first)
    }

    /// The entries of a queue in the order in which they were marked.
    pub(crate) fn marked(&self, queue: Queue) -> impl Iterator<Item = (Key, &T)> {
        let mut index = self.queues[queue as usize].first;
        // A queue is never longer than the table; the bound shows that the iteration ends.
        (0..self.capacity()).map_while(move |_| {
            let key = self.key(index)?;
            index = self.slot(index)?.links[queue as usize].after;
            Some((key, self.get(key)?))
        })
    }

    /// All entries.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        let slots = self.store.slots().iter();
        slots.filter_map(|slot| slot.value.as_ref())
    }

    /// Returns the number of entries.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there is no entry.
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first entry from `index` on, which moves past it: a walk of a table that changes on the way.
    pub(crate) fn next_key(&self, index: &mut u32) -> Option<Key> {
        while (*index as usize) < self.capacity() {
            let key = self.key(*index);
            *index += 1;
            if key.is_some() {
                return key;
            }
        }
        None
    }

    fn key(&self, index: u32) -> Option<Key> {
        let slot = self.slot(index)?;
        slot.value.as_ref()?;
        Some(Key {
            slot: index,
            generation: slot.generation,
        })
    }

    /// Returns the number of slots that the storage holds now.
    pub(crate) fn capacity(&self) -> usize {
        let buckets = self.store.buckets().len() / 2;
        self.store.slots().len().min(buckets).min(self.limit)
    }

    /// The most entries that the table can hold.
    pub(crate) fn most(&self) -> usize {
        self.store.max_len().min(self.limit)
    }

    fn slot(&self, index: u32) -> Option<&Slot<T>> {
        self.store.slots().get(index as usize)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<T>> {
        self.store.slots_mut().get_mut(index as usize)
    }

    fn entry(&self, key: Key) -> Option<&Slot<T>> {
        let slot = self.slot(key.slot)?;
        (slot.generation == key.generation && slot.value.is_some()).then_some(slot)
    }

    /// Chains the slots from `old` on into the free list, the lowest first.
    fn adopt(&mut self, old: usize) {
        for index in (old..self.capacity()).rev() {
            let free = self.free;
            if let Some(slot) = self.slot_mut(index as u32) {
                *slot = Slot {
                    generation: slot.generation,
                    hash: free,
                    ..Slot::default()
                };
                self.free = index as u32;
            }
        }
    }

    /// Files every entry anew, after the index has grown.
    fn rehash(&mut self) {
        self.store.buckets_mut().fill(Bucket::FREE);
        for index in 0..self.capacity() as u32 {
            let slot = self.slot(index).filter(|slot| slot.value.is_some());
            if let Some(hash) = slot.map(|slot| slot.hash) {
                index::insert(self.store.buckets_mut(), hash, index);
            }
        }
    }

    fn at_heap(&self, position: usize) -> u32 {
        self.store
            .slots()
            .get(position)
            .map_or(NONE, |slot| slot.heap)
    }

    fn set_heap(&mut self, position: usize, index: u32) {
        if let Some(slot) = self.store.slots_mut().get_mut(position) {
            slot.heap = index;
        }
        if let Some(slot) = self.slot_mut(index) {
            slot.position = position as u32;
        }
    }

    fn due(&self, position: usize) -> Instant {
        self.slot(self.at_heap(position))
            .map_or(Instant::ZERO, |slot| slot.deadline)
    }

    fn swap(&mut self, a: usize, b: usize) {
        let (x, y) = (self.at_heap(a), self.at_heap(b));
        self.set_heap(a, y);
        self.set_heap(b, x);
    }

    fn sift_up(&mut self, mut at: usize) {
        while at > 0 {
            let parent = (at - 1) / 2;
            if self.due(parent) <= self.due(at) {
                return;
            }
            self.swap(parent, at);
            at = parent;
        }
    }

    fn sift_down(&mut self, mut at: usize) {
        loop {
            let (left, right) = (2 * at + 1, 2 * at + 2);
            let mut least = at;
            if left < self.armed && self.due(left) < self.due(least) {
                least = left;
            }
            if right < self.armed && self.due(right) < self.due(least) {
                least = right;
            }
            if least == at {
                return;
            }
            self.swap(least, at);
            at = least;
        }
    }
}

impl core::fmt::Debug for Key {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{}.{}", self.slot, self.generation)
    }
}

impl<T> Slot<T> {
    /// A free one.
    pub(crate) const EMPTY: Self = Self {
        value: None,
        generation: 0,
        hash: 0,
        heap: NONE,
        position: NONE,
        deadline: Instant::ZERO,
        links: [Links::NONE; QUEUES],
    };
}

impl<T> Default for Slot<T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Links {
    const NONE: Self = Self {
        before: UNMARKED,
        after: NONE,
    };

    const fn is_marked(self) -> bool {
        self.before != UNMARKED
    }
}

/// No slot: the end of a list. A table is always shorter.
const NONE: u32 = u32::MAX;
/// In the place of a slot before: not in the queue.
const UNMARKED: u32 = u32::MAX - 1;
const QUEUES: usize = 2;

mod index;
#[cfg(test)]
mod tests;
