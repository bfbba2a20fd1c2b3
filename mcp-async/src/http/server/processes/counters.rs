//! The counters of a process, from its begin on.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;

/// The numbers of takeovers, of lost sessions and of forwarded requests since the process began, and the
/// latency of its store.
#[derive(Default)]
pub(in crate::http::server) struct Counters {
    pub(in crate::http::server) takeovers: Counter,
    pub(in crate::http::server) displaced: Counter,
    pub(in crate::http::server) forwarded: Counter,
    pub(in crate::http::server) received: Counter,
    /// The time of the store's last answer to an announcement, in milliseconds and one more; 0 before the first.
    latency: AtomicU64,
}

/// A count of events.
#[derive(Default)]
pub(in crate::http::server) struct Counter(AtomicU64);

impl Counter {
    pub(in crate::http::server) fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    pub(in crate::http::server) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl Counters {
    pub(in crate::http::server) fn note_latency(&self, latency: Duration) {
        let millis = u64::try_from(latency.as_millis()).unwrap_or(u64::MAX);
        self.latency
            .store(millis.saturating_add(1), Ordering::Relaxed);
    }

    pub(in crate::http::server) fn latency(&self) -> Option<Duration> {
        let millis = self.latency.load(Ordering::Relaxed).checked_sub(1)?;
        Some(Duration::from_millis(millis))
    }
}
