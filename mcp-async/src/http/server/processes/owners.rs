//! The owners of sessions, as this process knows them.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::sync::Lock;

/// The processes that answered the last request of each session. An entry may be wrong: then the process
/// answers that it is not the owner, or is dead, and the store is asked.
#[derive(Default)]
pub(in crate::http::server) struct Owners(Lock<BTreeMap<Box<str>, Arc<str>>>);

impl Owners {
    pub(in crate::http::server) fn find(&self, session: &str) -> Option<Arc<str>> {
        self.0.lock().get(session).cloned()
    }

    pub(in crate::http::server) fn insert(&self, session: &str, owner: &Arc<str>) {
        let mut owners = self.0.lock();
        if let Some(noted) = owners.get_mut(session) {
            *noted = Arc::clone(owner);
            return;
        }
        if owners.len() >= MAX_OWNERS {
            // Ids are random, so this is any of them.
            owners.pop_first();
        }
        owners.insert(session.into(), Arc::clone(owner));
    }

    pub(in crate::http::server) fn remove(&self, session: &str) {
        self.0.lock().remove(session);
    }

    /// Forgets the processes that are dead.
    pub(in crate::http::server) fn retain(&self, lives: impl Fn(&str) -> bool) {
        self.0.lock().retain(|_, owner| lives(owner));
    }
}

/// The largest number of sessions whose owners are kept.
const MAX_OWNERS: usize = 10_000;
