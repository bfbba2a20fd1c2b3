//! The error of something that cannot be served.

use core::fmt;

/// The reason for which an item or a setting cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterError {
    kind: &'static str,
    name: String,
    reason: String,
}

impl RegisterError {
    /// The kind of the item: `tool`, `resource`, `template`, `prompt`, `extension`, `method`,
    /// `notification`, `filter`, `capability` or `setting`.
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    /// Its name, URI or template.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(in crate::server) fn new(
        kind: &'static str,
        name: &str,
        reason: &dyn fmt::Display,
    ) -> Self {
        Self {
            kind,
            name: name.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// A setting of a builder that is zero, and then has no meaning.
    pub(crate) fn zero(name: &str) -> Self {
        Self::setting(name, &"it is zero")
    }

    /// A mistake in a setting of a builder.
    pub(crate) fn setting(name: &str, reason: &dyn fmt::Display) -> Self {
        Self::new("setting", name, reason)
    }

    pub(in crate::server) fn settings(name: &str) -> Self {
        Self::new("capability", name, &"its settings are no JSON object")
    }
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`: {}", self.kind, self.name, self.reason)
    }
}

impl core::error::Error for RegisterError {}

pub(in crate::server) const NO_HANDLER: &str = "no handler";
pub(in crate::server) const TWICE: &str = "it is registered twice";
