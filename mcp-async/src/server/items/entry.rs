//! The parts that tools, resources, templates and prompts have in common.

use core::fmt;
use std::sync::Arc;

use mcp_proto::server::ListKind;
use serde::Serialize;

use super::item_scopes::ItemScopes;
use super::register_error::{NO_HANDLER, RegisterError};
use crate::server::caller::principal::Principal;

/// The description of an item, and who may see and use it.
#[derive(Clone)]
pub(in crate::server) struct Entry<L> {
    /// The item as its list shows it: key, title, description, icons, `_meta` and the members of its kind.
    pub(in crate::server) listed: L,
    pub(in crate::server) visibility: Visibility,
    pub(in crate::server) scopes: ItemScopes,
}

impl<L> Entry<L> {
    pub(super) fn new(listed: L) -> Self {
        Self {
            listed,
            visibility: Visibility::default(),
            scopes: ItemScopes::default(),
        }
    }

    /// Returns true if not every caller may see and use the item.
    pub(super) const fn is_restricted(&self) -> bool {
        self.visibility.is_restricted() || !self.scopes.is_empty()
    }
}

/// A tool, a resource, a template or a prompt, which a server can register.
pub(in crate::server) trait Registered {
    type Listed: Serialize;

    /// The kind of the item, as errors state it.
    const KIND: &'static str;
    /// The list that changes with the item.
    const LIST: ListKind;
    /// The name of the list's result in the model, and that of the member that holds the items.
    const RESULT: (&'static str, &'static str);

    fn entry(&self) -> &Entry<Self::Listed>;

    /// The key by which the list is sorted and searched.
    fn key(&self) -> &str;

    /// Returns true if this caller sees the item.
    fn shows(&self, caller: Option<&Principal>) -> bool {
        self.entry().visibility.shows(caller)
    }

    /// The item as a server lists it, which has tasks of 2025-11-25 or not.
    fn listed(&self, _core_tasks: bool) -> &Self::Listed {
        &self.entry().listed
    }

    /// Returns true if only the transports draft has such items.
    fn is_drafted(&self) -> bool {
        false
    }

    /// Returns the kind of the item, and its key.
    fn id(&self) -> (&'static str, &str) {
        (Self::KIND, self.key())
    }

    fn error(&self, reason: &dyn fmt::Display) -> RegisterError {
        RegisterError::new(Self::KIND, self.key(), reason)
    }

    /// Fails without a handler, and if one of the scopes is not a scope.
    fn check_entry(&self, has_handler: bool) -> Result<(), RegisterError> {
        if !has_handler {
            return Err(self.error(&NO_HANDLER));
        }
        let scopes = self.entry().scopes.check();
        scopes.map_err(|fault| self.error(&fault))
    }
}

/// A rule over principals that states which callers see an item; by default every caller does.
#[derive(Clone, Default)]
pub(in crate::server) struct Visibility(Option<Arc<Rule>>);

type Rule = dyn Fn(Option<&Principal>) -> bool + Send + Sync;

impl Visibility {
    pub(super) fn new(rule: impl Fn(Option<&Principal>) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(rule)))
    }

    pub(in crate::server) fn shows(&self, caller: Option<&Principal>) -> bool {
        self.0.as_ref().is_none_or(|rule| rule(caller))
    }

    /// Returns true if callers may differ in whether they see the item.
    pub(super) const fn is_restricted(&self) -> bool {
        self.0.is_some()
    }
}

/// Adds the setters of the entry to an item, and its conversions. `$hidden` states what a caller meets who does not see the item.
macro_rules! item {
    ($item:ident, hidden: $hidden:literal) => {
        impl<S> $item<S> {
            /// Sets the title, which clients show to users.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.entry.listed.title = Some(title.into());
                self
            }

            /// Sets the description for the model.
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.entry.listed.description = Some(description.into());
                self
            }

            /// Adds an icon. Clients show only those whose source is `https:` or `data:`
            /// ([`Icon::is_acceptable`]($crate::model::Icon::is_acceptable)).
            pub fn icon(mut self, icon: $crate::model::Icon) -> Self {
                self.entry.listed.icons.push(icon);
                self
            }

            /// Sets `_meta`: members under names with a prefix of your own.
            pub fn meta(mut self, meta: $crate::model::Meta) -> Self {
                self.entry.listed.meta = meta;
                self
            }

            /// Shows it to those callers only for which `rule` returns `true`; the argument is the verified sender, if there is
            #[doc = concat!("one. To the others it does not exist: ", $hidden)]
            /// The rule must be quick: it is asked for each list, each use and each notification.
            pub fn visible_to(
                mut self,
                rule: impl Fn(Option<&$crate::server::Principal>) -> bool + Send + Sync + 'static,
            ) -> Self {
                self.entry.visibility = $crate::server::items::entry::Visibility::new(rule);
                self
            }

            /// Sets the scopes that a token needs for it, in addition to those that every token needs: see
            /// [`Http::protect`](crate::http::Http::protect). A request without them is answered with 403, before anything
            /// of it runs; the challenge names all scopes that the request needs. On standard streams nothing is needed. A
            /// second call replaces the scopes of the first.
            #[cfg(all(feature = "auth", feature = "http-server"))]
            pub fn scopes<T: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
                self.entry.scopes = $crate::server::items::item_scopes::ItemScopes::new(scopes);
                self
            }
        }

        impl<S> From<$item<S>> for $crate::server::Item<S> {
            fn from(item: $item<S>) -> Self {
                Self::$item(Box::new(item))
            }
        }

        impl<S> core::fmt::Debug for $item<S> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($item))
                    .field("listed", &self.entry.listed)
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(super) use item;
