//! Parameters of pages, and cache hints of results.

use core::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

use super::open::closed_names;
use super::{Meta, lenient};
use crate::json::Str;

/// The parameters of the five requests for a page: `tools/list`, `resources/list`,
/// `resources/templates/list`, `prompts/list`, and `tasks/list` of 2025-11-25.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:PageParams", rename_all = "camelCase")]
pub struct PageParams<'b> {
    /// Where the page begins, as the page before it said; the first page has none. It is opaque,
    /// and even an empty one is a cursor (PN-02, PN-04).
    #[serde(
        borrow,
        skip_serializing_if = "Option::is_none",
        serialize_with = "lenient::echo"
    )]
    pub cursor: Option<Str<'b>>,
    /// Progress token and anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

closed_names! {
    /// Who may share a cached result; since 2026-07-28.
    ///
    /// What is missing or unknown is read as private (CH-13).
    pub enum CacheScope {
        /// Anybody.
        Public = "public",
        /// Only who asked with the same authorization (CH-05).
        Private = "private",
    }
}

impl<'de> Deserialize<'de> for CacheScope {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Str::deserialize(deserializer)?;
        Ok(Self::parse(name).unwrap_or(Self::Private))
    }
}

/// How long a result stays fresh: not at all, where `ttlMs` is missing or negative (CH-03).
pub fn freshness(ttl_ms: Option<i64>) -> Duration {
    ttl_ms
        .and_then(|milliseconds| u64::try_from(milliseconds).ok())
        .map_or(Duration::ZERO, Duration::from_millis)
}
