//! The rule that states which callers see a skill.

use std::sync::Arc;

use mcp_async::server::Principal;

/// A rule over principals; by default every caller sees the skill.
#[derive(Clone, Default)]
pub(crate) struct Visibility(Option<Arc<Rule>>);

type Rule = dyn Fn(Option<&Principal>) -> bool + Send + Sync;

impl Visibility {
    pub(crate) fn new(rule: impl Fn(Option<&Principal>) -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(rule)))
    }

    /// Returns true if this caller sees the skill.
    pub(crate) fn shows(&self, caller: Option<&Principal>) -> bool {
        self.0.as_ref().is_none_or(|rule| rule(caller))
    }

    /// Returns true if callers may differ in whether they see the skill.
    pub(crate) const fn is_restricted(&self) -> bool {
        self.0.is_some()
    }
}
