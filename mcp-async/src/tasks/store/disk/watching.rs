//! Watches of records.

use core::task::{Context, Poll, Waker};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::lock::lock;

/// The watches of all records, by the ids of these.
#[derive(Default)]
pub(super) struct Watching(Mutex<Watches>);

#[derive(Default)]
struct Watches {
    /// The number of the newest watch.
    last: u64,
    by_id: HashMap<String, BTreeMap<u64, Watched>>,
}

struct Watched {
    /// The record may have changed since the watch looked at it.
    changed: bool,
    waker: Waker,
}

/// One watch. Dropping it ends the watch.
pub(super) struct Watch<'a> {
    watching: Arc<Watching>,
    id: &'a str,
    /// Its number, from its first poll on.
    number: Option<u64>,
}

impl Watching {
    /// Notes a change of this record.
    pub(super) fn wake(&self, id: &str) {
        let mut wakers = Vec::new();
        if let Some(watches) = self.lock().by_id.get_mut(id) {
            for watched in watches.values_mut() {
                watched.changed = true;
                wakers.push(watched.waker.clone());
            }
        }
        wakers.into_iter().for_each(Waker::wake);
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        lock(&self.0)
    }
}

impl<'a> Watch<'a> {
    pub(super) const fn new(watching: Arc<Watching>, id: &'a str) -> Self {
        Self {
            watching,
            id,
            number: None,
        }
    }

    /// Ready when the record is to be looked at: at first, and after each change.
    pub(super) fn poll_changed(&mut self, cx: &Context<'_>) -> Poll<()> {
        let watches = &mut *self.watching.lock();
        let Some(number) = self.number else {
            watches.last += 1;
            self.number = Some(watches.last);
            let watched = Watched {
                changed: false,
                waker: cx.waker().clone(),
            };
            let of_record = watches.by_id.entry(self.id.to_owned()).or_default();
            of_record.insert(watches.last, watched);
            return Poll::Ready(());
        };
        let of_record = watches.by_id.get_mut(self.id);
        let Some(watched) = of_record.and_then(|watches| watches.get_mut(&number)) else {
            return Poll::Ready(());
        };
        watched.waker.clone_from(cx.waker());
        match core::mem::take(&mut watched.changed) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let Some(number) = self.number else {
            return;
        };
        // A waker is dropped outside of the lock: it is a user's.
        let _watched = {
            let watches = &mut *self.watching.lock();
            let of_record = watches.by_id.get_mut(self.id);
            let watched = of_record.and_then(|watches| watches.remove(&number));
            if watches.by_id.get(self.id).is_some_and(BTreeMap::is_empty) {
                watches.by_id.remove(self.id);
            }
            watched
        };
    }
}
