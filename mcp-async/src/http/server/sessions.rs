//! The legacy sessions of an endpoint.

use core::fmt;
use core::future::poll_fn;
use core::task::{Poll, Waker};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard};

use mcp_proto::Instant;

use super::capacity::{Capacity, Place};
use super::session::Session;
use crate::connection::register;
use crate::lock::lock;
use crate::shares::CallerId;
use crate::shrink::shrink;

/// Sessions by their ids, in as many parts as there are hardly threads: work on one session never
/// waits for another.
pub(super) struct Sessions {
    shards: [Mutex<Shard>; SHARDS],
    capacity: Arc<Capacity>,
    /// Tasks that wait until no session is left.
    waiting: Mutex<Vec<Waker>>,
}

type Shard = HashMap<Arc<str>, Arc<Session>>;

impl Sessions {
    pub(super) fn new(capacity: &Arc<Capacity>) -> Arc<Self> {
        Arc::new(Self {
            shards: core::array::from_fn(|_| Mutex::default()),
            capacity: Arc::clone(capacity),
            waiting: Mutex::default(),
        })
    }

    /// Takes a place; `None` if there are as many sessions as there may be for this caller.
    pub(super) fn place(&self, caller: Option<&CallerId>, now: Instant) -> Option<Place> {
        self.capacity.place(caller, now)
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
        drop(shard);
        let woken = core::mem::take(&mut *self.waiting());
        woken.into_iter().for_each(Waker::wake);
    }

    pub(super) fn is_empty(&self) -> bool {
        let mut shards = self.shards.iter();
        shards.all(|shard| lock(shard).is_empty())
    }

    /// Waits until no session is left.
    pub(super) async fn emptied(&self) {
        poll_fn(|cx| {
            // First, so that none is removed unseen.
            register(&mut self.waiting(), cx);
            match self.is_empty() {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waker>> {
        lock(&self.waiting)
    }

    /// Returns the number of sessions.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| lock(shard).len()).sum()
    }

    pub(super) fn all(&self) -> Vec<Arc<Session>> {
        let mut all = Vec::new();
        for shard in &self.shards {
            all.extend(lock(shard).values().cloned());
        }
        all
    }

    /// The digits of an id are random: the last two choose the shard.
    fn shard(&self, id: &str) -> MutexGuard<'_, Shard> {
        let last = id.bytes().rev().take(2);
        let index = last.fold(0, |index, byte| 31 * index + usize::from(byte)) % SHARDS;
        let [first, ..] = &self.shards;
        lock(self.shards.get(index).unwrap_or(first))
    }
}

impl fmt::Debug for Sessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions").finish_non_exhaustive()
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
