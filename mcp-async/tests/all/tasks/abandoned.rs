//! Tasks that no client asks about.

use core::time::Duration;
use std::env;

use allocation_counter::measure;
use mcp_async::Server;
use mcp_async::tasks::server::Tasks;
use mcp_async::tasks::store::MemoryTaskStore;
use mcp_proto::Revision;

use super::support::{BOTH, Running, create, pass, server};
use crate::scripted::LineClient;
use crate::sim;

/// TK-60: tasks of every kind are created and abandoned, with their connections. Afterwards neither
/// the store nor the memory has anything of them. `ABANDONED_TASKS` sets their number.
#[test]
fn abandoned_tasks_leave_nothing_behind() {
    let count = env::var("ABANDONED_TASKS").ok();
    let count = count.map_or(2_000, |count| count.parse::<usize>().unwrap());
    let store = MemoryTaskStore::new();
    let tasks = Tasks::new().ttl(Some(Duration::from_millis(100)));
    let (server, running) = server(tasks.store(store.clone()).max(500));
    let server = server.build().unwrap();
    // Tables grow to their size.
    for _ in 0..2 {
        abandon(&server, &store, &running);
    }
    let rounds = count.div_ceil(ROUND);
    let left = measure(|| {
        for _ in 0..rounds {
            abandon(&server, &store, &running);
        }
    });
    // A table may have grown once more.
    assert!(left.bytes_current.abs() < 16 << 10, "{left:?}");
}

fn abandon(server: &Server<Running>, store: &MemoryTaskStore, running: &Running) {
    let mut wire = LineClient::declaring(server, Revision::V2026_07_28, BOTH);
    let kinds = [
        ("job", r#"{"ask":1}"#),
        ("job", r#"{"steps":1000}"#),
        ("job_only", r#"{"fail":"tool"}"#),
        ("deferred", r#"{"steps":1}"#),
        ("withdraws", "{}"),
    ];
    for (tool, arguments) in kinds.iter().cycle().take(ROUND) {
        create(&mut wire, tool, arguments);
    }
    sim::settle();
    drop(wire);
    for millis in [100, 1_000, 1_000, 1_000, 500, 500] {
        pass(millis);
    }
    assert_eq!((store.len(), running.get(), sim::settle()), (0, 0, 0));
}

/// Tasks of one connection.
const ROUND: usize = 500;
