//! Resources that callers watch.

use core::time::Duration;

use mcp_async::client::{Subscription, Update};
use mcp_async::runtime::within;
use mcp_async::{Server, in_memory};
use mcp_compose::{Proxy, ServerEntry};

use super::{caller, front, in_each_pair};
use crate::support::{only, runtime};

async fn updated(changes: &mut Subscription) -> Option<String> {
    let next = within(&runtime(), Duration::from_secs(5), changes.next()).await;
    match next.flatten() {
        Some(Update::Resource(uri)) => Some(uri),
        _ => None,
    }
}

#[test]
fn changes_of_a_resource_reach_those_who_watch_it() {
    in_each_pair(|upstream, revision| async move {
        let revisions = mcp_async::RevisionSet::of(&[upstream]);
        let back = Server::builder("back", "1.0")
            .revisions(revisions)
            .change_notifications()
            .resource("note://1", "one", |_| async { Ok("one") })
            .resource("note://2", "two", |_| async { Ok("two") })
            .build()
            .expect("it is well formed");
        let registry = back.registry();
        let proxy = Proxy::builder()
            .entry(ServerEntry::connector("back", move || {
                in_memory(runtime(), &back)
            }))
            .start(runtime())
            .await;
        let front = front(&proxy);
        let (ada, bob) = (
            caller(&front, only(revision)).await,
            caller(&front, only(revision)).await,
        );
        let mut of_ada = ada.subscribe("note://1").await.expect("a subscription");
        let mut of_bob = bob.subscribe("note://2").await.expect("a subscription");
        // The proxy subscribes by itself.
        within(
            &runtime(),
            Duration::from_secs(1),
            core::future::pending::<()>(),
        )
        .await;
        registry.resource_updated("note://1");
        assert_eq!(
            updated(&mut of_ada).await.as_deref(),
            Some("note://1"),
            "{upstream} {revision}"
        );
        assert_eq!(updated(&mut of_bob).await, None, "{upstream} {revision}");
        registry.resource_updated("note://2");
        assert_eq!(
            updated(&mut of_bob).await.as_deref(),
            Some("note://2"),
            "{upstream} {revision}"
        );
        // Who comes later shares the subscription.
        let mut late = bob.subscribe("note://1").await.expect("a subscription");
        registry.resource_updated("note://1");
        assert_eq!(
            updated(&mut late).await.as_deref(),
            Some("note://1"),
            "{upstream} {revision}"
        );
        drop((of_ada, of_bob, late));
    });
}
