//! Changes of lists and resources, of which the clients of all processes are notified.

use core::future::poll_fn;
use core::task::Poll;
use std::sync::{Arc, Weak};

use super::background::{Failures, RETRY, lives};
use crate::http::StoreError;
use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::processes::message::{self, Changed};
use crate::http::server::processes::this_process::Processes;
use crate::http::store::DynSubscription;
use crate::runtime::{Sleep, within};

/// Publishes the changes of this process until the endpoint is gone: what still runs, and a program that ends, may report
/// some after the shutdown. A change that the store does not take is published again.
pub(super) async fn publish(endpoint: Weak<HttpEndpoint>, processes: Arc<Processes>) {
    let mut failures = Failures::default();
    loop {
        let next = within(&processes.runtime, processes.lease, processes.outbox.next()).await;
        let Some(change) = next else {
            if endpoint.strong_count() == 0 && processes.outbox.is_empty() {
                return;
            }
            continue;
        };
        processes.outbox.remove(&change);
        let changed = Changed {
            from: processes.name().to_string(),
            change: change.clone(),
        };
        let signed = message::seal(&processes.keys.changes, &changed);
        let published = processes.store().publish(signed.as_bytes()).await;
        let failed = published.is_err();
        failures.note(published);
        if failed {
            processes.outbox.report(&change);
        }
        processes.outbox.sent();
        if failed {
            if endpoint.strong_count() == 0 {
                return;
            }
            Sleep::after(&processes.runtime, RETRY).await;
        }
    }
}

/// Receives the changes of the other processes until the endpoint is gone. After a gap any list and any
/// resource may have changed.
pub(super) async fn receive(endpoint: Weak<HttpEndpoint>, processes: Arc<Processes>) {
    let mut failures = Failures::default();
    let mut is_first = true;
    loop {
        let subscribed = processes.store().subscribe().await;
        let Some(alive) = endpoint.upgrade().filter(|_| lives(&endpoint)) else {
            return;
        };
        match subscribed {
            Ok(mut subscription) => {
                failures.note(Ok(()));
                if !core::mem::take(&mut is_first) {
                    alive.server.inner.announce_all();
                }
                drop(alive);
                let ended = hear(&endpoint, &processes, &mut *subscription).await;
                let Some(error) = ended else {
                    return;
                };
                failures.note(Err(error));
            }
            Err(error) => {
                failures.note(Err(error));
                // Changes that are published until there is a subscription are missed.
                is_first = false;
            }
        }
        Sleep::after(&processes.runtime, RETRY).await;
    }
}

/// Reads a subscription until it fails; `None` if the endpoint is gone.
async fn hear(
    endpoint: &Weak<HttpEndpoint>,
    processes: &Processes,
    subscription: &mut dyn DynSubscription,
) -> Option<StoreError> {
    loop {
        let mut next = subscription.next();
        let mut patience = Sleep::after(&processes.runtime, processes.lease);
        let received = poll_fn(|cx| {
            if let Poll::Ready(received) = next.as_mut().poll(cx) {
                return Poll::Ready(Some(received));
            }
            while patience.poll_done(cx).is_ready() {
                if !lives(endpoint) {
                    return Poll::Ready(None);
                }
                patience.restart(processes.lease);
            }
            Poll::Pending
        });
        let message = match received.await? {
            Ok(message) => message,
            Err(error) => return Some(error),
        };
        if let Some(Changed { from, change }) = message::open(&processes.keys.changes, &message)
            && *from != **processes.name()
        {
            endpoint.upgrade()?.server.inner.announced(&change);
        }
    }
}
