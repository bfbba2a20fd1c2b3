//! Results that a client may keep.

use core::time::Duration;

use mcp_proto::model::CacheScope;
use serde::Serialize;

use crate::server::items::resource::CacheHint;

/// The result of a method that clients of 2026-07-28 may keep: the members of `T`, with `ttlMs` and
/// `cacheScope`. All pages of a list have the same scope.
///
/// A list is paged as those of the protocol are: its parameters have a `cursor`, and its result a
/// `nextCursor` if more follows. Both are a [`Cursor`](crate::model::Cursor), which
/// [`Cursor::after`](crate::model::Cursor::after) can make of the key of an item.
///
/// ```
/// use core::time::Duration;
///
/// use mcp_async::model::Cursor;
/// use mcp_async::server::{Cached, Context, Extension, HandlerError};
/// use mcp_async::model::CacheScope;
///
/// #[derive(serde::Deserialize)]
/// struct List {
///     cursor: Option<Cursor>,
/// }
///
/// #[derive(serde::Serialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Page {
///     jobs: Vec<String>,
///     #[serde(skip_serializing_if = "Option::is_none")]
///     next_cursor: Option<Cursor>,
/// }
///
/// async fn list(list: List, _: Context) -> Result<Cached<Page>, HandlerError> {
///     let page = match list.cursor.as_ref().map(Cursor::to_str).as_deref() {
///         None => Page { jobs: vec!["first".into()], next_cursor: Some("1".into()) },
///         Some("1") => Page { jobs: vec!["second".into()], next_cursor: None },
///         Some(_) => return Err(HandlerError::invalid_params("Invalid cursor")),
///     };
///     Ok(Cached::new(page, Duration::from_secs(60), CacheScope::Private))
/// }
///
/// let jobs = Extension::new("com.example/jobs").method("jobs/list", list);
/// # let _ = mcp_async::Server::builder("demo", "1.0").extension(jobs);
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cached<T> {
    #[serde(flatten)]
    value: T,
    ttl_ms: i64,
    cache_scope: CacheScope,
}

impl<T: Serialize> Cached<T> {
    /// A result that a client may keep for `ttl`, and share with other users if the scope is
    /// public. `T` is written as an object.
    pub fn new(value: T, ttl: Duration, scope: CacheScope) -> Self {
        Self {
            value,
            ttl_ms: CacheHint::new(ttl, scope).ttl_ms,
            cache_scope: scope,
        }
    }
}
