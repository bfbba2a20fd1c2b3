//! Subscriptions to tasks.

use mcp_async::tasks::server::Tasks;
use mcp_proto::Revision;

use super::stores::Hostile;
use super::support::{accept, client, create, pass, server, update};
use crate::scripted::{LineClient, member, text};
use crate::sim;

/// TK-45
#[test]
fn a_subscription_reports_each_change_of_its_tasks() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":2,"ask":1}"#);
    let listen = format!(r#"{{"notifications":{{"taskIds":["{id}","unknown"]}}}}"#);
    wire.send("subscriptions/listen", &listen);
    let heard = |wire: &mut LineClient| {
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
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    let refused = wire.ask(
        "subscriptions/listen",
        r#"{"notifications":{"taskIds":["a"]}}"#,
    );
    assert_eq!(member(&refused, &["error", "code"]), "-32021", "{refused}");
    // EX-13: it is refused before its filter is read.
    let refused = wire.ask("subscriptions/listen", r#"{"notifications":{"taskIds":7}}"#);
    assert_eq!(member(&refused, &["error", "code"]), "-32021", "{refused}");
    let mut wire = client(&server);
    let refused = wire.ask("subscriptions/listen", r#"{"notifications":{"taskIds":7}}"#);
    assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
}

/// TK-45: one change costs the look at one task, and time costs one look at each at most.
#[test]
fn a_subscription_to_many_tasks_looks_at_those_that_change() {
    const TASKS: usize = 200;
    for is_prompt in [true, false] {
        let store = Hostile::counted(is_prompt);
        let (server, _) = server(Tasks::new().store(store.clone()));
        let mut wire = client(&server);
        let ids: Vec<String> = (0..TASKS)
            .map(|_| create(&mut wire, "job", r#"{"ask":1}"#))
            .collect();
        pass(0);
        let listen = format!(r#"{{"notifications":{{"taskIds":{ids:?}}}}}"#);
        wire.send("subscriptions/listen", &listen);
        wire.answer(0);
        assert_eq!(wire.heard.len(), 1);
        store.take_looks();
        update(&mut wire, &ids[7], &accept("q1", "yes"));
        wire.answer(0);
        pass(0);
        assert!(wire.heard.iter().any(|line| line.contains("completed")));
        let looks = store.take_looks();
        assert!(looks < 40, "{looks}");
        for _ in 0..4 {
            pass(500);
            wire.settle();
        }
        let looks = store.take_looks();
        let most = if is_prompt { 0 } else { TASKS * 4 * 10 };
        assert!(looks <= most, "{looks} looks in two seconds");
        sim::end();
    }
}
