//! The items of lists.

use std::sync::Arc;

use mcp_async::client::{Listed, Page};
use mcp_async::model::{
    ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, Meta,
    Prompt, Resource, ResourceTemplate, Tool,
};
use mcp_proto::json::{DecodeError, Raw};
use serde::Serialize;

use super::freshness::Freshness;

/// An item of a merged list, with its server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CatalogItem<T> {
    /// The server that listed it, by the name that the program gave it.
    pub server: Arc<str>,
    /// The key in the merged list: of tools and prompts a name by the [`Naming`](crate::Naming), of resources the URI, of
    /// templates the template; in a [`Proxy`](crate::Proxy) an alias if another server lists the same one before.
    pub exposed_name: String,
    /// The item as the server listed it, with its name there.
    pub item: Arc<T>,
}

/// A type of items that servers list.
pub(super) trait Item:
    Listed + Clone + PartialEq + Serialize + Send + Sync + 'static
{
    /// True if items have names that are exposed; false if they have URIs, which stay.
    const IS_NAMED: bool;

    /// The name or the URI.
    fn key(&self) -> &str;
    fn display_name(&self) -> &str;
    fn description(&self) -> Option<&str>;
    fn meta(&self) -> &Meta;

    /// Reads a page: its items, after what it says of caching.
    fn entries(result: Raw<'_>) -> Result<Page<Entry<Self>>, DecodeError>;
}

/// An entry of a list that is read: each page begins with what it says of caching.
pub(super) enum Entry<T> {
    Page(Freshness),
    Item(T),
}

macro_rules! items {
    ($($item:ty, $key:ident, $is_named:literal, $result:ident, $list:ident;)*) => {$(
        impl Item for $item {
            const IS_NAMED: bool = $is_named;

            fn key(&self) -> &str {
                &self.$key
            }

            fn display_name(&self) -> &str {
                self.display_name()
            }

            fn description(&self) -> Option<&str> {
                self.description.as_deref()
            }

            fn meta(&self) -> &Meta {
                &self.meta
            }

            fn entries(result: Raw<'_>) -> Result<Page<Entry<Self>>, DecodeError> {
                let page: $result = result.decode(&mut [])?;
                let begin = Entry::Page(Freshness::new(page.ttl_ms, page.cache_scope));
                let items = page.$list.into_iter().map(Entry::Item);
                Ok(Page {
                    items: [begin].into_iter().chain(items).collect(),
                    next: page.next_cursor,
                })
            }
        }
    )*};
}

items! {
    Tool, name, true, ListToolsResult, tools;
    Prompt, name, true, ListPromptsResult, prompts;
    Resource, uri, false, ListResourcesResult, resources;
    ResourceTemplate, uri_template, false, ListResourceTemplatesResult, resource_templates;
}
