//! The calls that pass by the items: subscriptions to resources, and requests about tasks.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use mcp_async::client::Update;
use mcp_async::model::ClientFeatures;
use mcp_async::server::layers::{Around, Layer, Layered};
use mcp_async::server::{Call, Peer, Principal, Service};
use mcp_async::{Job, Method};

use super::running::Running;
use super::upstream::Upstream;
use crate::waiting::until;
use crate::watch::Watch;

/// A layer that subscribes to the resources which callers watch, each once for all callers, and forwards what callers ask about tasks
/// of servers.
#[derive(Clone)]
pub(super) struct Watched {
    running: Weak<Running>,
    /// The URIs that servers report the changes of, and the one caller whom they report them to.
    uris: Arc<Watch<HashSet<Followed>>>,
}

/// The URI of a resource, and the principal of the caller whose session reports its changes, if it is not that for all.
type Followed = (String, Option<Arc<str>>);

impl Watched {
    pub(super) fn new(running: &Arc<Running>) -> Self {
        Self {
            running: Arc::downgrade(running),
            uris: Arc::default(),
        }
    }

    /// Subscribes to what this caller watches.
    fn update(&self, peer: &Peer) {
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
            let caller = peer.principal().filter(|_| running.is_per_caller(&server));
            let key = (uri, caller.as_ref().map(|caller| caller.name().into()));
            if self.uris.change(|uris| uris.insert(key.clone())) {
                let (watched, weak) = (self.clone(), Weak::clone(&self.running));
                running.runtime.spawn(Box::pin(async move {
                    let followed = follow(&weak, &upstream, &key.0, caller.as_ref());
                    until(upstream.removed(), followed).await;
                    watched.uris.change(|uris| uris.remove(&key));
                }));
            }
        }
    }
}

/// Reports the changes of a resource until nobody watches it.
async fn follow(
    running: &Weak<Running>,
    upstream: &Upstream,
    uri: &str,
    caller: Option<&Principal>,
) {
    let Some(proxy) = running.upgrade() else {
        return;
    };
    let opened = proxy.quiet_session(&upstream.name, ClientFeatures::NONE, caller);
    let Ok(session) = opened.await else {
        return;
    };
    drop(proxy);
    // A server without subscriptions refuses it.
    let Ok(mut changes) = session.client.subscribe(uri).await else {
        return;
    };
    // A session of one caller ends when nothing uses it.
    let _used = caller.is_some().then_some(session);
    while let Some(update) = changes.next().await {
        let updated = match &update {
            Update::Resource(updated) => updated,
            // Changes may have been missed.
            Update::Reconnected => uri,
            _ => continue,
        };
        let Some(running) = running.upgrade() else {
            return;
        };
        let reports = running.updated.read(Clone::clone);
        let mut is_watched = false;
        for report in reports {
            is_watched |= report(updated, caller.map(Principal::name));
        }
        if !is_watched {
            return;
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
        let (watched, peer) = (self.clone(), call.context().peer());
        service.call(call).wrap(|job| async move {
            let answered = job.await;
            watched.update(&peer);
            answered
        })
    }

    fn listening(&self, peer: &Peer) {
        self.update(peer);
    }
}

impl<S> Layer<S> for Watched {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}
