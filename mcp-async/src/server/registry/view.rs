//! A snapshot of settings and catalog, which is read without a lock.

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use mcp_proto::PreparedConfig;
use mcp_proto::server::ServerConfig;

use super::declare::Caller;
use crate::server::items::catalog::Catalog;
use crate::sync::Lock;

/// The catalog of one moment, and the configuration that follows from it.
pub(in crate::server) struct View {
    pub(in crate::server) catalog: Arc<Catalog>,
    pub(in crate::server) prepared: PreparedConfig<ServerConfig<'static>>,
    /// The configuration for callers that are known, where it differs.
    pub(super) prepared_for_known: Option<PreparedConfig<ServerConfig<'static>>>,
    /// True if some items or methods need scopes.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) has_scopes: bool,
}

impl View {
    /// The configuration of a connection to this caller.
    pub(in crate::server) fn prepared_for(
        &self,
        caller: Caller,
    ) -> &PreparedConfig<ServerConfig<'static>> {
        let known = self.prepared_for_known.as_ref();
        let known = known.filter(|_| caller == Caller::Known);
        known.unwrap_or(&self.prepared)
    }
}

/// The current [`View`] of a server.
///
/// Each thread remembers the views that it used last, by their numbers. As long as the number is
/// the current one, a thread takes its view from there. A thread holds no view alive.
#[derive(Default)]
pub(super) struct CurrentView {
    /// The number of the current view, which no other view of the process has; 0 while there is
    /// none.
    number: AtomicU64,
    view: Lock<Option<Arc<View>>>,
}

impl CurrentView {
    /// Returns the current view, which `make` makes if it is missing.
    pub(super) fn get(&self, make: impl FnOnce() -> View) -> Arc<View> {
        let number = self.number.load(Ordering::Acquire);
        match recall(number) {
            Some(view) => view,
            None => self.find(make),
        }
    }

    /// Ends the current view, after something has changed.
    pub(super) fn end(&self) {
        let mut view = self.view.lock();
        self.number.store(0, Ordering::Release);
        *view = None;
    }

    fn find(&self, make: impl FnOnce() -> View) -> Arc<View> {
        // The lock is held while the view is made, so that a change that `make` does not see ends
        // this view.
        let mut current = self.view.lock();
        let view = match &*current {
            Some(view) => Arc::clone(view),
            None => {
                let view = Arc::new(make());
                let number = NEXT.fetch_add(1, Ordering::Relaxed);
                self.number.store(number, Ordering::Release);
                Arc::clone(current.insert(view))
            }
        };
        remember(self.number.load(Ordering::Relaxed), &view);
        view
    }
}

fn recall(number: u64) -> Option<Arc<View>> {
    REMEMBERED.with_borrow(|views| {
        let found = views.iter().find(|(known, _)| *known == number);
        found.and_then(|(_, view)| view.upgrade())
    })
}

fn remember(number: u64, view: &Arc<View>) {
    REMEMBERED.with_borrow_mut(|views| {
        views.rotate_right(1);
        if let Some(first) = views.first_mut() {
            *first = (number, Arc::downgrade(view));
        }
    });
}

/// The number of the next view.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A process serves few servers at the same time, so a thread that serves more of them by turns
/// takes locks.
const VIEWS: usize = 4;

thread_local! {
    static REMEMBERED: RefCell<[(u64, Weak<View>); VIEWS]> =
        const { RefCell::new([const { (0, Weak::new()) }; VIEWS]) };
}
