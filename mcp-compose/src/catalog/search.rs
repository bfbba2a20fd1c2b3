//! The search over names, titles and descriptions.

use mcp_async::model::{Prompt, Resource, ResourceTemplate, Tool};

use super::item::{CatalogItem, Item};
use super::merged::MergedList;

/// An item that a search found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Found<'c> {
    /// A tool.
    Tool(&'c CatalogItem<Tool>),
    /// A prompt.
    Prompt(&'c CatalogItem<Prompt>),
    /// A resource.
    Resource(&'c CatalogItem<Resource>),
    /// A template of resources.
    ResourceTemplate(&'c CatalogItem<ResourceTemplate>),
}

impl Found<'_> {
    /// Returns the exposed name of the item.
    pub fn exposed_name(&self) -> &str {
        match self {
            Self::Tool(item) => &item.exposed_name,
            Self::Prompt(item) => &item.exposed_name,
            Self::Resource(item) => &item.exposed_name,
            Self::ResourceTemplate(item) => &item.exposed_name,
        }
    }
}

/// A search for items that have all of some words.
pub(super) struct Search<'c> {
    words: Vec<String>,
    /// The items, with their distance from a perfect one.
    found: Vec<(usize, Found<'c>)>,
}

impl<'c> Search<'c> {
    pub(super) fn new(words: &str) -> Self {
        let words = words.split_whitespace().map(str::to_lowercase).collect();
        let found = Vec::new();
        Self { words, found }
    }

    /// Adds the items of a list that have all words.
    pub(super) fn list<T: Item>(
        &mut self,
        list: &'c MergedList<T>,
        found: fn(&'c CatalogItem<T>) -> Found<'c>,
    ) {
        for it in list.iter().filter(|_| !self.words.is_empty()) {
            let description = it.item.description().unwrap_or_default();
            let texts = [&*it.exposed_name, it.item.display_name(), description];
            let texts = texts.map(str::to_lowercase);
            let place = |word: &String| texts.iter().position(|text| text.contains(&**word));
            if let Some(distance) = self.words.iter().map(place).sum::<Option<usize>>() {
                self.found.push((distance, found(it)));
            }
        }
    }

    /// Returns the best ones; of equal ones, the first.
    pub(super) fn best(mut self, limit: usize) -> Vec<Found<'c>> {
        self.found.sort_by_key(|(distance, _)| *distance);
        self.found
            .into_iter()
            .take(limit)
            .map(|(_, found)| found)
            .collect()
    }
}
