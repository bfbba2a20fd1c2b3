//! Watches of records.

use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::Signal;
use crate::shrink::shrink;
use crate::sync::Lock;

/// The records that are watched, by their ids.
#[derive(Default)]
pub(super) struct Watches(Lock<HashMap<String, Watched>>);

struct Watched {
    /// Set at the next change.
    changed: Arc<Signal>,
    /// The number of watches.
    watches: usize,
}

/// A watch for the next change of a record, from when it was made. Dropping it ends the watch.
pub(super) struct Watch<'a> {
    all: &'a Watches,
    id: &'a str,
    changed: Arc<Signal>,
}

impl Watches {
    /// Notes a change of the record of this id.
    pub(super) fn changed(&self, id: &str) {
        let watched = {
            let by_id = &mut *self.0.lock();
            // Most tasks are not watched when they change.
            (!by_id.is_empty()).then(|| by_id.remove(id)).flatten()
        };
        if let Some(watched) = watched {
            watched.changed.set();
        }
    }

    pub(super) fn watch<'a>(&'a self, id: &'a str) -> Watch<'a> {
        let by_id = &mut *self.0.lock();
        let watched = by_id.entry(id.to_owned()).or_insert_with(|| Watched {
            changed: Arc::default(),
            watches: 0,
        });
        watched.watches = watched.watches.saturating_add(1);
        Watch {
            all: self,
            id,
            changed: Arc::clone(&watched.changed),
        }
    }
}

impl Watch<'_> {
    /// Waits until the record has changed.
    pub(super) async fn changed(&self) {
        self.changed.wait().await;
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let by_id = &mut *self.all.0.lock();
        let watched = by_id.get_mut(self.id);
        let is_same = |watched: &&mut Watched| Arc::ptr_eq(&watched.changed, &self.changed);
        if let Some(watched) = watched.filter(is_same) {
            watched.watches = watched.watches.saturating_sub(1);
            if watched.watches == 0 {
                by_id.remove(self.id);
            }
        }
        shrink(by_id);
    }
}
