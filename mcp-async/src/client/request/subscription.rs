//! Notifications of a subscription, as a stream.

use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::sync::Arc;

use futures_core::Stream;
use mcp_proto::Instant;
use mcp_proto::client::Failure;
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::model::ServerFeatures;

use super::Request;
use super::decode::whole;
use crate::client::session::exchange::{Exchange, Options, Rounds, Terms};
use crate::client::session::restart::RestartPolicy;
use crate::client::state::ask::Ask;
use crate::client::state::inner::{Inner, Link};
use crate::client::state::listen_filter::ListenFilter;
use crate::client::state::queue::Queue;
use crate::client::state::subscriptions::{SubscriptionEvent, SubscriptionQueue, Update};
use crate::connection::{Notified, PendingRequest};
use crate::error::CallError;
use crate::model::SubscriptionFilter;
use crate::runtime::Sleep;
use crate::sync::Waiters;

/// Changes that a server tells of, as a stream.
///
/// It is the same in every revision: 2026-07-28 has a request for it, `subscriptions/listen`; a
/// legacy server receives a subscription for each resource, and reports changes of lists
/// without one. Dropping it ends it and notifies the server, except for resources that
/// another subscription needs.
///
/// With a [`RestartPolicy`](crate::client::RestartPolicy) it outlives the connection: it is renewed and yields [`Update::Reconnected`], because what changed meanwhile was not told.
/// Without one it ends with the connection. Over HTTP there is none that could end: a stream
/// that broke off is asked for anew, which yields [`Update::Reconnected`] too, after up to
/// a second at first and up to a minute when that leads to nothing, until the server refuses it.
/// A reader that is slow loses the oldest of 1,024 updates.
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::{CallError, Update};
///
/// async fn follow(client: &Client) -> Result<(), CallError> {
///     let mut changes = client.subscribe("file:///notes.txt").await?;
///     while let Some(update) = changes.next().await {
///         if let Update::Resource(uri) = update {
///             println!("{:?}", client.read_resource(&uri).await?.text());
///         }
///     }
///     Ok(())
/// }
/// ```
#[must_use = "dropping it ends the subscription"]
pub struct Subscription {
    inner: Arc<Inner>,
    tag: u64,
    queue: Arc<SubscriptionQueue>,
    ask: Ask<'static>,
    stage: Stage,
    /// The connection that it runs on.
    generation: u64,
    /// The place among those who wait for one.
    linking: Option<Notified>,
    honoured: SubscriptionFilter,
    /// The honoured filter as the server sent it, with the members of extensions.
    accepted: RawBuf,
    /// The resources that are subscribed at a legacy server.
    held: Vec<String>,
    /// The server ended it on a connection that may still stand, and has told nothing since.
    ended: bool,
    /// Attempts in a row to get back a stream that broke off, and when it was asked for last.
    attempts: u32,
    began: Instant,
    pace: RestartPolicy,
}

enum Stage {
    /// Waits for a connection.
    Linking,
    /// A request of 2026-07-28, open for as long as the subscription.
    Listening(Box<Exchange<'static>>),
    /// Waits before it is asked for anew.
    Pausing(Sleep),
    /// A legacy session, or a server that declares nothing of the filter: nothing is open.
    Unneeded,
    Ended,
}

impl Subscription {
    /// Begins to listen; returns when the server has acknowledged it.
    pub(in crate::client) async fn begin(
        inner: Arc<Inner>,
        filter: ListenFilter,
    ) -> Result<Self, CallError> {
        let asked = filter.filter.clone();
        let queue = Arc::new(Queue::new(KEPT));
        let tag = inner
            .client_state
            .subscriptions
            .lock()
            .add(asked.clone(), Arc::clone(&queue));
        let mut subscription = Self {
            inner,
            tag,
            queue,
            ask: Ask::Listen(filter),
            stage: Stage::Linking,
            generation: 0,
            linking: None,
            honoured: SubscriptionFilter::default(),
            accepted: RawBuf::new(),
            held: Vec::new(),
            ended: false,
            attempts: 0,
            began: Instant::ZERO,
            pace: RestartPolicy::default().delays(FIRST, LONGEST),
        };
        poll_fn(|cx| subscription.poll_linked(cx)).await?;
        if let Stage::Unneeded = subscription.stage {
            subscription.tell(&asked).await?;
        } else {
            poll_fn(|cx| subscription.poll_honoured(cx)).await?;
        }
        let missed = subscription
            .inner
            .client_state
            .subscriptions
            .lock()
            .take_missed(&asked);
        for list in missed {
            subscription.queue.push(list.into());
        }
        Ok(subscription)
    }

    /// Returns the part of the filter that the server honours; in a legacy session the part
    /// that it declared.
    pub const fn honoured(&self) -> &SubscriptionFilter {
        &self.honoured
    }

    /// Returns the value of a member of an extension that the server accepted, which may
    /// be less than what was asked for.
    pub fn accepted(&self, member: &str) -> Option<Raw<'_>> {
        self.accepted.as_raw().object()?.get(member)
    }

    /// The next update; `None` when the server, or the client, has ended it.
    pub async fn next(&mut self) -> Option<Update> {
        poll_fn(|cx| self.poll_update(cx)).await
    }

    /// Returns how many updates were dropped because the queue was full.
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Subscribes to resources at a legacy server, unless the server does not notify of any.
    async fn tell(&mut self, filter: &SubscriptionFilter) -> Result<(), CallError> {
        let features = self.inner.server().features;
        if !filter.resource_subscriptions.is_empty()
            && !features.contains(ServerFeatures::RESOURCES_SUBSCRIBE)
        {
            return Err(CallError::MissingCapability("resources.subscribe"));
        }
        for uri in &filter.resource_subscriptions {
            self.held.push(uri.clone());
            self.inner.client_state.subscriptions.lock().need(uri);
            // Another subscription may have asked for it, but has no answer yet; to subscribe
            // twice is to subscribe once (RS-16).
            let ask = Ask::Subscribe(uri.clone());
            Request::new(&self.inner, ask, whole::<()>).await?;
        }
        self.honoured = declared(features, filter);
        Ok(())
    }

    fn poll_linked(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        let Link {
            shared, generation, ..
        } = ready!(self.inner.poll_link(cx, self.generation, &mut self.linking))?;
        let revision = shared.lock().machine.revision();
        self.generation = generation;
        self.began = self.inner.client_state.runtime.now();
        let is_modern = revision.is_some_and(mcp_proto::Revision::is_modern);
        self.stage = if is_modern && self.is_served() {
            Stage::Listening(Box::new(Exchange::new(PendingRequest::shared(shared))))
        } else {
            Stage::Unneeded
        };
        Poll::Ready(Ok(()))
    }

    /// Returns whether the server may notify of anything that the filter has.
    fn is_served(&self) -> bool {
        let Ask::Listen(filter) = &self.ask else {
            return true;
        };
        let served = declared(self.inner.server().features, &filter.filter);
        filter.has_members() || served != SubscriptionFilter::default()
    }

    fn poll_honoured(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), CallError>> {
        loop {
            match self.queue.poll_next(cx) {
                Poll::Ready(Some(SubscriptionEvent::Honoured(honoured, accepted))) => {
                    (self.honoured, self.accepted) = (honoured, accepted);
                    return Poll::Ready(Ok(()));
                }
                // No update precedes the acknowledgement (SB-02).
                Poll::Ready(Some(SubscriptionEvent::Update(_))) => continue,
                Poll::Ready(None) => return Poll::Ready(Err(CallError::Closed)),
                Poll::Pending => {}
            }
            if let Stage::Ended = self.stage {
                return Poll::Ready(Err(CallError::Failed(Failure::Ended)));
            }
            if let Some(error) = ready!(self.poll_listen(cx)) {
                return Poll::Ready(Err(error));
            }
            // The acknowledgement may have come since, and the end right behind it.
            self.stage = Stage::Ended;
        }
    }

    pub(crate) fn poll_update(&mut self, cx: &mut Context<'_>) -> Poll<Option<Update>> {
        loop {
            match self.queue.poll_next(cx) {
                Poll::Ready(Some(SubscriptionEvent::Update(update))) => {
                    self.ended = false;
                    self.attempts = 0;
                    return Poll::Ready(Some(update));
                }
                Poll::Ready(Some(SubscriptionEvent::Honoured(honoured, accepted))) => {
                    (self.honoured, self.accepted) = (honoured, accepted);
                    if self.attempts > 0 {
                        // SB-13
                        self.inner.client_state.forget();
                    }
                    if self.ended || self.attempts > 0 {
                        return Poll::Ready(Some(Update::Reconnected));
                    }
                    continue;
                }
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => {}
            }
            match &self.stage {
                Stage::Linking => match ready!(self.poll_linked(cx)) {
                    Ok(()) => {}
                    Err(_) => self.stage = Stage::Ended,
                },
                Stage::Listening(_) => match ready!(self.poll_listen(cx)) {
                    // The request went with its connection; the next one gets it anew.
                    Some(CallError::Closed) if self.inner.restarts() => {
                        self.ended = false;
                        self.stage = Stage::Linking;
                    }
                    // SC-21: a stream broke off, and the connection continues.
                    Some(CallError::Failed(failure)) if may_pass(failure) => self.pause(),
                    Some(CallError::Timeout) if self.attempts > 0 => self.pause(),
                    // A server that goes ends what it told of before it goes (SB-08): whether it
                    // is that or this stream alone, only asking once more will tell.
                    _ if self.inner.restarts() && !self.ended => {
                        self.ended = self.generation == self.inner.generation();
                        self.generation = 0;
                        self.stage = Stage::Linking;
                    }
                    // SB-09
                    _ => self.stage = Stage::Ended,
                },
                // A server that is of another era now would not tell unasked.
                Stage::Pausing(..) => {
                    ready!(self.poll_pause(cx));
                    self.stage = Stage::Linking;
                }
                Stage::Unneeded if self.generation != self.inner.generation() => {
                    self.stage = Stage::Linking;
                }
                Stage::Unneeded => return Poll::Pending,
                Stage::Ended => return Poll::Ready(None),
            }
        }
    }

    /// Waits a while, and longer the more often there was nothing of it before.
    fn pause(&mut self) {
        let now = self.inner.client_state.runtime.now();
        if now.saturating_since(self.began) >= LONGEST {
            self.attempts = 0;
        }
        let until = self
            .inner
            .client_state
            .earliest(now + self.pace.delay(self.attempts));
        self.attempts = self.attempts.saturating_add(1);
        self.generation = 0;
        self.stage = Stage::Pausing(Sleep::until(&self.inner.client_state.runtime, until));
    }

    fn poll_pause(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.stage {
            Stage::Pausing(sleep) => sleep.poll_done(cx),
            _ => Poll::Ready(()),
        }
    }

    /// Ready when the request is over, with what ended it too early.
    fn poll_listen(&mut self, cx: &mut Context<'_>) -> Poll<Option<CallError>> {
        let Stage::Listening(exchange) = &mut self.stage else {
            return Poll::Ready(None);
        };
        let terms = Terms {
            method: self.ask.method(),
            params: self.ask.params(),
            options: Options::default(),
            progress: false,
            subject: self.ask.subject(),
            tag: self.tag,
            handler: &*self.inner.client_state,
            rounds: Rounds::Asked(0),
        };
        match ready!(exchange.poll(cx, &terms, &mut |_| {})) {
            Ok(buffer) => {
                exchange.leave(buffer);
                Poll::Ready(None)
            }
            Err(error) => Poll::Ready(Some(error)),
        }
    }
}

impl Stream for Subscription {
    type Item = Update;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Update>> {
        self.get_mut().poll_update(cx)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut waiting = Waiters::new();
        let _queue = {
            let mut subscriptions = self.inner.client_state.subscriptions.lock();
            let queue = subscriptions.remove(self.tag);
            let held = self.held.iter();
            waiting.extend(held.filter_map(|uri| subscriptions.release(uri)));
            queue
        };
        waiting.wake();
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscription")
            .field("honoured", &self.honoured)
            .finish_non_exhaustive()
    }
}

/// Returns the part of the filter that a server of these features may notify of.
fn declared(features: ServerFeatures, filter: &SubscriptionFilter) -> SubscriptionFilter {
    let has = |feature| features.contains(feature);
    SubscriptionFilter {
        tools_list_changed: filter.tools_list_changed && has(ServerFeatures::TOOLS_LIST_CHANGED),
        prompts_list_changed: filter.prompts_list_changed
            && has(ServerFeatures::PROMPTS_LIST_CHANGED),
        resources_list_changed: filter.resources_list_changed
            && has(ServerFeatures::RESOURCES_LIST_CHANGED),
        resource_subscriptions: match has(ServerFeatures::RESOURCES_SUBSCRIBE) {
            true => filter.resource_subscriptions.clone(),
            false => Vec::new(),
        },
    }
}

/// Returns true if the request may succeed when it is sent again: the failures of HTTP that may be
/// temporary.
pub(crate) const fn may_pass(failure: Failure) -> bool {
    matches!(
        failure,
        Failure::Broken
            | Failure::Unreachable
            | Failure::Status(408 | 425 | 429 | 500 | 502 | 503 | 504)
    )
}

/// The pace at which a stream is asked for anew, and how long one stood that was no failed
/// attempt.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(60);
/// Some seconds of a busy server.
const KEPT: usize = 1024;
