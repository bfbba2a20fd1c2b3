//! The legacy sessions of an endpoint.

use core::fmt;
use core::hash::{BuildHasherDefault, Hasher};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, MutexGuard};

use super::session::Session;
use crate::connection::Notify;
use crate::random;
use crate::shrink::shrink;
use crate::sync::Lock;

/// Sessions by their ids, in as many parts as there are hardly threads: work on one session never
/// waits for another.
pub(in crate::http::server) struct Sessions {
    shards: [Lock<Shard>; SHARDS],
    /// A session was removed.
    removed: Notify,
}

type Shard = HashMap<Arc<[u8]>, Arc<Session>, BuildHasherDefault<IdHasher>>;

/// Hashes an id by 16 digits; the last two find the shard. They are random and chosen by this server, so no client can make ids collide.
#[derive(Default)]
struct IdHasher(u64);

impl Hasher for IdHasher {
    fn write(&mut self, id: &[u8]) {
        let digits = id.iter().rev().skip(2).take(16);
        self.0 = digits.fold(self.0, |hash, digit| {
            hash.rotate_left(4) ^ u64::from(*digit)
        });
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

impl Sessions {
    pub(in crate::http::server) fn find(&self, id: &[u8]) -> Option<Arc<Session>> {
        self.shard(id).get(id).cloned()
    }

    /// Makes a session known, unless there is one of its id; then that is returned.
    pub(in crate::http::server) fn insert(&self, session: &Arc<Session>) -> Option<Arc<Session>> {
        let id = Arc::<[u8]>::from(Arc::clone(session.id()));
        match self.shard(&id).entry(Arc::clone(&id)) {
            Entry::Occupied(found) => Some(Arc::clone(found.get())),
            Entry::Vacant(place) => {
                place.insert(Arc::clone(session));
                None
            }
        }
    }

    /// From now on this session cannot be found. Another one of its id stays: one that was
    /// taken over from the store while this one was ending.
    pub(in crate::http::server) fn remove(&self, session: &Arc<Session>) {
        let id = session.id().as_bytes();
        let mut shard = self.shard(id);
        let found = shard.get(id);
        if found.is_some_and(|found| Arc::ptr_eq(found, session)) {
            shard.remove(id);
            shrink(&mut shard);
        }
        drop(shard);
        self.removed.notify_waiters();
    }

    pub(in crate::http::server) fn is_empty(&self) -> bool {
        let mut shards = self.shards.iter();
        shards.all(|shard| shard.lock().is_empty())
    }

    /// Waits until no session is left.
    pub(in crate::http::server) async fn emptied(&self) {
        loop {
            // First, so that none is removed unseen.
            let removed = self.removed.notified();
            if self.is_empty() {
                return;
            }
            removed.await;
        }
    }

    /// Returns the number of sessions.
    pub(in crate::http::server) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    pub(in crate::http::server) fn all(&self) -> Vec<Arc<Session>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(shard.lock().values().cloned());
        }
        all
    }

    /// The digits of an id are random: the last two choose the shard.
    fn shard(&self, id: &[u8]) -> MutexGuard<'_, Shard> {
        let last = id.iter().rev().take(2);
        let index = last.fold(0, |index, byte| 31 * index + usize::from(*byte)) % SHARDS;
        let [first, ..] = &self.shards;
        self.shards.get(index).unwrap_or(first).lock()
    }
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            shards: core::array::from_fn(|_| Lock::default()),
            removed: Notify::default(),
        }
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
    }
}

/// The id of a new session: 128 bits from the operating system, in characters that may stand in a
/// header and in a query (SH-28). `None` if it has none.
pub(in crate::http::server) fn mint() -> Option<Arc<str>> {
    random::id().ok().map(Arc::from)
}

const SHARDS: usize = 64;
