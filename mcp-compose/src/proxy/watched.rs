//! The calls that pass by the items: subscriptions to resources, and requests about tasks.

use core::pin::pin;
use core::time::Duration;
use std::sync::{Arc, Weak};

use mcp_async::client::{CallError, Subscription, Update};
use mcp_async::model::ClientFeatures;
use mcp_async::runtime::within;
use mcp_async::server::layers::{Around, Layer, Layered};
use mcp_async::server::{Call, CallContext, Peer, Principal, Service};
use mcp_async::{Job, Method, SendError};

use super::asker::Asker;
use super::front::watches;
use super::running::Running;
use super::sessions::{Lease, Session};
use super::upstream::Upstream;
use crate::alias::original;
use crate::waiting::{either, sleep, until};
use crate::watch::Watch;

/// A layer that subscribes to the resources which callers watch, each once for all callers of a session, and forwards what callers ask
/// about tasks of servers.
#[derive(Clone)]
pub(super) struct Watched {
    running: Weak<Running>,
    /// Lives as long as the server in front, which has the layer.
    served: Arc<()>,
}

/// The callers that receive the updates of a session.
enum Audience {
    /// All callers.
    All,
    /// The callers of one principal, who have an entry of their own.
    Principal(Principal),
    /// The caller that the session belongs to.
    Peer(Peer),
}

impl Audience {
    fn of(upstream: &Upstream, peer: &Peer) -> Self {
        let principal = peer.principal().filter(|_| upstream.caller_entry.is_some());
        principal.map_or(Self::All, Self::Principal)
    }

    fn principal(&self) -> Option<&Principal> {
        match self {
            Self::Principal(principal) => Some(principal),
            Self::All | Self::Peer(_) => None,
        }
    }

    fn tell(&self, running: &Running, uri: &str) {
        if let Self::Peer(peer) = self {
            return peer.resource_updated(uri);
        }
        let name = self.principal().map(Principal::name);
        for (_, front) in running.fronts.read(Clone::clone) {
            front.updated(uri, name);
        }
    }

    fn watches(&self, running: &Running, uri: &str) -> bool {
        if let Self::Peer(peer) = self {
            return watches(peer, uri);
        }
        let name = self.principal().map(Principal::name);
        let fronts = running.fronts.read(Clone::clone);
        fronts.iter().any(|(_, front)| front.is_watched(uri, name))
    }

    /// Returns the number of subscriptions in a session of the caller who watches the resource and has the fewest. 0 if the session is
    /// one caller's.
    fn smallest_share(&self, running: &Running, uri: &str, session: &Session) -> usize {
        let Self::All = self else { return 0 };
        let is_subscribed = |uri: &str| session.followed.is_subscribed(uri);
        let fronts = running.fronts.read(Clone::clone);
        let shares = fronts
            .iter()
            .filter_map(|(_, front)| front.smallest_share(uri, &is_subscribed));
        shares.min().unwrap_or(usize::MAX)
    }
}

impl Watched {
    pub(super) fn new(running: &Arc<Running>) -> Self {
        Self {
            running: Arc::downgrade(running),
            served: Arc::default(),
        }
    }

    /// Returns what is gone with the server that has the layer.
    pub(super) fn served(&self) -> Weak<()> {
        Arc::downgrade(&self.served)
    }

    /// Subscribes to what this caller watches, in the session of its calls, or else in that for all.
    async fn update(&self, peer: Peer, cx: Option<CallContext>) {
        let Some(running) = self.running.upgrade() else {
            return;
        };
        for uri in peer.watched() {
            let Some(server) = running.catalog.view().server_of(&uri) else {
                continue;
            };
            let Some(upstream) = running.upstream(&server) else {
                continue;
            };
            let mut audience = Audience::of(&upstream, &peer);
            let opened = match &cx {
                Some(cx) => running.session_for(&server, cx).await.ok(),
                None => running
                    .quiet_session(
                        &server,
                        ClientFeatures::NONE,
                        Asker::beside_calls(audience.principal()),
                    )
                    .await
                    .ok()
                    .map(Lease::shared),
            };
            let Some(lease) = opened else { continue };
            if lease.session.bridge.has_caller() {
                audience = Audience::Peer(peer.clone());
            }
            running
                .follow(&server, Arc::clone(&lease.session), uri, audience)
                .await;
        }
    }
}

impl Running {
    /// Subscribes in a session that was opened for this caller to what the caller watches.
    pub(super) async fn follow_watched(
        &self,
        server: &Arc<str>,
        session: &Arc<Session>,
        peer: &Peer,
    ) {
        for uri in peer.watched() {
            if self.catalog.view().server_of(&uri).as_ref() == Some(server) {
                let audience = Audience::Peer(peer.clone());
                self.follow(server, Arc::clone(session), uri, audience)
                    .await;
            }
        }
    }

    /// Reports the changes of a resource until no caller watches it, once in each session. Returns once the server has answered.
    async fn follow(
        &self,
        server: &Arc<str>,
        session: Arc<Session>,
        uri: String,
        audience: Audience,
    ) {
        let Some(upstream) = self.upstream(server) else {
            return;
        };
        if !session.followed.add(&uri) {
            return;
        }
        let answered: Arc<Watch<bool>> = Arc::default();
        let (running, told) = (Weak::clone(&self.this), Arc::clone(&answered));
        // In a task, because the subscription stays if its caller gives up.
        self.runtime.spawn(Box::pin(async move {
            let reported = report(&running, &upstream, session, &uri, &audience, &told);
            until(upstream.removed(), reported).await;
            told.change(|answered| *answered = true);
        }));
        let answered = answered.find(|answered| answered.then_some(()));
        within(&self.runtime, PATIENCE, answered).await;
    }
}

/// Reports the changes of a resource until no caller watches it. After the loss of a session an update is sent, and another session
/// reports.
async fn report(
    running: &Weak<Running>,
    upstream: &Upstream,
    mut session: Arc<Session>,
    uri: &str,
    audience: &Audience,
    answered: &Watch<bool>,
) {
    let theirs = original(&upstream.name, uri);
    loop {
        let weak = Arc::downgrade(&session);
        match subscribe(running, &session, (uri, theirs), audience, answered).await {
            Some(changes) => {
                answered.change(|answered| *answered = true);
                tell_changes(running, session, changes, (uri, theirs), audience).await;
            }
            None if session.is_closed() => drop(session),
            None => {
                session.followed.remove(uri);
                return;
            }
        }
        if let Some(session) = weak.upgrade() {
            session.followed.remove(uri);
        }
        let Some(next) = next_session(running, upstream, uri, audience).await else {
            return;
        };
        session = next;
    }
}

/// Subscribes to a resource in a session, as soon as a caller that watches it has a share of the subscriptions left. Returns `None` if the
/// server refuses it, no caller watches the resource any more, or the session has ended.
async fn subscribe(
    running: &Weak<Running>,
    session: &Session,
    (uri, theirs): (&str, &str),
    audience: &Audience,
    answered: &Watch<bool>,
) -> Option<Subscription> {
    let runtime = running.upgrade()?.runtime.clone();
    // A legacy server has no request for it that stays open.
    let most = match session.revision.is_modern() {
        true => SUBSCRIPTIONS,
        false => usize::MAX,
    };
    let mut has_waited = false;
    loop {
        let proxy = running.upgrade()?;
        let share = || audience.smallest_share(&proxy, uri, session);
        let enters = session.followed.enter(uri, most, share);
        drop(proxy);
        if enters {
            match session.client.subscribe(theirs).await {
                Err(CallError::Refused(SendError::TableFull)) => session.followed.leave(uri),
                // A server without subscriptions refuses it.
                Err(_) => return None,
                Ok(changes) => {
                    if has_waited {
                        // Changes may have been missed.
                        audience.tell(&*running.upgrade()?, uri);
                    }
                    return Some(changes);
                }
            }
        }
        // The session of a caller ends with the caller, and has no subscriptions of others.
        if let Audience::Peer(_) = audience {
            return None;
        }
        answered.change(|answered| *answered = true);
        let closed = async {
            let _ = session.client.closed().await;
        };
        until(closed, sleep(&runtime, SWEEP)).await?;
        if !audience.watches(&*running.upgrade()?, uri) {
            return None;
        }
        has_waited = true;
    }
}

/// Tells the callers of the changes of a resource until none watches it, or the session has ended.
async fn tell_changes(
    running: &Weak<Running>,
    session: Arc<Session>,
    mut changes: Subscription,
    (uri, theirs): (&str, &str),
    audience: &Audience,
) {
    let Some(runtime) = running.upgrade().map(|proxy| proxy.runtime.clone()) else {
        return;
    };
    // The prefix of an alias, or empty.
    let before = uri.strip_suffix(theirs).unwrap_or_default();
    // The session of a caller ends with the caller. The others are in use.
    let (weak, mut gone) = (Arc::downgrade(&session), pin!(session.gone()));
    let _held = (!matches!(audience, Audience::Peer(_))).then_some(session);
    loop {
        let pause = either(gone.as_mut(), sleep(&runtime, SWEEP));
        let update = until(pause, changes.next()).await;
        let updated = match &update {
            Some(None) => return,
            Some(Some(Update::Resource(updated))) => Some(updated.as_str()),
            // Changes may have been missed.
            Some(Some(Update::Reconnected)) => Some(theirs),
            Some(Some(_)) | None => None,
        };
        let Some(proxy) = running.upgrade() else {
            return;
        };
        if let Some(updated) = updated {
            audience.tell(&proxy, &format!("{before}{updated}"));
        }
        if weak.strong_count() == 0 || !audience.watches(&proxy, uri) {
            return;
        }
    }
}

/// Returns another session once there is one, if the resource is still watched and that session does not report its changes already.
async fn next_session(
    running: &Weak<Running>,
    upstream: &Upstream,
    uri: &str,
    audience: &Audience,
) -> Option<Arc<Session>> {
    // The next session of a caller is opened with its next call.
    if let Audience::Peer(_) = audience {
        return None;
    }
    loop {
        let runtime = running.upgrade()?.runtime.clone();
        sleep(&runtime, PAUSE).await;
        let proxy = running.upgrade()?;
        if !audience.watches(&proxy, uri) {
            return None;
        }
        let caller = Asker::beside_calls(audience.principal());
        let opened = proxy.quiet_session(&upstream.name, ClientFeatures::NONE, caller);
        if let Ok(session) = opened.await {
            audience.tell(&proxy, uri);
            return session.followed.add(uri).then_some(session);
        }
    }
}

impl Around for Watched {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        let running = self.running.upgrade();
        if let Some((running, task)) =
            running.and_then(|it| it.task_of(&call).map(|task| (it, task)))
        {
            return running.forward_task(call, task);
        }
        if call.method != Method::ResourcesSubscribe {
            return service.call(call);
        }
        let (watched, cx) = (self.clone(), call.context().clone());
        service.call(call).wrap(|job| async move {
            let answered = job.await;
            watched.update(cx.peer(), Some(cx)).await;
            answered
        })
    }

    fn listening(&self, peer: &Peer) {
        if let Some(running) = self.running.upgrade() {
            let (watched, peer) = (self.clone(), peer.clone());
            let runtime = running.runtime.clone();
            runtime.spawn(Box::pin(async move {
                watched.update(peer, None).await;
            }));
        }
    }
}

impl<S> Layer<S> for Watched {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}

/// The time between two attempts to subscribe again.
const PAUSE: Duration = Duration::from_secs(1);
/// The time that a server has to answer before its caller goes on.
const PATIENCE: Duration = Duration::from_secs(10);
/// The time between two looks whether anybody watches a resource.
const SWEEP: Duration = Duration::from_secs(60);
/// The subscriptions of 2026-07-28 in a session that are for resources. A client has 512, of which some are for lists and tasks.
const SUBSCRIPTIONS: usize = 500;
