//! The ways in which a server is served.

use core::future::{Future, poll_fn};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;

use crate::server::registry::inner::Inner;

/// One of the ways in which a server is served. The end of the last one ends the work in the
/// background.
pub(crate) struct ServingScope {
    inner: Arc<Inner>,
    has_ended: AtomicBool,
    /// No other way was left at its end.
    is_last: AtomicBool,
}

impl ServingScope {
    /// Begins one. Registries give calls and tasks this time to end if they shut the server down.
    pub(in crate::server) fn new(inner: &Arc<Inner>, grace: Duration) -> Self {
        inner.allow(grace);
        if inner.serving.fetch_add(1, Ordering::AcqRel) == 0 && !inner.is_closing() {
            inner.works.resume();
        }
        Self {
            inner: Arc::clone(inner),
            has_ended: AtomicBool::new(false),
            is_last: AtomicBool::new(false),
        }
    }

    /// Returns the number of pieces of work that run in the background.
    pub(crate) fn running(&self) -> usize {
        let works = self.inner.works.all.iter();
        works.map(|work| work.running()).sum()
    }

    /// Returns the number of calls that found no place for such work.
    pub(crate) fn kept_in_exchange(&self) -> u64 {
        let works = self.inner.works.all.iter();
        works.map(|work| work.kept_in_exchange()).sum()
    }

    /// Lets the work in the background begin, in a task of the runtime.
    pub(crate) fn start(&self) {
        for work in &self.inner.works.all {
            Arc::clone(work).start();
        }
    }

    /// Ends it: after the last one, work in the background may continue for this time.
    pub(crate) fn end(&self, grace: Duration) {
        if self.leave() {
            self.is_last.store(true, Ordering::Release);
            self.inner.works.begin_shutdown(grace);
        }
    }

    /// Resolves when the work in the background has ended, or when it need not end.
    pub(crate) fn drained(&self) -> impl Future<Output = ()> + Send + use<> {
        let ends = self.is_last.load(Ordering::Acquire) || self.inner.is_closing();
        let works = ends.then(|| Arc::clone(&self.inner.works));
        poll_fn(move |cx| {
            let mut all = works.iter().flat_map(|works| &works.all);
            match all.all(|work| work.poll_stopped(cx).is_ready()) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
    }

    /// Stops what still runs in the background, and waits for its end.
    pub(crate) fn finish(&self) -> impl Future<Output = ()> + Send + use<> {
        let inner = self
            .is_last
            .load(Ordering::Acquire)
            .then(|| Arc::clone(&self.inner));
        if let Some(inner) = &inner {
            inner.works.all.iter().for_each(|work| work.stop());
        }
        let drained = self.drained();
        async move {
            drained.await;
            if let Some(inner) = inner.filter(|inner| !inner.is_closing()) {
                inner.works.resume();
            }
        }
    }

    /// Returns true if this was the last way in which the server was served. It is counted once.
    fn leave(&self) -> bool {
        !self.has_ended.swap(true, Ordering::AcqRel)
            && self.inner.serving.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl Drop for ServingScope {
    fn drop(&mut self) {
        self.leave();
    }
}
