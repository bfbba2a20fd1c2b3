//! The settings that tools, prompts, resources and templates have in common.

/// Adds the setters to an item with the fields `listed`, `visibility` and `scopes`. `$hidden` states what a caller meets who does not
/// see the item.
macro_rules! item_settings {
    ($item:ident, hidden: $hidden:literal) => {
        impl<S> $item<S> {
            /// Sets the title, which clients show to users.
            pub fn title(mut self, title: impl Into<String>) -> Self {
                self.listed.title = Some(title.into());
                self
            }

            /// Sets the description for the model.
            pub fn description(mut self, description: impl Into<String>) -> Self {
                self.listed.description = Some(description.into());
                self
            }

            /// Adds an icon: its source is `https:` or `data:`.
            pub fn icon(mut self, icon: $crate::model::Icon) -> Self {
                self.listed.icons.push(icon);
                self
            }

            /// Sets `_meta`: members under names with a prefix of your own.
            pub fn meta(mut self, meta: $crate::model::Meta) -> Self {
                self.listed.meta = meta;
                self
            }

            /// Shows it to those callers only for which `rule` returns `true`; the argument is the verified sender, if there is
            #[doc = concat!("one. To the others it does not exist: ", $hidden)]
            /// The rule must be quick: it is asked for each list, each use and each notification.
            pub fn visible_to(
                mut self,
                rule: impl Fn(Option<&$crate::server::Principal>) -> bool + Send + Sync + 'static,
            ) -> Self {
                self.visibility = $crate::server::items::visibility::Visibility::new(rule);
                self
            }

            /// Sets the scopes that a token needs for it, in addition to those that every token needs: see
            /// [`Http::protect`](crate::http::Http::protect). A request without them is answered with 403, before anything
            /// of it runs; the challenge names all scopes that the request needs. On standard streams nothing is needed. A
            /// second call replaces the scopes of the first.
            #[cfg(all(feature = "auth", feature = "http-server"))]
            pub fn scopes<T: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
                self.scopes = $crate::server::items::item_scopes::ItemScopes::new(scopes);
                self
            }
        }
    };
}
pub(super) use item_settings;
