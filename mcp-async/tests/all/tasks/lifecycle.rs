//! From the call to the result.

use mcp_async::model::LoggingLevel;
use mcp_async::server::{Context, Tool};
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_proto::Revision;

use super::support::{
    Running, TASKS, about, call, client, create, pass, server, server_with, sleep, status,
};
use crate::scripted::{LineClient, member, text};
use crate::texts::INTERNAL_ERROR;
use crate::texts::has;

/// TK-30, TK-34, TK-35, TK-36, TK-53, TK-56
#[test]
fn a_task_is_created_followed_and_completed() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let created = call(&mut wire, "job", r#"{"steps":2}"#);
    let id = text(&created, &["result", "taskId"]);
    assert_eq!(id.len(), 32, "{created}");
    assert_eq!(text(&created, &["result", "resultType"]), "task");
    assert_eq!(text(&created, &["result", "status"]), "working");
    assert_eq!(
        text(&created, &["result", "createdAt"]),
        "1970-01-02T00:00:00.000Z"
    );
    assert_eq!(member(&created, &["result", "ttlMs"]), "86400000");
    assert_eq!(member(&created, &["result", "pollIntervalMs"]), "1000");
    for absent in ["requestState", "inputRequests", "result", "_meta.task"] {
        assert_eq!(member(&created, &["result", absent]), "", "{created}");
    }
    // It is there before the client asks, and before its handler has run.
    assert_eq!(running.get(), 0);
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "resultType"]), "complete");
    assert_eq!(text(&got, &["result", "status"]), "working");
    pass(100);
    assert_eq!(running.get(), 1);
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "statusMessage"]), "1/2");
    assert_eq!(
        text(&got, &["result", "lastUpdatedAt"]),
        "1970-01-02T00:00:00.100Z"
    );
    pass(100);
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(text(&got, &["result", "status"]), "completed");
    assert_eq!(
        member(&got, &["result", "result"]),
        r#"{"content":[{"type":"text","text":"done"}]}"#
    );
    assert_eq!(running.get(), 0);
}

/// TK-30, TK-33, TK-47, TK-48
#[test]
fn only_the_declaration_of_the_very_call_makes_a_task() {
    let (server, _) = server(Tasks::new());
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    for params in [
        r#"{"name":"job"}"#,
        r#"{"name":"job","task":{"ttl":1}}"#,
        r#"{"name":"plain","task":{"ttl":1}}"#,
    ] {
        let answer = wire.ask("tools/call", params);
        assert_eq!(text(&answer, &["result", "resultType"]), "complete");
    }
    let refused = call(&mut wire, "job_only", "{}");
    assert_eq!(member(&refused, &["error", "code"]), "-32021");
    assert_eq!(
        member(&refused, &["error", "data", "requiredCapabilities"]),
        r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#
    );
    let refused = about(&mut wire, "tasks/get", "x");
    assert_eq!(member(&refused, &["error", "code"]), "-32021");
    for revision in
        crate::server_typed::support::revisions().filter(|revision| revision.is_legacy())
    {
        let mut wire = LineClient::declaring(&server, revision, TASKS);
        has(&call(&mut wire, "job", "{}"), [r#""text":"done""#]);
        has(&call(&mut wire, "job_only", "{}"), ["tasks only"]);
    }
    // A tool without a policy never becomes a task.
    let mut wire = client(&server);
    let answer = call(&mut wire, "plain", "{}");
    assert_eq!(text(&answer, &["result", "resultType"]), "complete");
    for method in ["tasks/list", "tasks/result"] {
        let refused = about(&mut wire, method, "x");
        assert_eq!(member(&refused, &["error", "code"]), "-32601");
    }
}

/// PG-08, TK-53: the same tool sends both from its exchange, and neither from its task, whose listen
/// has its status message.
#[test]
fn a_task_sends_neither_progress_nor_log_messages() {
    const SENT: [&str; 2] = ["notifications/progress", "notifications/message"];
    let (server, _) = server_with(Tasks::new(), |server| {
        let talks = Tool::new("talks").task(TaskPolicy::Optional).handler(
            |(): (), cx: Context<Running>| async move {
                for step in 1..=2 {
                    cx.log(LoggingLevel::Error, &step).await;
                    sleep(100).await;
                    cx.progress(f64::from(step)).message("on the way").await;
                }
                Ok("done")
            },
        );
        server.logging().with(talks)
    });
    let asked = concat!(
        r#"{"name":"talks","_meta":{"progressToken":"p","#,
        r#""io.modelcontextprotocol/logLevel":"debug"}}"#
    );
    let heard_of = |heard: &[String], text: &str| heard.iter().any(|line| line.contains(text));
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    let exchange = wire.send("tools/call", asked);
    for _ in 0..3 {
        pass(100);
        wire.settle();
    }
    assert!(wire.answer(exchange).is_some());
    let heard = wire.hear();
    assert!(
        SENT.iter().all(|method| heard_of(&heard, method)),
        "{heard:?}"
    );

    let mut wire = client(&server);
    let created = wire.ask("tools/call", asked);
    assert_eq!(text(&created, &["result", "resultType"]), "task");
    let id = text(&created, &["result", "taskId"]);
    let listen = format!(r#"{{"notifications":{{"taskIds":["{id}"]}}}}"#);
    wire.send("subscriptions/listen", &listen);
    for _ in 0..3 {
        pass(100);
        wire.settle();
    }
    assert_eq!(status(&mut wire, &id), "completed");
    let heard = wire.hear();
    let message = r#""statusMessage":"on the way""#;
    assert!(heard_of(&heard, message), "{heard:?}");
    assert!(
        !SENT.iter().any(|method| heard_of(&heard, method)),
        "{heard:?}"
    );
}

/// TK-43, TK-64
#[test]
fn failures_have_the_shape_of_their_kind() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let tool = create(&mut wire, "job", r#"{"fail":"tool"}"#);
    let protocol = create(&mut wire, "job", r#"{"fail":"protocol"}"#);
    let panic = create(&mut wire, "job", r#"{"fail":"panic"}"#);
    pass(0);
    let got = about(&mut wire, "tasks/get", &tool);
    assert_eq!(text(&got, &["result", "status"]), "completed");
    assert_eq!(member(&got, &["result", "result", "isError"]), "true");
    for (id, message) in [(protocol, "job failed"), (panic, INTERNAL_ERROR)] {
        let got = about(&mut wire, "tasks/get", &id);
        assert_eq!(text(&got, &["result", "status"]), "failed");
        assert_eq!(member(&got, &["result", "error", "code"]), "-32603");
        assert_eq!(text(&got, &["result", "error", "message"]), message);
        assert_eq!(text(&got, &["result", "statusMessage"]), message);
        assert_eq!(member(&got, &["result", "result"]), "");
        assert!(!got.contains("secret"));
    }
    assert_eq!(running.get(), 0);
}

/// TK-41, TK-42
#[test]
fn a_cancelled_task_stops_its_handler_and_stays_cancelled() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":1000}"#);
    pass(150);
    assert_eq!(running.get(), 1);
    let answer = about(&mut wire, "tasks/cancel", &id);
    assert_eq!(text(&answer, &["result", "resultType"]), "complete");
    assert_eq!(member(&answer, &["result", "taskId"]), "");
    assert_eq!(status(&mut wire, &id), "cancelled");
    assert_eq!(running.get(), 0);
    pass(1000);
    assert_eq!(status(&mut wire, &id), "cancelled");
    // TK-42: of an ended task the same acknowledgement.
    let again = about(&mut wire, "tasks/cancel", &id);
    assert_eq!(text(&again, &["result", "resultType"]), "complete");
    let unknown = about(&mut wire, "tasks/cancel", "none");
    assert_eq!(member(&unknown, &["error", "code"]), "-32602");
}

/// TK-34
#[test]
fn the_end_of_a_connection_leaves_its_tasks_alone() {
    let (server, running) = server(Tasks::new());
    let server = server.build().unwrap();
    let mut wire = LineClient::declaring(&server, Revision::V2026_07_28, TASKS);
    let id = create(&mut wire, "job", r#"{"steps":2}"#);
    pass(100);
    drop(wire);
    assert_eq!(running.get(), 1);
    pass(100);
    let mut wire = LineClient::declaring(&server, Revision::V2026_07_28, TASKS);
    assert_eq!(status(&mut wire, &id), "completed");
}
