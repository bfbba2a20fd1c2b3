//! Connections that end, and what follows them.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Waker};
use core::time::Duration;
use mcp_async::client::reopened;
use std::io;
use std::sync::{Arc, Mutex};
use std::task::Wake;

use mcp_async::Client;
use mcp_async::client::ConnectError;
use mcp_async::client::{CallError, ClientBuilder, ConnectionState, RestartPolicy, Update};
use mcp_async::model::{CacheScope, LoggingLevel};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};
use mcp_async::server::Peer;
use mcp_proto::Revision;

use crate::client_typed::support::{Demo, advance, each, only, poll_once, text};
use crate::server_typed::support::Offer;
use crate::sim::{Sim, begin, settle, spawn};

/// Makes connections to the server, and may refuse to.
#[derive(Clone, Default)]
struct Door(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    opened: usize,
    refused: usize,
    shut: bool,
    peers: Vec<Peer>,
}

impl Door {
    async fn enter(
        &self,
        server: &impl Offer,
        builder: ClientBuilder,
    ) -> Result<Client, ConnectError> {
        let (door, server) = (self.clone(), server.server());
        let open = move || {
            let opened = door.open(&server);
            async move { opened }
        };
        builder.connect(reopened(Sim.into(), open)).await
    }

    fn open<S>(&self, server: &mcp_async::Server<S>) -> io::Result<(PipeReader, PipeWriter)> {
        let mut state = self.0.lock().unwrap();
        if state.shut {
            state.refused += 1;
            return Err(io::ErrorKind::ConnectionRefused.into());
        }
        state.opened += 1;
        let (ours, theirs) = duplex(4096);
        let (served, peer) = server.connect(theirs.split(), Sim);
        state.peers.push(peer);
        spawn(async move { served.await.unwrap() });
        Ok(ours.split())
    }

    fn hang_up(&self) {
        for peer in &self.0.lock().unwrap().peers {
            peer.shutdown();
        }
        advance(Duration::from_secs(1));
    }

    fn shut(&self, shut: bool) {
        self.0.lock().unwrap().shut = shut;
    }

    fn counts(&self) -> (usize, usize) {
        let state = self.0.lock().unwrap();
        (state.opened, state.refused)
    }
}

fn policy() -> RestartPolicy {
    RestartPolicy::default()
        .attempts(3)
        .delays(Duration::from_secs(10), Duration::from_secs(40))
        .seed(7)
}

/// A client of the demo that connects again.
async fn restarting(demo: &Demo, revision: Revision) -> (Door, Client) {
    let door = Door::default();
    let builder = only(revision).restart(policy());
    let client = door.enter(&demo.server, builder).await.unwrap();
    (door, client)
}

/// ST-17.
#[test]
fn calls_wait_for_the_next_connection() {
    each(|demo, revision| async move {
        let (door, client) = restarting(&demo, revision).await;
        let never = begin(client.call_tool("never", &()));
        settle();
        door.hang_up();
        // It is not repeated: the server may have done a part of it.
        let ended = never.await;
        assert!(matches!(ended, Err(CallError::Server(_))), "{ended:?}");
        let hi = text("hi");
        let waits = begin(client.call_tool("echo", &hi));
        assert_eq!(waits.await.unwrap().text(), "hi", "{revision}");
        assert_eq!(door.counts(), (2, 0));
        client.close().await.unwrap();
        assert!(matches!(client.ping().await, Err(CallError::Closed)));
        advance(Duration::from_secs(600));
        assert_eq!(door.counts(), (2, 0));
    });
}

#[test]
fn the_state_of_the_connection_is_told() {
    each(|demo, revision| async move {
        let (door, client) = restarting(&demo, revision).await;
        let first = ConnectionState::Connected { connections: 1 };
        assert_eq!(client.connection(), first);
        let change = begin(client.connection_change(first));
        door.hang_up();
        assert_eq!(change.await, ConnectionState::Reconnecting);
        let next = client
            .connection_change(ConnectionState::Reconnecting)
            .await;
        assert_eq!(next, ConnectionState::Connected { connections: 2 });
        client.close().await.unwrap();
        assert_eq!(
            client.connection_change(next).await,
            ConnectionState::Closed
        );
    });
}

#[test]
fn without_a_policy_the_end_is_the_end() {
    each(|demo, revision| async move {
        let door = Door::default();
        let client = door.enter(&demo.server, only(revision)).await.unwrap();
        door.hang_up();
        assert!(matches!(client.ping().await, Err(CallError::Closed)));
        assert!(client.is_closed());
        assert_eq!(door.counts(), (1, 0));
    });
}

#[test]
fn it_gives_up_after_so_many_attempts() {
    each(|demo, revision| async move {
        let (door, client) = restarting(&demo, revision).await;
        door.shut(true);
        door.hang_up();
        assert!(matches!(client.ping().await, Err(CallError::Closed)));
        assert_eq!(door.counts(), (1, 3), "{revision}");
        assert!(client.is_closed());

        let refused = door.enter(&demo.server, only(revision)).await;
        assert!(
            matches!(refused, Err(ConnectError::Start(_))),
            "{refused:?}"
        );
    });
}

#[test]
fn what_the_session_knew_is_restored() {
    each(|mut demo, revision| async move {
        demo.server = demo
            .server
            .cache(Duration::from_secs(3600), CacheScope::Public);
        let server = demo.server.clone().change_notifications().build().unwrap();
        let registry = server.registry();
        let door = Door::default();
        let builder = only(revision).restart(policy());
        let client = door.enter(&server, builder).await.unwrap();
        let mut logs = client.logs();
        client.set_log_level(LoggingLevel::Error).await.unwrap();
        let mut changes = client.subscribe("note://1").await.unwrap();
        client.read_resource("note://1").await.unwrap();
        demo.seen.take();

        door.hang_up();
        // SB-13: what was cached may have changed meanwhile.
        client.read_resource("note://1").await.unwrap();
        assert_eq!(demo.seen.take(), ["read 1"], "{revision}");
        assert_eq!(
            changes.next().await,
            Some(Update::Reconnected),
            "{revision}"
        );
        // SB-10
        let next = begin(changes.next());
        settle();
        registry.resource_updated("note://1");
        let updated = Update::Resource("note://1".into());
        assert_eq!(next.await, Some(updated), "{revision}");
        client.call_tool("logs", &()).await.unwrap();
        let message = logs.next().await.unwrap();
        assert_eq!(message.level, LoggingLevel::Error, "{revision}");
        client.close().await.unwrap();
        assert_eq!(logs.next().await, None, "{revision}");
    });
}

#[test]
fn the_last_handle_ends_it_even_between_two_connections() {
    each(|demo, revision| async move {
        let (door, client) = restarting(&demo, revision).await;
        let mut logs = client.logs();
        door.shut(true);
        door.hang_up();
        drop(client);
        advance(Duration::from_secs(60));
        assert_eq!(logs.next().await, None);
        assert_eq!(door.counts().1, 0, "nobody would use it, {revision}");
    });
}

/// Calls of an array that never left were not sent: the next connection sends them, as it does with a call that waits for room.
#[test]
fn calls_of_an_array_that_never_left_wait_for_the_next_connection() {
    for gathers in [false, true] {
        crate::sim::run(async {
            let demo = crate::client_typed::support::Demo::new();
            let door = Door::default();
            let limits = mcp_async::Limits {
                output: 4096,
                batch_bytes: 4096,
                ..mcp_async::Limits::default()
            };
            let builder = only(mcp_proto::Revision::V2025_03_26)
                .restart(policy())
                .limits(limits);
            let client = door.enter(&demo.server, builder).await.unwrap();
            let long = "x".repeat(3980);
            let (long, hi) = (text(&long), text("hi"));
            let _fills = begin(client.call_tool("echo", &long));
            let mut batch = Box::pin(client.batch([client.call_tool("echo", &hi)]));
            if gathers {
                assert!(poll_once(batch.as_mut()).is_pending());
            }
            let waits = begin(client.call_tool("echo", &hi));
            door.hang_up();
            let waited = waits.await;
            assert!(waited.is_ok(), "gathers: {gathers}, {waited:?}");
            if gathers {
                let results = batch.await;
                assert!(results[0].is_ok(), "{results:?}");
            }
        });
        settle();
        crate::sim::end();
    }
}

/// A waker that wakes nothing.
struct Still;

impl Wake for Still {
    fn wake(self: Arc<Self>) {}
}

/// Polls a future once, as a task of its own that then ends.
#[track_caller]
fn give_up<F: Future>(future: F) {
    let task = Arc::new(Still);
    {
        let waker = Waker::from(Arc::clone(&task));
        let polled = pin!(future).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    }
    assert_eq!(Arc::strong_count(&task), 1, "the task is kept");
}

#[test]
fn a_task_that_waits_no_longer_is_forgotten() {
    each(|demo, revision| async move {
        let (door, client) = restarting(&demo, revision).await;
        give_up(client.closed());
        give_up(client.connection_change(client.connection()));
        door.shut(true);
        door.hang_up();
        assert_eq!(client.connection(), ConnectionState::Reconnecting);
        let waits = begin(client.ping());
        give_up(client.ping());
        give_up(client.batch([client.ping()]));
        give_up(client.changes());
        door.shut(false);
        waits.await.unwrap();
    });
}
