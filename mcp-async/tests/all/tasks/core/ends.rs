//! How tasks of 2025-11-25 end.

use core::time::Duration;

use mcp_async::server::layers::Timeout;
use mcp_async::tasks::server::Tasks;

use super::support::{answer, client, create, hear, related, says, server, want};
use crate::scripted::{member, text};
use crate::sim;
use crate::tasks::support::{about, pass, status};
use crate::texts::INTERNAL_ERROR;

/// TK-08, TK-12, TK-13
#[test]
fn the_result_waits_for_the_end_of_its_task() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":2}"#);
    let wanted = want(&mut wire, &id);
    for _ in 0..2 {
        assert_eq!(answer(&mut wire, wanted), None);
        pass(100);
    }
    let meta = related(&id);
    let result = answer(&mut wire, wanted).unwrap();
    let content = r#""content":[{"type":"text","text":"done"}]"#;
    let expected = format!(r#"{{"jsonrpc":"2.0","id":{wanted},"result":{{{content},{meta}}}}}"#);
    assert_eq!(result, expected);
    // It can be read again, and the task stays as it is.
    let again = want(&mut wire, &id);
    assert!(answer(&mut wire, again).unwrap().contains(content));
    let refused = about(&mut wire, "tasks/cancel", &id);
    assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
    assert_eq!(status(&mut wire, &id), "completed");
}

/// TK-12, TK-18
#[test]
fn a_failure_is_that_of_the_call() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    for (fail, code, message) in [
        ("tool", "", ""),
        ("protocol", "-32603", "job failed"),
        ("panic", "-32603", INTERNAL_ERROR),
    ] {
        let id = create(&mut wire, "job", &format!(r#"{{"fail":"{fail}"}}"#));
        assert_eq!(status(&mut wire, &id), "failed", "{fail}");
        let wanted = want(&mut wire, &id);
        let result = answer(&mut wire, wanted).unwrap();
        assert_eq!(member(&result, &["error", "code"]), code, "{result}");
        match message.is_empty() {
            true => {
                assert_eq!(member(&result, &["result", "isError"]), "true");
                assert!(result.contains(&related(&id)), "{result}");
            }
            false => assert_eq!(text(&result, &["error", "message"]), message),
        }
    }
}

/// TK-08, TK-14, TK-15
#[test]
fn a_cancelled_task_stays_cancelled() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":5}"#);
    let wanted = want(&mut wire, &id);
    let cancelled = about(&mut wire, "tasks/cancel", &id);
    assert_eq!(text(&cancelled, &["result", "taskId"]), id);
    assert_eq!(text(&cancelled, &["result", "status"]), "cancelled");
    let result = answer(&mut wire, wanted).unwrap();
    let message = text(&result, &["error", "message"]);
    assert_eq!(message, "the task was cancelled");
    pass(100);
    assert_eq!(running.get(), 0);
    for _ in 0..2 {
        let refused = about(&mut wire, "tasks/cancel", &id);
        assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
        assert_eq!(status(&mut wire, &id), "cancelled");
    }
    sim::end();
}

/// TK-16
#[test]
fn the_session_is_notified_of_its_tasks() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":2}"#);
    let mut told = Vec::new();
    for _ in 0..3 {
        pass(100);
        for line in hear(&mut wire, "notifications/tasks/status") {
            let params = member(&line, &["params"]);
            assert_eq!(text(&params, &["taskId"]), id);
            assert_eq!(member(&params, &["_meta"]), "");
            let message = text(&params, &["statusMessage"]);
            told.push(format!("{} {message}", text(&params, &["status"])));
        }
    }
    assert_eq!(told.last().unwrap(), "completed 2/2", "{told:?}");
    assert!(told.contains(&"working 1/2".to_owned()), "{told:?}");
    // A task that ends at once is notified after the answer that created it.
    let id = create(&mut wire, "job", "{}");
    let told = hear(&mut wire, "notifications/tasks/status");
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(&id), "{told:?}");
    sim::end();
}

#[test]
fn a_time_limit_of_requests_does_not_end_the_wait() {
    let (server, _) = server(Tasks::new());
    let limit = Timeout::new(Duration::from_millis(100));
    let mut wire = client(&server.layer(limit));
    let id = create(&mut wire, "job", r#"{"steps":5}"#);
    let wanted = want(&mut wire, &id);
    for _ in 0..5 {
        pass(100);
        wire.advance(Duration::from_millis(100));
    }
    says(&mut wire, wanted, r#""text":"done""#);
    sim::end();
}

#[test]
fn a_request_for_a_result_ends_without_its_task() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"steps":2}"#);
    let wanted = want(&mut wire, &id);
    wire.cancel(wanted);
    assert_eq!(answer(&mut wire, wanted), None);
    assert_eq!(
        (status(&mut wire, &id), running.get()),
        ("working".to_owned(), 1)
    );
    sim::end();
}
