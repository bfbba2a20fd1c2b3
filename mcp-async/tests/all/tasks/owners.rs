//! Whose tasks they are.

use crate::scripted::{member, text};
use crate::sim::Sim;
use crate::texts::UNKNOWN_TASK;
use mcp_async::tasks::server::Tasks;

use super::support::{
    about, accept, call, client, client_of, create, pass, server, status, update,
};

/// TK-49, TK-59
#[test]
fn the_task_of_another_is_unknown() {
    let (server, running) = server(Tasks::new());
    let store = mcp_async::tasks::store::MemoryTaskStore::new();
    let (shared, _) = super::support::server(Tasks::new().store(store));
    let _ = (server, running);
    let (mut ada, mut bob) = (client_of(&shared, "ada"), client_of(&shared, "bob"));
    let mut nobody = client(&shared);
    let id = create(&mut ada, "job", r#"{"ask":1}"#);
    pass(0);
    for stranger in [&mut bob, &mut nobody] {
        assert_eq!(status(stranger, &id), UNKNOWN_TASK);
        for method in ["tasks/cancel", "tasks/get"] {
            let refused = about(stranger, method, &id);
            assert_eq!(member(&refused, &["error", "code"]), "-32602");
        }
        let refused = update(stranger, &id, &accept("q1", "mine"));
        assert_eq!(member(&refused, &["error", "code"]), "-32602");
    }
    assert_eq!(status(&mut ada, &id), "input_required");
    update(&mut ada, &id, &accept("q1", "yes"));
    assert_eq!(status(&mut ada, &id), "completed");
}

/// TK-20
#[test]
fn each_principal_has_a_bound_of_its_own() {
    let (server, _) = server(Tasks::new().max_per_owner(1));
    let server = server.build().unwrap();
    let wire = |name: &'static str| {
        let server = server.clone();
        crate::scripted::LineClient::of(
            move |streams| {
                let (connection, peer) = server.connect(streams, Sim);
                let principal = mcp_async::server::Principal::new(name);
                (connection.with_principal(principal), peer)
            },
            mcp_proto::Revision::V2026_07_28,
            super::support::BOTH,
        )
    };
    let (mut ada, mut bob) = (wire("ada"), wire("bob"));
    create(&mut ada, "job", "{}");
    let refused = call(&mut ada, "job_only", "{}");
    assert_eq!(
        text(&refused, &["error", "message"]),
        "limit reached: tasks of one principal"
    );
    create(&mut bob, "job", "{}");
}
