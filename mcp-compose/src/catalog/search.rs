//! The search over names, titles and descriptions.

use mcp_async::model::{Prompt, Resource, ResourceTemplate, Tool};

use super::item::Item;
use super::{CatalogItem, CatalogView, MergedList};

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

pub(super) fn search<'c>(view: &'c CatalogView, words: &str, limit: usize) -> Vec<Found<'c>> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut found = Vec::new();
    if !words.is_empty() {
        find(view.tools(), &words, Found::Tool, &mut found);
        find(view.prompts(), &words, Found::Prompt, &mut found);
        find(view.resources(), &words, Found::Resource, &mut found);
        find(
            view.resource_templates(),
            &words,
            Found::ResourceTemplate,
            &mut found,
        );
    }
    // It is stable.
    found.sort_by_key(|(distance, _)| *distance);
    found.truncate(limit);
    found.into_iter().map(|(_, found)| found).collect()
}

/// Adds the items that have all words, with their distance from a perfect one.
fn find<'c, T: Item>(
    list: &'c MergedList<T>,
    words: &[String],
    found_as: fn(&'c CatalogItem<T>) -> Found<'c>,
    found: &mut Vec<(usize, Found<'c>)>,
) {
    for it in list {
        let item = &*it.item;
        let texts = [
            &*it.exposed_name,
            item.display_name(),
            item.description().unwrap_or_default(),
        ];
        let texts = texts.map(str::to_lowercase);
        let places = words
            .iter()
            .map(|word| texts.iter().position(|text| text.contains(&**word)));
        if let Some(distance) = places.sum::<Option<usize>>() {
            found.push((distance, found_as(it)));
        }
    }
}
