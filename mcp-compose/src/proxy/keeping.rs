//! The task that keeps a server behind a proxy connected, and its lists fresh.

use core::time::Duration;
use std::sync::{Arc, Weak};

use mcp_async::client::{ConnectError, Subscription};
use mcp_async::model::ClientFeatures;
use mcp_async::runtime::within;
use mcp_async::{Client, ErrorChain};

use super::bridge::Caller;
use super::places::Owner;
use super::running::Running;
use super::sessions::{OpenError, Session};
use super::upstream::{Main, Upstream};
use crate::catalog::Lists;
use crate::waiting::{sleep, until};

/// Keeps the server connected and its lists fresh, until it is removed or the proxy is over.
pub(super) async fn keep(running: Weak<Running>, upstream: Arc<Upstream>) {
    let mut pause = FIRST_PAUSE;
    loop {
        let Some(proxy) = running.upgrade() else {
            return;
        };
        let opened = until(upstream.removed(), open(&proxy, &upstream)).await;
        let Some(opened) = opened else { return };
        let reason = match opened {
            Ok((session, changes)) => {
                let client = session.client.clone();
                if !upstream.set(Main::Ready(session)) {
                    return;
                }
                let (runtime, began) = (proxy.runtime.clone(), proxy.runtime.now());
                drop(proxy);
                let followed = follow(&running, &upstream, &client, changes);
                if until(upstream.unwanted(), followed).await.is_none() {
                    drop(client);
                    if !upstream.wanted().await {
                        return;
                    }
                    continue;
                }
                // One that ends again and again is started at longer pauses, as one that cannot be reached.
                if runtime.now().saturating_since(began) >= LONGEST_PAUSE {
                    pause = FIRST_PAUSE;
                }
                "it has ended".to_owned()
            }
            Err(reason) => {
                drop(proxy);
                reason
            }
        };
        if !upstream.set(Main::Failed(reason)) {
            return;
        }
        let Some(proxy) = running.upgrade() else {
            return;
        };
        if !proxy.keeps_items {
            proxy.catalog.clear(&upstream.name);
        }
        let runtime = proxy.runtime.clone();
        drop(proxy);
        if until(upstream.removed(), sleep(&runtime, pause))
            .await
            .is_none()
        {
            return;
        }
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Connects, and reads the lists.
async fn open(
    proxy: &Arc<Running>,
    upstream: &Upstream,
) -> Result<(Arc<Session>, Option<Subscription>), String> {
    let opened = proxy
        .open_by(
            upstream,
            &upstream.entry,
            ClientFeatures::NONE,
            Caller::Nobody,
            Owner::Proxy,
        )
        .await;
    let session = opened.map_err(|error| match error {
        OpenError::Full => "there are too many sessions".to_owned(),
        OpenError::Unverified | OpenError::Refused(_) => "it is for verified callers".to_owned(),
        OpenError::Failed(error) => describe(&error),
    })?;
    upstream.note(&session.client);
    // Before the lists are read, so that no change is missed. Without it a server can be used, too.
    let changes = within(&proxy.runtime, SUBSCRIBING, session.client.changes()).await;
    let changes = changes.and_then(Result::ok);
    let failed = proxy
        .catalog
        .refresh(&upstream.name, &session.client, Lists::ALL)
        .await;
    match failed.into_iter().next() {
        Some(error) => Err(ErrorChain(&error).to_string()),
        None => Ok((session, changes)),
    }
}

/// Reads lists again that have changed, until the connection ends.
async fn follow(
    running: &Weak<Running>,
    upstream: &Upstream,
    client: &Client,
    changes: Option<Subscription>,
) {
    let Some(mut changes) = changes else {
        // Its lists do not change.
        let _ = client.closed().await;
        return;
    };
    while let Some(update) = changes.next().await {
        let mut lists = Lists::from(&update);
        while !lists.is_empty() {
            let Some(proxy) = running.upgrade() else {
                return;
            };
            // What cannot be read stays as it was.
            proxy.catalog.refresh(&upstream.name, client, lists).await;
            let runtime = proxy.runtime.clone();
            drop(proxy);
            // A server that changes its lists all the time does not take all of the time of this process.
            lists = Lists::NONE;
            let gathering = async {
                while let Some(update) = changes.next().await {
                    lists = lists.with(Lists::from(&update));
                }
            };
            let _: Option<()> = within(&runtime, REFRESH_PAUSE, gathering).await;
        }
    }
    let _ = client.closed().await;
}

fn describe(error: &ConnectError) -> String {
    ErrorChain(error).to_string()
}

const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// The shortest time between two readings of the lists of one server.
const REFRESH_PAUSE: Duration = Duration::from_millis(100);
/// The time for a server to acknowledge a subscription.
const SUBSCRIBING: Duration = Duration::from_secs(10);
