//! Questions of tasks.

use mcp_async::tasks::server::Tasks;

use super::support::{TASKS, about, accept, call, client, create, pass, server, status, update};
use crate::scripted::{LineClient, member, text};
use crate::texts::has;

/// TK-36, TK-39, TK-40, TK-63
#[test]
fn questions_wait_in_the_task_for_their_answers() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":2}"#);
    assert_eq!(status(&mut wire, &id), "input_required");
    let got = about(&mut wire, "tasks/get", &id);
    for key in ["q1", "q2"] {
        let asked = ["result", "inputRequests", key, "method"];
        assert_eq!(text(&got, &asked), "elicitation/create", "{got}");
    }
    // An unknown key changes nothing; a part of the answers is taken.
    let answer = update(&mut wire, &id, &accept("other", "x"));
    assert_eq!(text(&answer, &["result", "resultType"]), "complete");
    assert_eq!(status(&mut wire, &id), "input_required");
    update(&mut wire, &id, &accept("q2", "two"));
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(member(&got, &["result", "inputRequests", "q2"]), "");
    assert_ne!(member(&got, &["result", "inputRequests", "q1"]), "");
    assert_eq!(text(&got, &["result", "status"]), "input_required");
    assert_eq!(running.get(), 1, "the handler waits");
    // The first answer counts.
    update(&mut wire, &id, &accept("q2", "late"));
    update(&mut wire, &id, &accept("q1", "one"));
    has(
        &about(&mut wire, "tasks/get", &id),
        [r#""text":"done one two""#],
    );
    // An ended task takes no answers, and says nothing of it.
    let answer = update(&mut wire, &id, &accept("q1", "x"));
    assert_eq!(text(&answer, &["result", "resultType"]), "complete");
}

#[test]
fn a_malformed_answer_refuses_the_whole_update() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    let id = create(&mut wire, "job", r#"{"ask":2}"#);
    pass(0);
    for malformed in [
        r#""q1":7"#,
        r#""q1":{"action":"maybe"}"#,
        r#""q1":{"action":"accept","content":{"answer":7}}"#,
        r#""q1":{"action":"accept"}"#,
    ] {
        let both = format!("{},{malformed}", accept("q2", "two"));
        let refused = update(&mut wire, &id, &both);
        assert_eq!(member(&refused, &["error", "code"]), "-32602", "{refused}");
    }
    let refused = wire.ask("tasks/update", &format!(r#"{{"taskId":"{id}"}}"#));
    assert_eq!(member(&refused, &["error", "code"]), "-32602");
    let got = about(&mut wire, "tasks/get", &id);
    assert_ne!(
        member(&got, &["result", "inputRequests", "q2"]),
        "",
        "no key is used up"
    );
    update(
        &mut wire,
        &id,
        &format!("{},{}", accept("q2", "two"), r#""q1":{"action":"decline"}"#),
    );
    has(
        &about(&mut wire, "tasks/get", &id),
        [r#""text":"done no two""#],
    );
}

/// TK-55
#[test]
fn what_the_client_did_not_declare_is_not_asked() {
    let (server, _) = server(Tasks::new());
    let mut wire = LineClient::declaring(&server, mcp_proto::Revision::V2026_07_28, TASKS);
    let id = create(&mut wire, "job", r#"{"ask":1}"#);
    assert_eq!(status(&mut wire, &id), "completed");
    let got = about(&mut wire, "tasks/get", &id);
    assert_eq!(member(&got, &["result", "result", "isError"]), "true");
}

/// TK-50
#[test]
fn a_deferred_task_finishes_its_rounds_first() {
    let (server, running) = server(Tasks::new());
    let mut wire = client(&server);
    let asked = call(&mut wire, "deferred", r#"{"ask":1,"steps":1}"#);
    assert_eq!(text(&asked, &["result", "resultType"]), "input_required");
    assert_eq!(member(&asked, &["result", "taskId"]), "");
    let state = member(&asked, &["result", "requestState"]);
    let params = format!(
        r#"{{"name":"deferred","arguments":{{"ask":1,"steps":1}},"requestState":{state},"inputResponses":{{{}}}}}"#,
        accept("name", "Ada")
    );
    let created = wire.ask("tools/call", &params);
    assert_eq!(
        text(&created, &["result", "resultType"]),
        "task",
        "{created}"
    );
    assert_eq!(member(&created, &["result", "requestState"]), "");
    let id = text(&created, &["result", "taskId"]);
    pass(100);
    has(
        &about(&mut wire, "tasks/get", &id),
        [r#""text":"Ada true""#],
    );
    // Without steps it ends in its exchange.
    has(&call(&mut wire, "deferred", "{}"), ["at once"]);
    assert_eq!(running.get(), 0);
}

#[test]
fn a_call_that_is_refused_makes_no_task() {
    let (server, _) = server(Tasks::new());
    let mut wire = client(&server);
    for tool in ["job", "deferred"] {
        let refused = call(&mut wire, tool, r#"{"steps":"many"}"#);
        assert_eq!(text(&refused, &["result", "resultType"]), "complete");
        assert_eq!(member(&refused, &["result", "isError"]), "true");
    }
}

/// TK-39, TK-57: a client answers a question once, also one that the handler does not ask at that
/// time.
#[test]
fn the_answer_to_a_withdrawn_question_is_kept_until_it_is_asked_again() {
    for seen in [500, 1500, 2500] {
        let (server, _) = server(Tasks::new());
        let mut wire = client(&server);
        let id = create(&mut wire, "withdraws", "{}");
        assert_eq!(status(&mut wire, &id), "input_required");
        (0..seen / 500).for_each(|_| pass(500));
        let open = if seen == 1500 {
            "working"
        } else {
            "input_required"
        };
        assert_eq!(status(&mut wire, &id), open, "{seen}");
        update(&mut wire, &id, &accept("name", "Ada"));
        (0..5).for_each(|_| pass(500));
        let got = about(&mut wire, "tasks/get", &id);
        let word = if seen == 500 { "in time" } else { "Ada" };
        assert!(got.contains(word), "{seen}: {got}");
        assert_eq!(status(&mut wire, &id), "completed");
    }
}
