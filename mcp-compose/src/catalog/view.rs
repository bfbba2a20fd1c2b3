//! All lists at one moment.

use std::sync::Arc;

use mcp_async::model::{Prompt, Resource, ResourceTemplate, Tool};
use mcp_async::uri_template::UriTemplate;

use super::item::CatalogItem;
use super::lists::Lists;
use super::merged::MergedList;
use super::search::{Found, Search};

/// The lists of a [`Catalog`](super::Catalog) at one moment.
#[derive(Clone, Debug, Default)]
pub struct CatalogView {
    pub(super) tools: Arc<MergedList<Tool>>,
    pub(super) prompts: Arc<MergedList<Prompt>>,
    pub(super) resources: Arc<MergedList<Resource>>,
    pub(super) resource_templates: Arc<MergedList<ResourceTemplate>>,
}

impl CatalogView {
    /// Returns the tools.
    pub fn tools(&self) -> &MergedList<Tool> {
        &self.tools
    }

    /// Returns the prompts.
    pub fn prompts(&self) -> &MergedList<Prompt> {
        &self.prompts
    }

    /// Returns the resources.
    pub fn resources(&self) -> &MergedList<Resource> {
        &self.resources
    }

    /// Returns the templates of resources.
    pub fn resource_templates(&self) -> &MergedList<ResourceTemplate> {
        &self.resource_templates
    }

    /// Returns the lists that are not the same in both.
    pub(super) fn difference(&self, other: &Self) -> Lists {
        Lists {
            tools: !Arc::ptr_eq(&self.tools, &other.tools),
            prompts: !Arc::ptr_eq(&self.prompts, &other.prompts),
            resources: !Arc::ptr_eq(&self.resources, &other.resources)
                || !Arc::ptr_eq(&self.resource_templates, &other.resource_templates),
        }
    }

    /// Returns the server that answers for a URI: the first that lists it, else the first of which a template matches it.
    pub fn server_of(&self, uri: &str) -> Option<Arc<str>> {
        let listed = self.resources.get(uri).map(|resource| &resource.server);
        let matches = |template: &&CatalogItem<ResourceTemplate>| {
            let parsed = UriTemplate::parse(&template.exposed_name);
            parsed.is_ok_and(|parsed| parsed.matches(uri).is_some())
        };
        let matched = || self.resource_templates.iter().find(matches);
        let server = listed.or_else(|| Some(&matched()?.server));
        server.cloned()
    }

    /// Returns the items that have all these words in their names, titles or descriptions, at most `limit` of them.
    ///
    /// Case does not count, and a word may be a part of a longer one. Items with the words in their names come before those
    /// with the words in titles, and these before the others; of equal ones, those come first that are listed first. Without
    /// words nothing is found.
    pub fn search(&self, words: &str, limit: usize) -> Vec<Found<'_>> {
        let mut search = Search::new(words);
        search.list(&self.tools, Found::Tool);
        search.list(&self.prompts, Found::Prompt);
        search.list(&self.resources, Found::Resource);
        search.list(&self.resource_templates, Found::ResourceTemplate);
        search.best(limit)
    }
}
