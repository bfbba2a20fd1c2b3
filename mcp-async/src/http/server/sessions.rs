//! The legacy sessions of an endpoint.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::session::Session;
use crate::shrink::shrink;

/// Sessions by their ids, in as many parts as there are hardly threads: work on one session never
/// waits for another.
pub(super) struct Sessions {
    shards: [Mutex<Shard>; SHARDS],
    capacity: Arc<Capacity>,
}

/// How many sessions there may be at a time, whatever they are named by.
pub(super) struct Capacity {
    taken: AtomicUsize,
    limit: usize,
}

type Shard = HashMap<Arc<str>, Arc<Session>>;

/// A place for one more session; given back when it is dropped.
pub(super) struct Place(Arc<Capacity>);

impl Sessions {
    pub(super) fn new(capacity: &Arc<Capacity>) -> Arc<Self> {
        Arc::new(Self {
            shards: core::array::from_fn(|_| Mutex::default()),
            capacity: Arc::clone(capacity),
        })
    }

    /// Takes a place; `None` if there are as many sessions as there may be.
    pub(super) fn place(&self) -> Option<Place> {
        let Capacity { taken, limit } = &*self.capacity;
        taken
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| {
                (count < *limit).then_some(count + 1)
            })
            .ok()
            .map(|_| Place(Arc::clone(&self.capacity)))
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Session>> {
        self.shard(id).get(id).cloned()
    }

    /// Makes a session known, unless there is one of its id; then that is returned.
    pub(super) fn insert(&self, session: &Arc<Session>) -> Option<Arc<Session>> {
        match self.shard(session.id()).entry(Arc::clone(session.id())) {
            Entry::Occupied(found) => Some(Arc::clone(found.get())),
            Entry::Vacant(place) => {
                place.insert(Arc::clone(session));
                None
            }
        }
    }

    /// From now on this session cannot be found. Another one of its id stays: one that was
    /// taken over from the store while this one was ending.
    pub(super) fn remove(&self, session: &Arc<Session>) {
        let mut shard = self.shard(session.id());
        let found = shard.get(session.id());
        if found.is_some_and(|found| Arc::ptr_eq(found, session)) {
            shard.remove(session.id());
            shrink(&mut shard);
        }
    }

    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(shard.values().cloned());
        }
        all
    }

    /// The digits of an id are random: the last two choose the shard.
    fn shard(&self, id: &str) -> MutexGuard<'_, Shard> {
        let last = id.bytes().rev().take(2);
        let index = last.fold(0, |index, byte| 31 * index + usize::from(byte)) % SHARDS;
        let [first, ..] = &self.shards;
        self.shards
            .get(index)
            .unwrap_or(first)
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.0.taken.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Capacity {
    /// So many places.
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            taken: AtomicUsize::new(0),
            limit,
        })
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("taken", &self.capacity.taken)
            .finish_non_exhaustive()
    }
}

/// The id of a new session: 128 bits from the operating system, in characters that may stand in a
/// header and in a query (SH-28). `None` if it has none.
pub(super) fn mint() -> Option<Arc<str>> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    let mut id = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for digit in [byte >> 4, byte & 15] {
            id.extend(char::from_digit(u32::from(digit), 16));
        }
    }
    Some(id.into())
}

const SHARDS: usize = 64;
