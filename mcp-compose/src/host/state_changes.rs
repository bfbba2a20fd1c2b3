//! Changes of the states of servers, as a stream.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::shared::Shared;
use super::state::ServerStatus;

/// The changes of the states of servers, as a stream that does not end. A reader that is slow gets several changes of one
/// server as one.
pub struct StateChanges {
    shared: Arc<Shared>,
    /// The numbers of the states that are known.
    seen: HashMap<Arc<str>, u64>,
}

impl StateChanges {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        let seen = shared.servers.read(|servers| {
            let known = servers
                .iter()
                .map(|server| (Arc::clone(&server.name), server.status().0));
            known.collect()
        });
        let shared = Arc::clone(shared);
        Self { shared, seen }
    }

    /// Returns a server whose state has changed since the last call, or since the stream was made, as soon as there is one.
    pub async fn next(&mut self) -> ServerStatus {
        let seen = &self.seen;
        let changed = self.shared.servers.find(|servers| {
            let mut all = servers.iter().map(|server| server.status());
            all.find(|(number, status)| seen.get(&status.name) != Some(number))
        });
        let (number, status) = changed.await;
        self.seen.insert(Arc::clone(&status.name), number);
        status
    }
}

impl fmt::Debug for StateChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StateChanges").finish_non_exhaustive()
    }
}
