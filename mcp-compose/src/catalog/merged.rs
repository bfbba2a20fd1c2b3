//! One list of all servers.

use std::collections::HashMap;
use std::sync::Arc;

use super::freshness::Freshness;
use super::item::{CatalogItem, Item};
use super::read::ServerList;
use crate::alias::alias;
use crate::naming::{Collision, Naming};

/// The items of one kind of all servers: in the order of the servers, and of each server's list.
#[derive(Debug, PartialEq)]
pub struct MergedList<T> {
    items: Vec<CatalogItem<T>>,
    /// The positions of the items of an exposed name. Only URIs have several.
    by_name: HashMap<String, Vec<usize>>,
    collisions: Vec<Collision>,
    freshness: Option<Freshness>,
}

impl<T> MergedList<T> {
    /// Returns the items in their order.
    pub fn iter(&self) -> core::slice::Iter<'_, CatalogItem<T>> {
        self.items.iter()
    }

    /// Returns the items as a slice.
    pub fn as_slice(&self) -> &[CatalogItem<T>] {
        &self.items
    }

    /// Returns the item of this exposed name; of several resources with one URI, the first.
    pub fn get(&self, exposed_name: &str) -> Option<&CatalogItem<T>> {
        self.all(exposed_name).next()
    }

    /// Returns all items of this exposed name. Only resources and templates have several, of different servers.
    pub fn all(&self, exposed_name: &str) -> impl Iterator<Item = &CatalogItem<T>> {
        let found = self.by_name.get(exposed_name).into_iter().flatten();
        found.filter_map(|&index| self.items.get(index))
    }

    /// Returns the names and URIs that several items would have.
    pub fn collisions(&self) -> &[Collision] {
        &self.collisions
    }

    /// Returns how long the list stays fresh; `None` if no server has one.
    pub const fn freshness(&self) -> Option<Freshness> {
        self.freshness
    }
}

/// Merges the lists of servers, in their order.
pub(super) fn merge<'l, T: Item>(
    naming: &Naming,
    lists: impl Iterator<Item = (&'l Arc<str>, &'l ServerList<T>)>,
) -> MergedList<T> {
    let mut merged = MergedList::default();
    let mut all = Vec::new();
    for (server, list) in lists {
        all.extend(list.items.iter().map(|item| (server, item)));
        if let Some(freshness) = list.freshness {
            merged.freshness = freshness.merged(merged.freshness);
        }
    }
    let keys: Vec<_> = all
        .iter()
        .map(|(server, item)| (*server, item.key()))
        .collect();
    let names;
    (names, merged.collisions) = match T::IS_NAMED {
        true => naming.assign(&keys),
        false => addresses(&keys, naming.has_aliases()),
    };
    for ((server, item), exposed_name) in all.into_iter().zip(names) {
        let Some(exposed_name) = exposed_name else {
            continue;
        };
        let index = merged.items.len();
        merged
            .by_name
            .entry(exposed_name.clone())
            .or_default()
            .push(index);
        merged.items.push(CatalogItem {
            server: Arc::clone(server),
            exposed_name,
            item: Arc::clone(item),
        });
    }
    merged
}

/// Returns each URI as it is, unless the server listed it before, and the URIs of several items. With aliases, every item after the
/// first of one URI has its alias, if there is one.
fn addresses(
    keys: &[(&Arc<str>, &str)],
    has_aliases: bool,
) -> (Vec<Option<String>>, Vec<Collision>) {
    let mut servers: HashMap<&str, Vec<&Arc<str>>> = HashMap::new();
    let mut collided = Vec::new();
    let mut names = Vec::with_capacity(keys.len());
    for &(server, uri) in keys {
        let known = servers.entry(uri).or_default();
        if known.len() == 1 {
            collided.push(uri);
        }
        let alias = (has_aliases && !known.is_empty()).then(|| alias(server, uri));
        let name = alias.flatten().unwrap_or_else(|| uri.to_owned());
        names.push((!known.contains(&server)).then_some(name));
        known.push(server);
    }
    let collisions = collided.into_iter().map(|uri| Collision {
        name: uri.to_owned(),
        items: servers[uri]
            .iter()
            .map(|&server| (Arc::clone(server), uri.to_owned()))
            .collect(),
    });
    (names, collisions.collect())
}

impl<T> Default for MergedList<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            by_name: HashMap::new(),
            collisions: Vec::new(),
            freshness: None,
        }
    }
}

impl<'l, T> IntoIterator for &'l MergedList<T> {
    type Item = &'l CatalogItem<T>;
    type IntoIter = core::slice::Iter<'l, CatalogItem<T>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
