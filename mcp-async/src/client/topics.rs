//! The subscriptions of a client, in both eras.

use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::Arc;

use mcp_proto::json::Raw;
use mcp_proto::rpc::{Method, Notification};

use super::queue::{self, Queue};
use crate::model::SubscriptionFilter;

/// What a server tells of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Update {
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources changed, or that of templates.
    Resources,
    /// A resource changed: the one that was subscribed to, or a part of it (RS-10).
    Resource(String),
    /// The connection, the session or, over HTTP, the stream of this subscription was lost and
    /// another has taken its place: whatever changed meanwhile was not told (SB-13). A connection
    /// is followed by another only with a [`RestartPolicy`](super::RestartPolicy).
    Reconnected,
}

/// What a subscription's queue holds.
#[derive(Debug)]
pub(super) enum TopicEvent {
    /// The server acknowledged it: this is what it will tell (SB-02).
    Honoured(SubscriptionFilter),
    Update(Update),
}

pub(super) type TopicQueue = Queue<TopicEvent>;

#[derive(Default)]
pub(super) struct Topics {
    last: u64,
    topics: Vec<Topic>,
    /// The resources that a legacy server was told of, and how many subscriptions need each.
    uris: HashMap<String, usize>,
    /// Resources that no subscription needs any more, until the server is told so.
    owed: Vec<String>,
    waker: Option<Waker>,
}

struct Topic {
    tag: u64,
    filter: SubscriptionFilter,
    queue: Arc<TopicQueue>,
}

impl Topics {
    /// Adds a subscription under a number of its own.
    pub(super) fn add(&mut self, filter: SubscriptionFilter, queue: Arc<TopicQueue>) -> u64 {
        // Zero is the tag of everything else.
        self.last += 1;
        self.topics.push(Topic {
            tag: self.last,
            filter,
            queue,
        });
        self.last
    }

    pub(super) fn remove(&mut self, tag: u64) -> Option<Arc<TopicQueue>> {
        let index = self.topics.iter().position(|topic| topic.tag == tag)?;
        Some(self.topics.swap_remove(index).queue)
    }

    pub(super) fn queue(&self, tag: u64) -> Option<Arc<TopicQueue>> {
        let topic = self.topics.iter().find(|topic| topic.tag == tag)?;
        Some(Arc::clone(&topic.queue))
    }

    pub(super) fn queues(&self) -> Vec<Arc<TopicQueue>> {
        let queues = self.topics.iter().map(|topic| Arc::clone(&topic.queue));
        queues.collect()
    }

    /// Who wants to hear this: the subscription that it was sent to (ST-14), or in a legacy
    /// session whoever asked for such a thing.
    pub(super) fn interested(&self, update: &Update, tag: Option<u64>) -> Vec<Arc<TopicQueue>> {
        let wants = |topic: &&Topic| match tag {
            Some(tag) => topic.tag == tag,
            None => update.is_wanted(&topic.filter),
        };
        let queues = self.topics.iter().filter(wants);
        queues.map(|topic| Arc::clone(&topic.queue)).collect()
    }

    /// Counts one more need for a resource of a legacy server.
    pub(super) fn need(&mut self, uri: &str) {
        if let Some(count) = self.uris.get_mut(uri) {
            *count += 1;
            return;
        }
        self.uris.insert(uri.to_owned(), 1);
        // It was not told yet that the last need has gone.
        self.owed.retain(|owed| owed != uri);
    }

    /// Takes a need back; the server is told when it was the last.
    pub(super) fn release(&mut self, uri: &str) -> Option<Waker> {
        let count = self.uris.get_mut(uri)?;
        *count -= 1;
        if *count > 0 {
            return None;
        }
        let (uri, _) = self.uris.remove_entry(uri)?;
        self.owed.push(uri);
        self.waker.take()
    }

    /// What a new connection has to be told (SB-10); nothing is owed to the old one.
    pub(super) fn restore(&mut self) -> Vec<String> {
        self.owed.clear();
        self.uris.keys().cloned().collect()
    }

    pub(super) fn poll_owed(&mut self, cx: &Context<'_>) -> Poll<String> {
        match self.owed.pop() {
            Some(uri) => Poll::Ready(uri),
            None => {
                self.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Update {
    pub(super) fn read(notification: &Notification<'_>) -> Option<Self> {
        match notification.method {
            Method::ToolsListChanged => Some(Self::Tools),
            Method::PromptsListChanged => Some(Self::Prompts),
            Method::ResourcesListChanged => Some(Self::Resources),
            Method::ResourcesUpdated => {
                let uri = notification.params?.get("uri").and_then(Raw::string)?;
                Some(Self::Resource(uri.to_cow().into_owned()))
            }
            _ => None,
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
        }
    }
}

impl queue::Entry for TopicEvent {
    fn bytes(&self) -> usize {
        match self {
            Self::Update(Update::Resource(uri)) => uri.len(),
            Self::Honoured(filter) => {
                let uris = filter.resource_subscriptions.iter();
                uris.map(|uri| uri.len() + size_of::<String>()).sum()
            }
            Self::Update(_) => 0,
        }
    }

    /// Without the acknowledgement, whoever subscribes would wait for ever.
    fn stays(&self) -> bool {
        matches!(self, Self::Honoured(_))
    }
}

impl From<Update> for TopicEvent {
    fn from(update: Update) -> Self {
        Self::Update(update)
    }
}

/// Whether a URI is the other, or lies below it (RS-10).
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
        let mut topics = Topics::default();
        let cx = &Context::from_waker(Waker::noop());
        topics.need("a");
        topics.need("a");
        topics.release("a");
        assert_eq!(topics.poll_owed(cx), Poll::Pending);
        topics.release("a");
        // Needed again before the server was told.
        topics.need("a");
        assert_eq!(topics.poll_owed(cx), Poll::Pending);
        topics.release("a");
        assert_eq!(topics.poll_owed(cx), Poll::Ready("a".to_owned()));
        topics.need("a");
        assert_eq!(topics.restore(), ["a"]);
    }
}
