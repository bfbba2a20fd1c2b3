//! Subscriptions to tasks.

use mcp_async::tasks::server::Tasks;
use mcp_proto::Revision;

use super::support::{accept, client, create, pass, server, update};
use crate::server_typed::support::{Wire, member, text};

/// TK-45
#[test]
fn a_subscription_reports_each_change_of_its_tasks() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":2,"ask":1}"#);
    let listen = format!(r#"{{"notifications":{{"taskIds":["{id}","unknown"]}}}}"#);
    wire.send("subscriptions/listen", &listen);
    let heard = |wire: &mut Wire| {
        wire.answer(0);
        core::mem::take(&mut wire.heard)
    };
    let acknowledged = heard(&mut wire);
    assert_eq!(acknowledged.len(), 1, "{acknowledged:?}");
    let accepted = member(&acknowledged[0], &["params", "notifications", "taskIds"]);
    assert_eq!(accepted, format!(r#"["{id}"]"#));
    let mut seen = Vec::new();
    for turn in 0..8 {
        pass(100);
        if turn == 4 {
            update(&mut wire, &id, &accept("q1", "yes"));
        }
        for line in heard(&mut wire) {
            assert_eq!(text(&line, &["method"]), "notifications/tasks");
            let meta = ["params", "_meta", "io.modelcontextprotocol/subscriptionId"];
            assert_eq!(member(&line, &meta), "2", "{line}");
            assert_eq!(text(&line, &["params", "taskId"]), id);
            seen.push(format!(
                "{} {}",
                text(&line, &["params", "status"]),
                text(&line, &["params", "statusMessage"])
            ));
        }
    }
    assert_eq!(
        seen,
        [
            "working 1/2",
            "input_required 2/2",
            "working 2/2",
            "completed 2/2"
        ]
    );
}

/// TK-44
#[test]
fn a_subscription_to_tasks_needs_the_extension() {
    let (server, _) = server(Tasks::new());
    let mut wire = Wire::new(&server, Revision::V2026_07_28);
    let refused = wire.ask(
        "subscriptions/listen",
        r#"{"notifications":{"taskIds":["a"]}}"#,
    );
    assert_eq!(member(&refused, &["error", "code"]), "-32021", "{refused}");
}
