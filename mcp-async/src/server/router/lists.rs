//! Pages of registered items.

use mcp_proto::json::Str;
use mcp_proto::model::CacheScope;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::super::catalog::{Page, SortedList};
use super::super::cursor::Listing;
use super::super::keyed::Keyed;
use super::super::prompt::Prompt;
use super::super::resource::{CacheHint, Resource};
use super::super::service::Call;
use super::super::template::Template;
use super::super::tool::Tool;
use super::super::visibility::Visibility;
use super::shown::{is_served, is_shown};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model;

/// Answers a request for a list, of the items that are shown to the caller.
pub(super) fn list<T: Listed>(
    call: Call<'_>,
    sorted: &SortedList<T>,
    list: Listing,
    size: usize,
    hint: CacheHint,
) -> Job {
    let cursor = call.request.subject.map(Str::to_cow);
    let shown = |item: &T| is_shown(item.visibility(), &call) && item.is_served(&call);
    let page = sorted.page(list, cursor.as_deref(), size, shown);
    let restricted = || sorted.iter().any(|item| item.visibility().is_restricted());
    let hint = match hint.scope {
        Some(CacheScope::Public) if restricted() => hint.private(),
        _ => hint,
    };
    match page {
        Some(page) => call.ready(Ok(Result { page, hint })),
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

    fn shown(&self) -> &Self::Shown;

    fn visibility(&self) -> &Visibility;

    /// Whether the revision of the call has such items.
    fn is_served(&self, _: &Call<'_>) -> bool {
        true
    }
}

impl Listed for Tool {
    type Shown = model::Tool;

    const RESULT: (&'static str, &'static str) = ("mcp:ListToolsResult", "tools");

    fn shown(&self) -> &model::Tool {
        &self.listed
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    fn is_served(&self, call: &Call<'_>) -> bool {
        is_served(self, call)
    }
}

impl Listed for Resource {
    type Shown = model::Resource;

    const RESULT: (&'static str, &'static str) = ("mcp:ListResourcesResult", "resources");

    fn shown(&self) -> &model::Resource {
        &self.listed
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }
}

impl Listed for Template {
    type Shown = model::ResourceTemplate;

    const RESULT: (&'static str, &'static str) =
        ("mcp:ListResourceTemplatesResult", "resourceTemplates");

    fn shown(&self) -> &model::ResourceTemplate {
        &self.listed
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }
}

impl Listed for Prompt {
    type Shown = model::Prompt;

    const RESULT: (&'static str, &'static str) = ("mcp:ListPromptsResult", "prompts");

    fn shown(&self) -> &model::Prompt {
        &self.listed
    }

    fn visibility(&self) -> &Visibility {
        &self.visibility
    }
}

/// A page with its hints (CH-01), the same on every page (CH-10).
struct Result<T> {
    page: Page<T>,
    hint: CacheHint,
}

impl<T: Listed> Serialize for Result<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        let (name, items) = T::RESULT;
        let mut result = serializer.serialize_struct(name, 4)?;
        result.serialize_field(items, &Items(&self.page))?;
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

struct Items<'a, T>(&'a Page<T>);

impl<T: Listed> Serialize for Items<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> core::result::Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.items.iter().map(|item| item.shown()))
    }
}
