//! Resources that a handler lists for each caller.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use std::sync::Arc;

use super::resource::{CacheHint, RESOURCES};
use crate::cursor;
use crate::model::{ListResourcesResult, Resource};
use crate::server::Call;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::HandlerError;

/// Lists resources for the caller.
#[derive(Clone)]
pub(in crate::server) struct Lister<S = ()>(Begin<S>);

type Begin<S> = Arc<dyn for<'b> Fn(&Call<'b>, &Arc<S>) -> ListFuture + Send + Sync>;

/// The resources of one lister.
pub(super) type ListFuture =
    Pin<Box<dyn Future<Output = Result<Vec<Resource>, HandlerError>> + Send>>;

impl<S: Send + Sync + 'static> Lister<S> {
    pub(in crate::server) fn new<F, Fut>(handler: F) -> Self
    where
        F: Fn(Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<Resource>, HandlerError>> + Send + 'static,
    {
        Self(Arc::new(move |call, state| {
            Box::pin(handler(Context::new(call.context().clone(), state)))
        }))
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(self, state: &Arc<S>) -> Lister {
        let (begin, state) = (self.0, Arc::clone(state));
        Lister(Arc::new(move |call, _| begin(call, &state)))
    }
}

impl Lister {
    pub(in crate::server) fn begin(&self, call: &Call<'_>) -> ListFuture {
        (self.0)(call, unit())
    }
}

impl<S> fmt::Debug for Lister<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Lister")
    }
}

/// The page after this URI, of what was listed in any order. Of several resources with one URI the
/// first is shown. Nothing is kept between pages (PN-05).
pub(in crate::server) fn page(
    mut all: Vec<Resource>,
    after: Option<&str>,
    size: usize,
    hint: CacheHint,
) -> ListResourcesResult {
    all.sort_by(|one, other| one.uri.cmp(&other.uri));
    all.dedup_by(|later, first| later.uri == first.uri);
    let start = after.map_or(0, |after| {
        all.partition_point(|resource| resource.uri.as_str() <= after)
    });
    let mut resources = all.split_off(start);
    let has_more = resources.len() > size;
    resources.truncate(size);
    let last = resources.last().filter(|_| has_more);
    let next = last.map(|last| cursor::after(RESOURCES, &last.uri));
    // CH-05: it is the caller's.
    let hint = hint.private();
    ListResourcesResult {
        next_cursor: next.map(Into::into),
        ttl_ms: hint.scope.map(|_| hint.ttl_ms),
        cache_scope: hint.scope,
        resources,
        ..ListResourcesResult::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_continue_after_the_last_uri() {
        let listed = |uris: &str| -> Vec<Resource> {
            let uris = uris.split(' ');
            uris.map(|uri| Resource::new(uri, "")).collect()
        };
        let keys = |page: &ListResourcesResult| -> String {
            page.resources.iter().map(|it| it.uri.as_str()).collect()
        };
        let first = page(listed("d a c b a"), None, 2, CacheHint::default());
        assert_eq!(keys(&first), "ab");
        assert!(first.next_cursor.is_some());
        // What came and went meanwhile does not matter.
        let second = page(listed("c a bb d"), Some("b"), 2, CacheHint::default());
        assert_eq!(keys(&second), "bbc");
        let last = page(listed("d a c b a"), Some("c"), 2, CacheHint::default());
        assert_eq!((keys(&last).as_str(), last.next_cursor), ("d", None));
    }
}
