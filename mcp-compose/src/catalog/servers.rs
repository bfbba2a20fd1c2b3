//! The lists of each server, and what they are together.

use std::sync::Arc;

use mcp_async::model::{Prompt, Resource, ResourceTemplate, Tool};

use super::item::Item;
use super::limits::CatalogLimits;
use super::list_error::ListErrorKind;
use super::merged::merge;
use super::read::ServerList;
use super::view::CatalogView;
use crate::naming::Naming;

/// The servers of a catalog, in their order.
#[derive(Default)]
pub(super) struct Servers(Vec<Server>);

/// The lists of one server, as it sent them.
pub(super) struct Server {
    name: Arc<str>,
    tools: ServerList<Tool>,
    prompts: ServerList<Prompt>,
    resources: ServerList<Resource>,
    resource_templates: ServerList<ResourceTemplate>,
}

/// A type of items with a list of each server, and one of all.
pub(super) trait Kept: Item {
    fn of(server: &mut Server) -> &mut ServerList<Self>;

    /// Merges the lists of all servers anew. A list that does not differ stays the same.
    fn merge(servers: &Servers, naming: &Naming, view: &mut CatalogView);
}

macro_rules! kept {
    ($($item:ty, $list:ident;)*) => {$(
        impl Kept for $item {
            fn of(server: &mut Server) -> &mut ServerList<Self> {
                &mut server.$list
            }

            fn merge(servers: &Servers, naming: &Naming, view: &mut CatalogView) {
                let lists = servers.0.iter().map(|server| (&server.name, &server.$list));
                let merged = merge(naming, lists);
                if merged != *view.$list {
                    view.$list = Arc::new(merged);
                }
            }
        }
    )*};
}

kept! {
    Tool, tools;
    Prompt, prompts;
    Resource, resources;
    ResourceTemplate, resource_templates;
}

impl Servers {
    /// Returns the server of this name, which gets a place if it has none.
    pub(super) fn declare(&mut self, name: &str) -> &mut Server {
        let known = self.0.iter().position(|it| &*it.name == name);
        let index = known.unwrap_or_else(|| {
            self.0.push(Server::new(name));
            self.0.len() - 1
        });
        &mut self.0[index]
    }

    /// Removes the lists of a server, and its place unless it keeps that. Returns whether there was one.
    pub(super) fn remove(&mut self, name: &str, keeps_place: bool) -> bool {
        let known = self.0.iter().position(|it| &*it.name == name);
        known.is_some_and(|index| {
            self.0.remove(index);
            if keeps_place {
                self.0.insert(index, Server::new(name));
            }
            true
        })
    }

    /// Replaces a list of a server. Returns whether it differs from the one before.
    pub(super) fn replace<T: Kept>(
        &mut self,
        name: &str,
        list: ServerList<T>,
        limits: &CatalogLimits,
    ) -> Result<bool, ListErrorKind> {
        let old = T::of(self.declare(name));
        let is_other = *old != list;
        let old = core::mem::replace(old, list);
        let own = self.declare(name);
        let (own_items, own_bytes) = (own.items(), own.bytes());
        let items = self.0.iter().map(Server::items).sum::<usize>();
        let bytes = self.0.iter().map(Server::bytes).sum::<usize>();
        let error = match () {
            () if own_items > limits.items_per_server => {
                ListErrorKind::Items(limits.items_per_server)
            }
            () if own_bytes > limits.bytes_per_server => {
                ListErrorKind::Bytes(limits.bytes_per_server)
            }
            () if items > limits.items => ListErrorKind::Items(limits.items),
            () if bytes > limits.bytes => ListErrorKind::Bytes(limits.bytes),
            () => return Ok(is_other),
        };
        *T::of(self.declare(name)) = old;
        Err(error)
    }
}

impl Server {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            tools: ServerList::default(),
            prompts: ServerList::default(),
            resources: ServerList::default(),
            resource_templates: ServerList::default(),
        }
    }

    const fn items(&self) -> usize {
        let resources = self.resources.items.len() + self.resource_templates.items.len();
        self.tools.items.len() + self.prompts.items.len() + resources
    }

    const fn bytes(&self) -> usize {
        let resources = self.resources.bytes + self.resource_templates.bytes;
        self.tools.bytes + self.prompts.bytes + resources
    }
}
