//! The subscriptions of a client, in both eras.

use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::rpc::{Method, Notification};

use super::queue::{self, Queue};
use crate::model::SubscriptionFilter;
use crate::sync::Waiter;

/// A change that a server notifies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed, or that of templates.
    Resources,
    /// A resource changed: the one that was subscribed to, or a part of it.
    Resource(String),
    /// Another notification, of an extension of this client; its parameters
    /// are the empty object if it has none.
    Notification {
        /// Its method.
        method: String,
        /// Its parameters, an object.
        params: RawBuf,
    },
    /// The connection, the session or, over HTTP, the stream of this subscription was lost and
    /// another has taken its place: whatever changed meanwhile was not told. A connection
    /// is followed by another only with a [`RestartPolicy`](crate::client::RestartPolicy).
    Reconnected,
}

/// An entry of a subscription's queue.
#[derive(Debug)]
pub(in crate::client) enum SubscriptionEvent {
    /// The server acknowledged it: this is what it will tell, and the same with the members
    /// of extensions.
    Honoured(SubscriptionFilter, RawBuf),
    Update(Update),
}

pub(in crate::client) type SubscriptionQueue = Queue<SubscriptionEvent>;

#[derive(Default)]
pub(in crate::client) struct Subscriptions {
    last: u64,
    subscriptions: Vec<SubscriptionEntry>,
    /// The resources that are subscribed at a legacy server, and how many subscriptions need each.
    uris: HashMap<String, usize>,
    /// Resources that no subscription needs any more, until the server is notified.
    owed: Vec<String>,
    /// The lists whose changes no subscription has read.
    missed: SubscriptionFilter,
    waker: Waiter,
}

struct SubscriptionEntry {
    tag: u64,
    filter: SubscriptionFilter,
    queue: Arc<SubscriptionQueue>,
}

impl Subscriptions {
    /// Adds a subscription under a number of its own.
    pub(in crate::client) fn add(
        &mut self,
        filter: SubscriptionFilter,
        queue: Arc<SubscriptionQueue>,
    ) -> u64 {
        // Zero is the tag of everything else.
        self.last += 1;
        self.subscriptions.push(SubscriptionEntry {
            tag: self.last,
            filter,
            queue,
        });
        self.last
    }

    /// Returns the changes of lists that a subscription begins with: no other one has read them.
    pub(in crate::client) fn take_missed(&mut self, filter: &SubscriptionFilter) -> Vec<Update> {
        let mut lists = vec![Update::Tools, Update::Prompts, Update::Resources];
        lists.retain(|list| list.is_wanted(filter) && list.is_wanted(&self.missed));
        for list in &lists {
            list.set_missed(&mut self.missed, false);
        }
        lists
    }

    /// Removes a subscription. The next one begins with the changes of lists that this one has not
    /// read, so that none is lost if it could not begin.
    pub(in crate::client) fn remove(&mut self, tag: u64) -> Option<Arc<SubscriptionQueue>> {
        let index = self
            .subscriptions
            .iter()
            .position(|entry| entry.tag == tag)?;
        let queue = self.subscriptions.swap_remove(index).queue;
        let cx = &Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(event)) = queue.poll_next(cx) {
            if let SubscriptionEvent::Update(update) = event {
                self.note_missed(&update);
            }
        }
        Some(queue)
    }

    /// Keeps the change of a list for the next subscription if none wants to know it now.
    fn note_missed(&mut self, update: &Update) {
        let mut subscriptions = self.subscriptions.iter();
        if !subscriptions.any(|entry| update.is_wanted(&entry.filter)) {
            update.set_missed(&mut self.missed, true);
        }
    }

    pub(in crate::client) fn queue(&self, tag: u64) -> Option<Arc<SubscriptionQueue>> {
        let entry = self.subscriptions.iter().find(|entry| entry.tag == tag)?;
        Some(Arc::clone(&entry.queue))
    }

    pub(in crate::client) fn queues(&self) -> Vec<Arc<SubscriptionQueue>> {
        let queues = self
            .subscriptions
            .iter()
            .map(|entry| Arc::clone(&entry.queue));
        queues.collect()
    }

    /// Returns the queues that receive an update: that of the subscription that it was sent to (ST-14), or
    /// in a legacy session those of all subscriptions to such a change.
    pub(super) fn interested(
        &mut self,
        update: &Update,
        tag: Option<u64>,
    ) -> Vec<Arc<SubscriptionQueue>> {
        let wants = |entry: &&SubscriptionEntry| match tag {
            Some(tag) => entry.tag == tag,
            None => update.is_wanted(&entry.filter),
        };
        let queues = self.subscriptions.iter().filter(wants);
        let queues = Vec::from_iter(queues.map(|entry| Arc::clone(&entry.queue)));
        if tag.is_none() {
            self.note_missed(update);
        }
        queues
    }

    /// Counts one more need for a resource of a legacy server.
    pub(in crate::client) fn need(&mut self, uri: &str) {
        if let Some(count) = self.uris.get_mut(uri) {
            *count += 1;
            return;
        }
        self.uris.insert(uri.to_owned(), 1);
        // It was not told yet that the last need has gone.
        self.owed.retain(|owed| owed != uri);
    }

    /// Returns true if a resource of a legacy server is needed.
    pub(in crate::client) fn is_needed(&self, uri: &str) -> bool {
        self.uris.contains_key(uri)
    }

    /// Removes one need; the last one unsubscribes at the server.
    pub(in crate::client) fn release(&mut self, uri: &str) -> Option<Waiter> {
        let count = self.uris.get_mut(uri)?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        let (uri, _) = self.uris.remove_entry(uri)?;
        self.owed.push(uri);
        Some(self.waker.take())
    }

    /// Returns the URIs to subscribe to on a new connection (SB-10), and discards the requests that
    /// were owed to the old one.
    pub(in crate::client) fn restore(&mut self) -> Vec<String> {
        self.owed.clear();
        self.uris.keys().cloned().collect()
    }

    pub(in crate::client) fn poll_owed(&mut self, cx: &Context<'_>) -> Poll<String> {
        match self.owed.pop() {
            Some(uri) => Poll::Ready(uri),
            None => {
                self.waker.register(cx);
                Poll::Pending
            }
        }
    }
}

impl Update {
    /// Reads a notification; one of an extension only if a subscription asked for it.
    pub(in crate::client) fn read(
        notification: &Notification<'_>,
        is_subscribed: bool,
    ) -> Option<Self> {
        match notification.method {
            Method::ToolsListChanged => Some(Self::Tools),
            Method::PromptsListChanged => Some(Self::Prompts),
            Method::ResourcesListChanged => Some(Self::Resources),
            Method::ResourcesUpdated => {
                let uri = notification.params?.get("uri").and_then(Raw::string)?;
                Some(Self::Resource(uri.to_cow().into_owned()))
            }
            method if is_subscribed => Some(Self::Notification {
                method: method.name().to_cow().into_owned(),
                params: RawBuf::from(notification.params.unwrap_or_default().as_raw()),
            }),
            _ => None,
        }
    }

    /// Notes whether a change of this list has reached no subscription.
    const fn set_missed(&self, lists: &mut SubscriptionFilter, missed: bool) {
        match self {
            Self::Tools => lists.tools_list_changed = missed,
            Self::Prompts => lists.prompts_list_changed = missed,
            Self::Resources => lists.resources_list_changed = missed,
            Self::Resource(_) | Self::Reconnected | Self::Notification { .. } => {}
        }
    }

    fn is_wanted(&self, filter: &SubscriptionFilter) -> bool {
        match self {
            Self::Tools => filter.tools_list_changed,
            Self::Prompts => filter.prompts_list_changed,
            Self::Resources => filter.resources_list_changed,
            Self::Resource(uri) => {
                let mut subscribed = filter.resource_subscriptions.iter();
                subscribed.any(|whole| is_part(uri, whole))
            }
            Self::Reconnected => true,
            Self::Notification { .. } => false,
        }
    }
}

impl queue::Entry for SubscriptionEvent {
    fn bytes(&self) -> usize {
        match self {
            Self::Update(Update::Resource(uri)) => uri.len(),
            Self::Update(Update::Notification { method, params }) => {
                method.len() + params.as_raw().as_bytes().len()
            }
            Self::Honoured(filter, accepted) => {
                let uris = filter.resource_subscriptions.iter();
                let uris = uris.map(|uri| uri.len() + size_of::<String>());
                uris.sum::<usize>() + accepted.as_raw().as_bytes().len()
            }
            Self::Update(_) => 0,
        }
    }

    /// Without the acknowledgement, the subscriber would wait forever.
    fn stays(&self) -> bool {
        matches!(self, Self::Honoured(..))
    }
}

impl From<Update> for SubscriptionEvent {
    fn from(update: Update) -> Self {
        Self::Update(update)
    }
}

/// Returns true if the URI is the other, or lies below it (RS-10).
pub(super) fn is_part(uri: &str, whole: &str) -> bool {
    uri.strip_prefix(whole).is_some_and(|rest| {
        rest.is_empty() || whole.ends_with('/') || rest.starts_with(['/', '?', '#'])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_resource_is_told_to_whom_subscribed_to_the_whole() {
        let check = |uri, whole, expected| assert_eq!(is_part(uri, whole), expected, "{uri}");
        check("file:///a", "file:///a", true);
        check("file:///a/b", "file:///a", true);
        check("file:///a/b", "file:///a/", true);
        check("file:///a#b", "file:///a", true);
        check("file:///ab", "file:///a", false);
        check("file:///", "file:///a", false);
    }

    #[test]
    fn a_server_is_told_when_the_last_need_has_gone() {
        let mut subscriptions = Subscriptions::default();
        let cx = &Context::from_waker(Waker::noop());
        subscriptions.need("a");
        subscriptions.need("a");
        subscriptions.release("a");
        assert_eq!(subscriptions.poll_owed(cx), Poll::Pending);
        subscriptions.release("a");
        // Needed again before the server was notified.
        subscriptions.need("a");
        assert_eq!(subscriptions.poll_owed(cx), Poll::Pending);
        subscriptions.release("a");
        assert_eq!(subscriptions.poll_owed(cx), Poll::Ready("a".to_owned()));
        subscriptions.need("a");
        assert_eq!(subscriptions.restore(), ["a"]);
    }
}
