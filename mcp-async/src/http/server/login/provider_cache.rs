//! The metadata of the provider, which is fetched when it is needed.

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use mcp_auth::ServerMetadata;
use mcp_proto::Instant;

use crate::runtime::RuntimeHandle;
use crate::server::layers::Semaphore;
use crate::sync::Lock;

/// The metadata of the provider, and the time at which it is fetched again.
pub(super) struct ProviderCache {
    state: Lock<State>,
    /// One request fetches it at a time.
    turn: Arc<Semaphore>,
}

struct State {
    metadata: Option<Arc<ServerMetadata>>,
    next: Instant,
}

impl ProviderCache {
    /// Holds the metadata of a provider that publishes none, which is never fetched.
    pub(super) fn new(endpoints: Option<&ServerMetadata>) -> Self {
        Self {
            state: Lock::new(State {
                metadata: endpoints.cloned().map(Arc::new),
                next: endpoints.map_or(Instant::ZERO, |_| Instant::MAX),
            }),
            turn: Semaphore::new(1),
        }
    }

    /// Returns the metadata, which is fetched if that is due; `None` if that has failed, and it was not fetched before.
    /// A provider that has failed is not asked for a while. While one request fetches, others get the metadata of
    /// before, or wait until the first is fetched.
    pub(super) async fn get(
        &self,
        runtime: &RuntimeHandle,
        fetch: impl Future<Output = Option<ServerMetadata>>,
    ) -> Option<Arc<ServerMetadata>> {
        let (known, is_due) = self.state.lock().read(runtime.now());
        if !is_due {
            return known;
        }
        let turn = match known {
            Some(_) => self.turn.try_acquire(),
            None => Some(Arc::clone(&self.turn).acquire(()).await),
        };
        // Another request fetches it, or has done so meanwhile.
        let (known, is_due) = self.state.lock().read(runtime.now());
        if turn.is_none() || !is_due {
            return known;
        }
        let fetched = fetch.await.map(Arc::new);
        let pause = if fetched.is_some() { FRESH } else { RETRY };
        let mut state = self.state.lock();
        state.next = runtime.now() + pause;
        state.metadata = fetched.or(known);
        state.metadata.clone()
    }
}

impl State {
    /// Returns the metadata, and true if it is to be fetched.
    fn read(&self, now: Instant) -> (Option<Arc<ServerMetadata>>, bool) {
        (self.metadata.clone(), now >= self.next)
    }
}

/// The time for which the metadata is used.
const FRESH: Duration = Duration::from_secs(3_600);

/// The time after which a provider that has failed is asked again.
const RETRY: Duration = Duration::from_secs(10);
