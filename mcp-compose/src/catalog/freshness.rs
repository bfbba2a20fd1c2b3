//! How long lists may be cached, and for whom.

use core::time::Duration;

use mcp_async::model::CacheScope;
use mcp_proto::model::freshness;

/// How long a list stays fresh, and who may share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Freshness {
    /// The time for which it stays fresh: the smallest of all pages; zero in legacy revisions.
    pub ttl: Duration,
    /// The clients that may share it: private if one page is, or says nothing.
    pub scope: CacheScope,
}

impl Freshness {
    pub(super) fn new(ttl_ms: Option<i64>, scope: Option<CacheScope>) -> Self {
        Self {
            ttl: freshness(ttl_ms),
            scope: scope.unwrap_or(CacheScope::Private),
        }
    }

    /// Returns the one that holds for both.
    pub(crate) fn merged(self, other: Option<Self>) -> Option<Self> {
        let other = other.unwrap_or(self);
        let is_public = self.scope == CacheScope::Public && other.scope == CacheScope::Public;
        Some(Self {
            ttl: self.ttl.min(other.ttl),
            scope: if is_public {
                CacheScope::Public
            } else {
                CacheScope::Private
            },
        })
    }
}
