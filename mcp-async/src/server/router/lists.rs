//! Pages of registered items.

use mcp_proto::json::Str;
use mcp_proto::model::CacheScope;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{caller, is_served};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::call::service::Call;
use crate::server::items::catalog::{Page, SortedList};
use crate::server::items::entry::Registered;
use crate::server::items::resource::CacheHint;
use crate::server::registry::settings::Settings;

/// Answers a request for a list, of the items that are shown to the caller.
pub(super) fn list<T: Registered + Send + Sync + 'static>(
    call: Call<'_>,
    sorted: &SortedList<T>,
    settings: &Settings,
    hint: CacheHint,
) -> Job {
    let size = settings.page_size;
    let core_tasks = settings.core_tasks;
    let cursor = call.request.subject.map(Str::to_cow);
    let shown = |item: &T| item.shows(caller(&call)) && is_served(item, &call);
    let page = sorted.page(T::RESULT.1, cursor.as_deref(), size, shown);
    let hint = match hint.scope {
        Some(CacheScope::Public) if sorted.is_restricted() => hint.private(),
        _ => hint,
    };
    match page {
        Some(page) => call.ready(Ok(Result {
            page,
            hint,
            core_tasks,
        })),
        None => call.refuse(invalid_cursor()),
    }
}

/// PN-05
pub(super) fn invalid_cursor() -> ErrorReply {
    ErrorReply::invalid_params("Invalid cursor")
}

/// A page with its hints (CH-01), the same on every page (CH-10).
struct Result<T> {
    page: Page<T>,
    hint: CacheHint,
    core_tasks: bool,
}

impl<T: Registered> Serialize for Result<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let (name, items) = T::RESULT;
        let mut result = serializer.serialize_struct(name, 4)?;
        result.serialize_field(items, &Items(self))?;
        if let Some(next) = &self.page.next {
            result.serialize_field("nextCursor", next)?;
        }
        if let Some(scope) = &self.hint.scope {
            result.serialize_field("ttlMs", &self.hint.ttl_ms)?;
            result.serialize_field("cacheScope", scope)?;
        }
        result.end()
    }
}

struct Items<'a, T>(&'a Result<T>);

impl<T: Registered> Serialize for Items<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let items = self.0.page.items.iter();
        serializer.collect_seq(items.map(|item| item.listed(self.0.core_tasks)))
    }
}
