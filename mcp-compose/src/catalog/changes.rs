//! Changes of the merged lists, as a stream.

use core::fmt;
use std::sync::Arc;

use super::{Lists, Shared};

/// The changes of a [`Catalog`](super::Catalog), as a stream that does not end. A reader that is slow gets several
/// changes as one.
pub struct CatalogChanges {
    shared: Arc<Shared>,
    seen: Generations,
}

/// The number of changes of each list.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Generations {
    tools: u64,
    prompts: u64,
    resources: u64,
}

impl CatalogChanges {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Self {
            shared: Arc::clone(shared),
            seen: shared.state.read(|state| state.generations),
        }
    }

    /// Returns the lists that have changed since the last call, or since the stream was made, as soon as one has.
    pub async fn next(&mut self) -> Lists {
        let seen = self.seen;
        let next = self.shared.state.find(|state| {
            let now = state.generations;
            (now != seen).then_some(now)
        });
        self.seen = next.await;
        Lists {
            tools: self.seen.tools != seen.tools,
            prompts: self.seen.prompts != seen.prompts,
            resources: self.seen.resources != seen.resources,
        }
    }
}

impl Generations {
    pub(super) const fn count(&mut self, lists: Lists) {
        self.tools += lists.tools as u64;
        self.prompts += lists.prompts as u64;
        self.resources += lists.resources as u64;
    }
}

impl fmt::Debug for CatalogChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogChanges").finish_non_exhaustive()
    }
}
