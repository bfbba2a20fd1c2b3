//! The name and version of a peer.

use super::Implementation;

/// Adds the setters of an [`Implementation`] to a builder. `$info` is the path to it from `self`.
#[cfg(any(feature = "client", feature = "server"))]
macro_rules! implementation_setters {
    ($($info:ident).+) => {
        /// Sets the title, which the other side shows to users (since 2025-06-18).
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.$($info).+.title = Some(title.into());
            self
        }

        /// Sets the description (since 2025-11-25).
        pub fn description(mut self, description: impl Into<String>) -> Self {
            self.$($info).+.description = Some(description.into());
            self
        }

        /// Sets the URL of the website (since 2025-11-25).
        pub fn website(mut self, url: impl Into<String>) -> Self {
            self.$($info).+.website_url = Some(url.into());
            self
        }

        /// Adds an icon (since 2025-11-25). The other side shows only those whose source is `https:` or `data:`
        /// ([`Icon::is_acceptable`]($crate::model::Icon::is_acceptable)).
        pub fn icon(mut self, icon: $crate::model::Icon) -> Self {
            self.$($info).+.icons.push(icon);
            self
        }
    };
}
#[cfg(any(feature = "client", feature = "server"))]
pub(crate) use implementation_setters;

impl Implementation {
    /// A name and a version, and nothing else.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            ..Self::default()
        }
    }

    /// The name to show to users: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }
}
