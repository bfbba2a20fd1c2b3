//! Reading a list of one server.

use std::sync::Arc;

use mcp_async::Method;
use mcp_async::client::{CallError, Client, Listed, Page};
use mcp_async::code;
use mcp_async::json::RawBuf;
use mcp_proto::json::Raw;

use super::freshness::Freshness;
use super::item::{Entry, Item};
use super::limits::CatalogLimits;
use super::list_error::ListErrorKind;

/// The items of one list of one server.
#[derive(PartialEq)]
pub(super) struct ServerList<T> {
    pub(super) items: Vec<Arc<T>>,
    /// The bytes of all items as JSON.
    pub(super) bytes: usize,
    /// What the pages say of caching; `None` if none was read.
    pub(super) freshness: Option<Freshness>,
}

impl<T> Default for ServerList<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            bytes: 0,
            freshness: None,
        }
    }
}

impl<T: Item> Listed for Entry<T> {
    const METHOD: Method<'static> = T::METHOD;

    fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
        T::entries(result).map_err(CallError::Decode)
    }
}

/// Reads a list with all its pages. A list that changed while it was read, so that a cursor is not known any more, is
/// read once more.
pub(super) async fn read<T: Item>(
    client: &Client,
    limits: &CatalogLimits,
) -> Result<ServerList<T>, ListErrorKind> {
    match read_once(client, limits).await {
        Err((ListErrorKind::Call(CallError::Server(error)), true))
            if error.code == code::INVALID_PARAMS =>
        {
            read_once(client, limits).await
        }
        read => read,
    }
    .map_err(|(kind, _)| kind)
}

/// Reads a list. An error tells whether there was a page before it.
async fn read_once<T: Item>(
    client: &Client,
    limits: &CatalogLimits,
) -> Result<ServerList<T>, (ListErrorKind, bool)> {
    let mut list = ServerList::<T>::default();
    let mut count = 0;
    let mut pages = client.pages::<Entry<T>>(&()).limit(limits.pages);
    while let Some(entry) = pages.next().await {
        let has_begun = list.freshness.is_some();
        match entry.map_err(|error| (ListErrorKind::Call(error), has_begun))? {
            Entry::Page(freshness) => list.freshness = freshness.merged(list.freshness),
            Entry::Item(item) => {
                // Each of them was JSON before.
                let bytes = RawBuf::encode(&item).map_or(0, |json| json.as_raw().as_bytes().len());
                list.bytes += bytes;
                count += weight(&item);
                list.items.push(Arc::new(item));
            }
        }
        if count > limits.items_per_list {
            return Err((ListErrorKind::Items(limits.items_per_list), has_begun));
        }
        let bytes = limits.bytes.min(limits.bytes_per_server);
        if list.bytes > bytes {
            return Err((ListErrorKind::Bytes(bytes), has_begun));
        }
    }
    Ok(list)
}

/// Returns the number of items that this one counts as: a template is matched with URIs, which takes time for each of its variables.
fn weight<T: Item>(item: &T) -> usize {
    match T::METHOD {
        Method::ResourcesTemplatesList => item.key().matches(['{', ',']).count().max(1),
        _ => 1,
    }
}
