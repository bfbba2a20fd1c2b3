//! The calls that pass by the items: subscriptions to resources, and requests about tasks.

use std::collections::HashSet;
use std::sync::{Arc, Weak};

use mcp_async::client::Update;
use mcp_async::server::layers::{Around, Layer, Layered};
use mcp_async::server::{Call, Peer, Service};
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
    /// The URIs that servers report the changes of.
    uris: Arc<Watch<HashSet<String>>>,
}

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
            if self.uris.change(|uris| uris.insert(uri.clone())) {
                let (watched, weak) = (self.clone(), Weak::clone(&self.running));
                running.runtime.spawn(Box::pin(async move {
                    until(upstream.removed(), follow(&weak, &upstream, &uri)).await;
                    watched.uris.change(|uris| uris.remove(&uri));
                }));
            }
        }
    }
}

/// Reports the changes of a resource until nobody watches it.
async fn follow(running: &Weak<Running>, upstream: &Upstream, uri: &str) {
    let Some(session) = upstream.main().await else {
        return;
    };
    // A server without subscriptions refuses it.
    let Ok(mut changes) = session.client.subscribe(uri).await else {
        return;
    };
    drop(session);
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
            is_watched |= report(updated);
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
