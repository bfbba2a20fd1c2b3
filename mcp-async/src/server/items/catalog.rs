//! The registered items of a server, in order.

use std::sync::Arc;

use mcp_proto::server::ListKind;

use super::entry::{Entry, Registered, Visibility};
use super::item::Item;
use super::prompt::Prompt;
use super::register_error::{RegisterError, TWICE};
use super::resource::{CacheHint, Resource};
use super::template::Template;
use super::tool::Tool;
use crate::cursor;
use crate::server::caller::principal::Principal;
use crate::uri_template::Captures;

/// Everything that is registered.
#[derive(Clone, Default)]
pub(in crate::server) struct Catalog {
    pub(in crate::server) tools: SortedList<Tool>,
    pub(in crate::server) resources: SortedList<Resource>,
    pub(in crate::server) templates: SortedList<Template>,
    pub(in crate::server) prompts: SortedList<Prompt>,
    /// The number of templates that were registered.
    order: u64,
    /// The time for which each list may be cached, if it is not that of the server.
    hints: Vec<(ListKind, CacheHint)>,
}

impl Catalog {
    /// Returns the time for which a list may be cached.
    pub(in crate::server) fn hint(&self, list: ListKind, of_server: CacheHint) -> CacheHint {
        let own = self.hints.iter().find(|(kind, _)| *kind == list);
        own.map_or(of_server, |(_, hint)| *hint)
    }

    pub(in crate::server) fn set_hint(&mut self, list: ListKind, hint: CacheHint) {
        self.hints.retain(|(kind, _)| *kind != list);
        self.hints.push((list, hint));
    }

    /// Returns true if an item of this kind and key is registered.
    pub(in crate::server) fn holds(&self, item: &Item) -> bool {
        match item {
            Item::Tool(tool) => self.tools.find(tool.key()).is_some(),
            Item::Resource(resource) => self.resources.find(resource.key()).is_some(),
            Item::Template(template) => self.templates.find(template.key()).is_some(),
            Item::Prompt(prompt) => self.prompts.find(prompt.key()).is_some(),
        }
    }

    /// Registers an item, if it can be served, or with `draft` if the transports draft could;
    /// says which list has changed, and for whom.
    pub(in crate::server) fn add(
        &mut self,
        item: Item,
        draft: bool,
    ) -> Result<Change, RegisterError> {
        match item {
            Item::Tool(mut tool) => {
                tool.prepare()?;
                if !draft {
                    tool.published()?;
                }
                Ok(self.tools.insert(*tool))
            }
            Item::Resource(resource) => {
                resource.check()?;
                Ok(self.resources.insert(*resource))
            }
            Item::Template(mut template) => {
                template.check()?;
                template.order = self.order;
                self.order = self.order.saturating_add(1);
                Ok(self.templates.insert(*template))
            }
            Item::Prompt(prompt) => {
                prompt.check()?;
                Ok(self.prompts.insert(*prompt))
            }
        }
    }

    /// Adds the items of another server, the names of its tools and prompts behind this prefix. What cannot be added is a mistake.
    pub(in crate::server) fn merge(
        &mut self,
        other: Self,
        prefix: &str,
        mistakes: &mut Vec<RegisterError>,
    ) {
        for tool in other.tools.0 {
            let tool = tool.renamed(format!("{prefix}{}", tool.key()));
            mistakes.extend(tool.check_name().err());
            self.tools.merge(tool, mistakes);
        }
        for prompt in other.prompts.0 {
            let prompt = prompt.renamed(format!("{prefix}{}", prompt.key()));
            self.prompts.merge(prompt, mistakes);
        }
        for resource in other.resources.0 {
            self.resources.merge(resource, mistakes);
        }
        let mut templates = other.templates.0;
        templates.sort_by_key(|template| template.order);
        for template in templates {
            let template = template.behind(self.order);
            self.order = self.order.saturating_add(1);
            self.templates.merge(template, mistakes);
        }
    }

    /// The template that the URI is of, as this caller sees them: of several the one that was
    /// registered first.
    pub(in crate::server) fn template_of(
        &self,
        uri: &str,
        caller: Option<&Principal>,
    ) -> Option<(Arc<Template>, Captures)> {
        let matching = self.templates.all_shown("", caller).filter_map(|template| {
            let captures = template.matches(uri)?;
            Some((Arc::clone(template), captures))
        });
        matching.min_by_key(|(template, _)| template.order)
    }

    /// Returns true if this caller may learn that the resource at this URI has changed: it is not
    /// hidden from the caller.
    pub(in crate::server) fn shows_resource(&self, uri: &str, caller: Option<&Principal>) -> bool {
        let resource = self.resources.find(uri);
        let mut matching = self
            .templates
            .iter()
            .filter(|template| template.matches(uri).is_some())
            .peekable();
        let is_known = resource.is_some() || matching.peek().is_some();
        let is_shown = resource.is_some_and(|resource| resource.shows(caller))
            || matching.any(|template| template.shows(caller));
        is_shown || !is_known
    }

    /// Returns true if any resource is hidden from some callers.
    pub(in crate::server) fn restricts_resources(&self) -> bool {
        self.resources.is_restricted() || self.templates.is_restricted()
    }

    /// Returns true if some items need scopes.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(in crate::server) fn has_scopes(&self) -> bool {
        self.tools.any(|entry| !entry.scopes.is_empty())
            || self.resources.any(|entry| !entry.scopes.is_empty())
            || self.templates.any(|entry| !entry.scopes.is_empty())
            || self.prompts.any(|entry| !entry.scopes.is_empty())
    }

    /// Returns true if any argument or variable is completed (CP-01).
    pub(in crate::server) fn completes(&self) -> bool {
        let mut prompts = self.prompts.iter();
        let mut templates = self.templates.iter();
        prompts.any(|prompt| !prompt.completers.is_empty())
            || templates.any(|template| !template.completers.is_empty())
    }
}

/// A list that has changed.
pub(in crate::server) struct Change {
    pub(in crate::server) kind: ListKind,
    /// The visibility of the item that was added or removed; `before` is that of the item that was
    /// replaced.
    seen: Visibility,
    before: Option<Visibility>,
}

impl Change {
    /// Returns true if the list of this caller has changed.
    pub(in crate::server) fn concerns(&self, caller: Option<&Principal>) -> bool {
        let before = self.before.as_ref();
        self.seen.shows(caller) || before.is_some_and(|before| before.shows(caller))
    }
}

/// Items in the order of their keys, so that every process lists them alike (TL-04) and a page
/// begins after the last key of the previous one, whatever was added or removed since (PN-05).
pub(in crate::server) struct SortedList<T>(Vec<Arc<T>>);

/// A part of a list.
pub(in crate::server) struct Page<T> {
    pub(in crate::server) items: Vec<Arc<T>>,
    pub(in crate::server) next: Option<String>,
}

impl<T: Registered> SortedList<T> {
    /// Adds an item, unless there is one with the same key, which is a mistake.
    fn merge(&mut self, item: impl Into<Arc<T>>, mistakes: &mut Vec<RegisterError>) {
        let item = item.into();
        match self.find(item.key()) {
            Some(_) => mistakes.push(item.error(&TWICE)),
            None => drop(self.insert(item)),
        }
    }

    /// Adds an item, in place of one with the same key.
    fn insert(&mut self, item: impl Into<Arc<T>>) -> Change {
        let item = item.into();
        let seen = item.entry().visibility.clone();
        let replaced = match self.position(item.key()) {
            Ok(at) => {
                let place = self.0.get_mut(at);
                place.map(|place| core::mem::replace(place, item))
            }
            Err(at) => {
                self.0.insert(at, item);
                None
            }
        };
        Change {
            kind: T::LIST,
            seen,
            before: replaced.map(|item| item.entry().visibility.clone()),
        }
    }

    /// Takes an item away, if there is one.
    pub(in crate::server) fn remove(&mut self, key: &str) -> Option<Change> {
        let at = self.position(key).ok()?;
        Some(Change {
            kind: T::LIST,
            seen: self.0.remove(at).entry().visibility.clone(),
            before: None,
        })
    }

    pub(in crate::server) fn find(&self, key: &str) -> Option<&Arc<T>> {
        self.0.get(self.position(key).ok()?)
    }

    /// The item with this key, if the caller sees it.
    pub(in crate::server) fn shown(
        &self,
        key: &str,
        caller: Option<&Principal>,
    ) -> Option<&Arc<T>> {
        self.find(key).filter(|item| item.shows(caller))
    }

    /// The items that the caller sees, of those whose keys begin with this text.
    pub(in crate::server) fn all_shown(
        &self,
        prefix: &str,
        caller: Option<&Principal>,
    ) -> impl Iterator<Item = &Arc<T>> {
        let with_prefix = self
            .iter()
            .filter(move |item| item.key().starts_with(prefix));
        with_prefix.filter(move |item| item.shows(caller))
    }

    /// Returns true if callers may differ in whether they see an item.
    pub(in crate::server) fn is_restricted(&self) -> bool {
        self.any(|entry| entry.visibility.is_restricted())
    }

    /// Returns true if an entry meets the condition.
    fn any(&self, is: impl Fn(&Entry<T::Listed>) -> bool) -> bool {
        self.iter().any(|item| is(item.entry()))
    }

    pub(in crate::server) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.0.iter()
    }

    pub(in crate::server) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The page behind a cursor, of the items that are shown; `None` for a cursor that is not of
    /// this list.
    pub(in crate::server) fn page(
        &self,
        list: &str,
        cursor: Option<&str>,
        size: usize,
        shown: impl Fn(&T) -> bool,
    ) -> Option<Page<T>> {
        let start = match cursor {
            None => 0,
            Some(cursor) => match self.position(&cursor::read(list, cursor)?) {
                Ok(at) => at.saturating_add(1),
                Err(at) => at,
            },
        };
        let rest = self.0.get(start..).unwrap_or_default();
        let mut shown = rest.iter().filter(|item| shown(item));
        let mut items = Vec::with_capacity(rest.len().min(size));
        items.extend(shown.by_ref().take(size).cloned());
        let last = items.last().filter(|_| shown.next().is_some());
        let next = last.map(|last| cursor::after(list, last.key()));
        Some(Page { items, next })
    }

    fn position(&self, key: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|item| item.key().cmp(key))
    }
}

impl<T> Clone for SortedList<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Default for SortedList<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(names: &[&str]) -> SortedList<Prompt> {
        let mut sorted = SortedList::default();
        for name in names {
            sorted.insert(Prompt::new(*name));
        }
        sorted
    }

    /// The keys of a page, and where the next begins.
    fn page(sorted: &SortedList<Prompt>, cursor: Option<&str>) -> (String, Option<String>) {
        let page = sorted.page("tools", cursor, 2, |_| true).unwrap();
        let keys: Vec<&str> = page.items.iter().map(|item| item.key()).collect();
        (keys.concat(), page.next)
    }

    #[test]
    fn a_walk_sees_what_is_there_throughout_once() {
        let mut sorted = sorted(&["e", "b", "d", "a", "c", "b"]);
        let (keys, next) = page(&sorted, None);
        assert_eq!(keys, "ab");
        sorted.remove("b");
        sorted.insert(Prompt::new("aa"));
        sorted.insert(Prompt::new("cc"));
        let (keys, next) = page(&sorted, next.as_deref());
        assert_eq!(keys, "ccc");
        let (keys, next) = page(&sorted, next.as_deref());
        assert_eq!((keys.as_str(), next), ("de", None));
    }

    #[test]
    fn the_last_page_may_be_empty() {
        let mut sorted = sorted(&["a", "b", "c"]);
        let (_, next) = page(&sorted, None);
        assert!(sorted.remove("c").is_some());
        assert!(sorted.remove("c").is_none());
        assert_eq!(page(&sorted, next.as_deref()), (String::new(), None));
    }

    #[test]
    fn pages_end_where_the_list_does() {
        for count in 0..6 {
            let names: Vec<String> = (0..count).map(|n| n.to_string()).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let sorted = sorted(&names);
            let (mut all, mut cursor) = page(&sorted, None);
            let mut pages = 1;
            while let Some(next) = cursor {
                let more;
                (more, cursor) = page(&sorted, Some(&next));
                all += &more;
                pages += 1;
            }
            assert_eq!(all, names.concat());
            assert_eq!(pages, usize::max(1, names.len().div_ceil(2)));
        }
        let sorted = sorted(&["a"]);
        let page = sorted.page("tools", Some("a"), 2, |_| true);
        assert!(page.is_none());
    }

    #[test]
    fn what_is_not_shown_counts_on_no_page() {
        let sorted = sorted(&["a", "b", "c", "d", "e"]);
        let odd = |item: &Prompt| !matches!(item.key(), "b" | "e");
        let page = |cursor| sorted.page("tools", cursor, 2, odd).unwrap();
        let keys =
            |page: &Page<Prompt>| -> String { page.items.iter().map(|it| it.key()).collect() };
        let first = page(None);
        assert_eq!(keys(&first), "ac");
        let second = page(first.next.as_deref());
        assert_eq!((&*keys(&second), second.next), ("d", None));
    }
}
