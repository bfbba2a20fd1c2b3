//! Parameters of pages, and cache hints of results.

use core::time::Duration;

use serde::{Deserialize, Deserializer};

use super::open::closed_names;
use crate::json::Str;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_pages {
    ($form:ident) => {
        $form! {
            /// The parameters of the five requests for a page: `tools/list`, `resources/list`,
            /// `resources/templates/list`, `prompts/list`, and `tasks/list` of 2025-11-25.
            #[derive(Debug, Default)]
            struct PageParams<'b> {
                /// The position of the page, as the page before it stated it; absent for the first.
                /// It is opaque, and even an empty text is a cursor.
                cursor: Cursor,
                /// The progress token and further members.
                meta "_meta": Meta,
            }
            ;
            ;
        }
    };
}

closed_names! {
    /// The clients that may share a cached result; since 2026-07-28.
    ///
    /// A name that is missing or unknown is read as private (CH-13).
    pub enum CacheScope {
        /// All clients.
        Public = "public",
        /// Clients with the authorization of the request.
        Private = "private",
    }
}

impl<'de> Deserialize<'de> for CacheScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Str::deserialize(deserializer)?;
        Ok(Self::parse(name).unwrap_or(Self::Private))
    }
}

/// Returns how long a result stays fresh: zero where `ttlMs` is missing or negative (CH-03).
pub fn freshness(ttl_ms: Option<i64>) -> Duration {
    ttl_ms
        .and_then(|milliseconds| u64::try_from(milliseconds).ok())
        .map_or(Duration::ZERO, Duration::from_millis)
}
