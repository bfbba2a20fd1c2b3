//! One page of a list.

use std::sync::Arc;

use mcp_proto::Payload;
use mcp_proto::json::Raw;
use mcp_proto::rpc::Method;

use super::Request;
use super::decode::whole;
use crate::client::state::ask::Ask;
use crate::client::state::inner::Inner;
use crate::error::CallError;
use crate::model::{
    Cursor, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    Prompt, Resource, ResourceTemplate, Tool,
};

/// An item of a list: [`Tool`], [`Prompt`], [`Resource`] and [`ResourceTemplate`], or that of a
/// list of an extension, for [`Client::pages`](crate::client::Client::pages).
pub trait Listed: Sized {
    /// Asks for a page.
    const METHOD: Method<'static>;

    /// Reads the result.
    ///
    /// # Errors
    /// [`CallError::Decode`] for a result that is no page of this list.
    fn page(result: Raw<'_>) -> Result<Page<Self>, CallError>;
}

/// Items, and where the next page begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Page<T> {
    /// The items of this page; it may be empty without being the last one.
    pub items: Vec<T>,
    /// The cursor of the next page; `None` on the last one.
    pub next: Option<Cursor>,
}

macro_rules! listed {
    ($($item:ty, $method:ident, $result:ident, $items:ident;)*) => {$(
        impl Listed for $item {
            const METHOD: Method<'static> = Method::$method;

            fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
                let result: $result = whole(result)?;
                Ok(Page {
                    items: result.$items,
                    next: result.next_cursor,
                })
            }
        }
    )*};
}

listed! {
    Tool, ToolsList, ListToolsResult, tools;
    Prompt, PromptsList, ListPromptsResult, prompts;
    Resource, ResourcesList, ListResourcesResult, resources;
    ResourceTemplate, ResourcesTemplatesList, ListResourceTemplatesResult, resource_templates;
}

impl<'a, T: Listed> Request<'a, Page<T>> {
    /// Requests one page of a list, with these parameters.
    pub(in crate::client) fn list(
        inner: &'a Arc<Inner>,
        params: Option<&'a (dyn Payload + Sync)>,
        cursor: Option<Cursor>,
    ) -> Self {
        let ask = Ask::List {
            method: T::METHOD,
            params,
            cursor,
        };
        Self::new(inner, ask, T::page)
    }
}
