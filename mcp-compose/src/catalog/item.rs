//! The items of lists.

use std::sync::Arc;

use mcp_async::client::{Listed, Page};
use mcp_async::model::{
    CacheScope, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, Meta, Prompt, Resource, ResourceTemplate, Tool,
};
use mcp_proto::json::{DecodeError, Raw};
use serde::Serialize;

use super::merged::{Freshness, MergedList};
use super::read::{Entry, ServerList};
use super::{CatalogView, Lists, Server};

/// An item of a merged list, with its server.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CatalogItem<T> {
    /// The server that listed it, by the name that the program gave it.
    pub server: Arc<str>,
    /// The key in the merged list: of tools and prompts a name by the [`Naming`](crate::Naming), of resources the URI, of
    /// templates the template.
    pub exposed_name: String,
    /// The item as the server listed it, with its name there.
    pub item: Arc<T>,
}

/// A type of items that servers list.
pub(super) trait Item:
    Listed + Clone + PartialEq + Serialize + Send + Sync + 'static
{
    /// The lists whose change is that of this list.
    const LISTS: Lists;
    /// True if items have names that are exposed; false if they have URIs, which stay.
    const IS_NAMED: bool;

    /// The name or the URI.
    fn key(&self) -> &str;
    fn display_name(&self) -> &str;
    fn description(&self) -> Option<&str>;
    fn meta(&self) -> &Meta;

    /// Reads a page: its items, after what it says of caching.
    fn entries(result: Raw<'_>) -> Result<Page<Entry<Self>>, DecodeError>;

    fn of(server: &Server) -> &ServerList<Self>;
    fn of_mut(server: &mut Server) -> &mut ServerList<Self>;
    fn merged_mut(view: &mut CatalogView) -> &mut Arc<MergedList<Self>>;
}

macro_rules! items {
    ($($item:ty, $key:ident, $is_named:literal, $lists:ident, $result:ident, $list:ident;)*) => {$(
        impl Item for $item {
            const LISTS: Lists = Lists::$lists;
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
                let scope = page.cache_scope.unwrap_or(CacheScope::Private);
                let begin = Entry::Page(Freshness::new(page.ttl_ms, scope));
                let items = page.$list.into_iter().map(Entry::Item);
                Ok(Page {
                    items: [begin].into_iter().chain(items).collect(),
                    next: page.next_cursor,
                })
            }

            fn of(server: &Server) -> &ServerList<Self> {
                &server.$list
            }

            fn of_mut(server: &mut Server) -> &mut ServerList<Self> {
                &mut server.$list
            }

            fn merged_mut(view: &mut CatalogView) -> &mut Arc<MergedList<Self>> {
                &mut view.$list
            }
        }
    )*};
}

items! {
    Tool, name, true, TOOLS, ListToolsResult, tools;
    Prompt, name, true, PROMPTS, ListPromptsResult, prompts;
    Resource, uri, false, RESOURCES, ListResourcesResult, resources;
    ResourceTemplate, uri_template, false, RESOURCES, ListResourceTemplatesResult, resource_templates;
}
