//! Changes of the merged lists, as a stream.

use core::fmt;
use std::sync::Arc;

use super::lists::Lists;
use super::view::CatalogView;
use crate::watch::Watch;

/// The changes of a [`Catalog`](super::Catalog), as a stream that does not end. A reader that is slow gets several
/// changes as one.
pub struct CatalogChanges {
    view: Arc<Watch<Arc<CatalogView>>>,
    seen: Arc<CatalogView>,
}

impl CatalogChanges {
    pub(super) fn new(view: &Arc<Watch<Arc<CatalogView>>>) -> Self {
        Self {
            view: Arc::clone(view),
            seen: view.read(Arc::clone),
        }
    }

    /// Returns the lists that have changed since the last call, or since the stream was made, as soon as one has.
    pub async fn next(&mut self) -> Lists {
        let seen = &self.seen;
        let next = self.view.find(|now| {
            let lists = now.difference(seen);
            (!lists.is_empty()).then(|| (lists, Arc::clone(now)))
        });
        let (lists, next) = next.await;
        self.seen = next;
        lists
    }
}

impl fmt::Debug for CatalogChanges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CatalogChanges").finish_non_exhaustive()
    }
}
