//! Pages of registered items.

use mcp_proto::json::Str;
use mcp_proto::model::CacheScope;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{caller, is_served};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model;
use crate::server::call::service::Call;
use crate::server::items::catalog::{Page, SortedList};
use crate::server::items::keyed::Keyed;
use crate::server::items::lister::RESOURCES;
use crate::server::items::prompt::Prompt;
use crate::server::items::resource::{CacheHint, Resource};
use crate::server::items::template::Template;
use crate::server::items::tool::Tool;
use crate::server::registry::settings::Settings;

/// Answers a request for a list, of the items that are shown to the caller.
pub(super) fn list<T: Listed>(
    call: Call<'_>,
    sorted: &SortedList<T>,
    settings: &Settings,
    hint: CacheHint,
) -> Job {
    let size = settings.page_size;
    let core_tasks = settings.core_tasks;
    let cursor = call.request.subject.map(Str::to_cow);
    let shown = |item: &T| item.visibility().shows(caller(&call)) && item.is_served(&call);
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

/// An item as its list shows it.
pub(super) trait Listed: Keyed + Send + Sync + 'static {
    type Shown: Serialize;

    /// The result's name in the model, and that of the member that holds the items.
    const RESULT: (&'static str, &'static str);

    /// The item as a server shows it that has tasks of 2025-11-25, or has none.
    fn shown(&self, core_tasks: bool) -> &Self::Shown;

    /// Returns true if the revision of the call has such items.
    fn is_served(&self, _: &Call<'_>) -> bool {
        true
    }
}

impl Listed for Tool {
    type Shown = model::Tool;

    const RESULT: (&'static str, &'static str) = ("mcp:ListToolsResult", "tools");

    fn shown(&self, core_tasks: bool) -> &model::Tool {
        let with_tasks = self.tasks.listed().filter(|_| core_tasks);
        with_tasks.unwrap_or(&self.listed)
    }

    fn is_served(&self, call: &Call<'_>) -> bool {
        is_served(self, call)
    }
}

impl Listed for Resource {
    type Shown = model::Resource;

    const RESULT: (&'static str, &'static str) = ("mcp:ListResourcesResult", RESOURCES);

    fn shown(&self, _: bool) -> &model::Resource {
        &self.listed
    }
}

impl Listed for Template {
    type Shown = model::ResourceTemplate;

    const RESULT: (&'static str, &'static str) =
        ("mcp:ListResourceTemplatesResult", "resourceTemplates");

    fn shown(&self, _: bool) -> &model::ResourceTemplate {
        &self.listed
    }
}

impl Listed for Prompt {
    type Shown = model::Prompt;

    const RESULT: (&'static str, &'static str) = ("mcp:ListPromptsResult", "prompts");

    fn shown(&self, _: bool) -> &model::Prompt {
        &self.listed
    }
}

/// A page with its hints (CH-01), the same on every page (CH-10).
struct Result<T> {
    page: Page<T>,
    hint: CacheHint,
    core_tasks: bool,
}

impl<T: Listed> Serialize for Result<T> {
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

impl<T: Listed> Serialize for Items<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let items = self.0.page.items.iter();
        serializer.collect_seq(items.map(|item| item.shown(self.0.core_tasks)))
    }
}
