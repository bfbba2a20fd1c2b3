//! The filter of a subscription.

use mcp_proto::json::EncodeError;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::model::{Meta, SubscriptionFilter};

/// The filter of [`Client::listen`](crate::client::Client::listen): the kinds of notifications that the
/// protocol has, and members that extensions add to them.
///
/// ```
/// use mcp_async::client::ListenFilter;
/// use mcp_async::model::SubscriptionFilter;
///
/// let filter = SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
/// let filter = ListenFilter::from(filter).member("com.example/rooms", &["kitchen"])?;
/// # let _ = filter;
/// # Ok::<(), mcp_async::json::EncodeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListenFilter {
    pub(in crate::client) filter: SubscriptionFilter,
    members: Meta,
}

impl ListenFilter {
    /// Adds a member, or replaces it.
    ///
    /// # Errors
    /// [`EncodeError`] if the value does not serialize to JSON.
    pub fn member<T: Serialize + ?Sized>(
        mut self,
        name: impl Into<String>,
        value: &T,
    ) -> Result<Self, EncodeError> {
        self.members.insert(name, value)?;
        Ok(self)
    }

    pub(in crate::client) fn has_members(&self) -> bool {
        !self.members.is_empty()
    }
}

impl From<SubscriptionFilter> for ListenFilter {
    fn from(filter: SubscriptionFilter) -> Self {
        Self {
            filter,
            members: Meta::new(),
        }
    }
}

/// Only 2026-07-28 has filters.
impl Serialize for ListenFilter {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (name, is_set) in [
            ("toolsListChanged", self.filter.tools_list_changed),
            ("promptsListChanged", self.filter.prompts_list_changed),
            ("resourcesListChanged", self.filter.resources_list_changed),
        ] {
            if is_set {
                map.serialize_entry(name, &true)?;
            }
        }
        let uris = &self.filter.resource_subscriptions;
        if !uris.is_empty() {
            map.serialize_entry("resourceSubscriptions", uris)?;
        }
        for (name, value) in self.members.iter() {
            map.serialize_entry(name, &value)?;
        }
        map.end()
    }
}
