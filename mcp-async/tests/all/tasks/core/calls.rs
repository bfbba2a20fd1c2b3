//! Calls with the parameter `task`.

use core::time::Duration;

use mcp_async::tasks::server::Tasks;

use super::support::{answer, call, client, create, server, want};
use crate::scripted::{member, text};
use crate::sim;
use crate::tasks::support::{about, pass, status};
use crate::texts::has;

/// TK-07, TK-09
#[test]
fn a_call_becomes_a_task_at_once() {
    let hour = Some(Duration::from_secs(3600));
    let tasks = Tasks::new()
        .ttl(hour)
        .poll_interval(Duration::from_millis(50));
    let (server, running) = server(tasks);
    let mut wire = client(&server);
    for (tool, asked, ttl) in [
        ("job", "{}", "3600000"),
        ("job", r#"{"ttl":null}"#, "3600000"),
        ("job_only", r#"{"ttl":60000}"#, "60000"),
        ("deferred", r#"{"ttl":99999999999}"#, "3600000"),
    ] {
        let created = call(&mut wire, tool, r#"{"steps":3}"#, asked);
        let task = member(&created, &["result", "task"]);
        let id = text(&task, &["taskId"]);
        assert_eq!(
            (id.len(), text(&task, &["status"])),
            (32, "working".to_owned())
        );
        let created_at = text(&task, &["createdAt"]);
        assert!(created_at.starts_with("1970-01-02T"), "{created_at}");
        assert_eq!(text(&task, &["lastUpdatedAt"]), created_at);
        assert_eq!(member(&task, &["ttl"]), ttl, "{tool} {asked}");
        assert_eq!(member(&task, &["pollInterval"]), "50");
        assert_eq!(status(&mut wire, &id), "working");
    }
    assert_eq!(running.get(), 4);
    (0..3).for_each(|_| pass(100));
    assert_eq!(running.get(), 0);
    sim::end();
}

/// TK-05, TK-06
#[test]
fn a_tool_runs_in_its_own_ways_only() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let refused = call(&mut wire, "plain", "{}", "{}");
    assert_eq!(member(&refused, &["error", "code"]), "-32601", "{refused}");
    let refused = wire.error("tools/call", r#"{"name":"job_only","arguments":{}}"#);
    assert_eq!(refused.0, -32601, "{}", refused.1);
    for tool in ["job", "deferred", "plain"] {
        has(
            &wire.ask("tools/call", &format!(r#"{{"name":"{tool}"}}"#)),
            [r#""content":[{"#],
        );
    }
    let unknown = call(&mut wire, "unknown", "{}", "{}");
    assert_eq!(member(&unknown, &["error", "code"]), "-32602", "{unknown}");
}

#[test]
fn a_malformed_request_for_a_task_is_refused() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    for task in [
        "true",
        "[]",
        "null",
        r#"{"ttl":-1}"#,
        r#"{"ttl":1.5}"#,
        r#"{"ttl":"1"}"#,
    ] {
        let refused = call(&mut wire, "job", r#"{"steps":1}"#, task);
        assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
    }
    let twice = r#"{"name":"job","task":{},"task":{}}"#;
    assert_eq!(wire.error("tools/call", twice).0, -32602);
    assert_eq!(running.get(), 0);
}

/// TK-18
#[test]
fn arguments_that_do_not_fit_fail_the_task() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":"many"}"#);
    assert_eq!(status(&mut wire, &id), "failed");
    let wanted = want(&mut wire, &id);
    let result = answer(&mut wire, wanted).unwrap();
    assert_eq!(member(&result, &["result", "isError"]), "true", "{result}");
    assert_eq!(running.get(), 0);
}

/// TK-20
#[test]
fn tasks_are_bounded() {
    let (server, _) = server(Tasks::new().max(2));
    let mut wire = client(&server);
    for _ in 0..2 {
        create(&mut wire, "job", r#"{"steps":1}"#);
    }
    let refused = call(&mut wire, "job", r#"{"steps":1}"#, "{}");
    assert_eq!(
        text(&refused, &["error", "message"]),
        "limit reached: tasks"
    );
    sim::end();
}

/// TK-09, TK-14
#[test]
fn a_task_lives_as_long_as_its_client_asks() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let created = call(&mut wire, "job", r#"{"steps":1000}"#, r#"{"ttl":1000}"#);
    let id = text(&created, &["result", "task", "taskId"]);
    pass(900);
    assert_eq!(status(&mut wire, &id), "working");
    pass(200);
    assert_eq!(status(&mut wire, &id), "failed");
    assert_eq!(running.get(), 0);
    (0..6).for_each(|_| pass(500));
    for method in ["tasks/get", "tasks/result", "tasks/cancel"] {
        let refused = about(&mut wire, method, &id);
        assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
    }
    sim::end();
}
