//! How tasks end.

use core::pin::pin;
use core::time::Duration;

use mcp_async::client::{CallError, TaskError};
use mcp_async::runtime::Runtime as _;
use mcp_async::tasks::client::TaskOptions;
use mcp_proto::client::Failure;

use super::support::{
    Asked, Say, asking, call, completed, core_polled, created, done, polled, task, with_core_tasks,
    with_tasks,
};
use crate::client_typed::support::{advance, poll_once, run};
use crate::sim::{Sim, begin, give_up, settle};
use crate::texts::has;

#[test]
fn a_failed_task_is_the_error_of_its_call() {
    run(async {
        let error = r#","statusMessage":"m","error":{"code":-32050,"message":"out of paper","data":{"tray":2}}"#;
        let (result, log) = call(vec![Say::Result(task("failed", error))]).await;
        let Err(CallError::Server(error)) = result else {
            panic!("{result:?}");
        };
        assert_eq!(error.to_string(), "out of paper (code -32050)");
        assert_eq!(error.data.unwrap().as_raw().as_str(), r#"{"tray":2}"#);
        settle();
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

#[test]
fn a_cancelled_task_has_no_result() {
    run(async {
        let (result, _) = call(vec![Say::Result(task("cancelled", ""))]).await;
        assert!(matches!(
            result,
            Err(CallError::Task(TaskError::Cancelled(None)))
        ));
        let message = r#","statusMessage":"by the operator""#;
        let (result, _) = call(vec![Say::Result(task("cancelled", message))]).await;
        assert_eq!(
            result.unwrap_err().to_string(),
            "the task was cancelled: by the operator"
        );
    });
}

/// The answer that creates a task, to the request of this id.
fn created_for(id: &str) -> String {
    let task = task("working", "").replace("complete", "task");
    format!("{id} = {task}")
}

/// TK-52, TK-54, EX-09: the server creates a task for a call that is over.
#[test]
fn a_task_that_is_created_too_late_is_cancelled() {
    let late = |asked: &Asked| match &*asked.method {
        "notifications/cancelled" => Say::Lines(vec![created_for(&asked.text(&["requestId"]))]),
        "tasks/cancel" => Say::Result(r#"{"resultType":"complete"}"#.to_owned()),
        _ => Say::Nothing,
    };
    run(async move {
        let (client, log) = with_tasks(late).await;
        give_up(client.call_tool("job", &()));
        let expected = ["tools/call", "notifications/cancelled", "tasks/cancel"];
        assert_eq!(log.methods(), expected);
        assert_eq!(log.texts("tasks/cancel", &["taskId"]), [r#""t""#]);
        // A call that took too long.
        let call = client.call_tool("job", &()).timeout(Duration::from_secs(1));
        assert!(matches!(call.await, Err(CallError::Timeout)));
        settle();
        assert_eq!(log.count("tasks/cancel"), 2);
        client.close().await.unwrap();
    });
}

/// TK-62: the server answers 64 calls after all of them were dropped.
#[test]
fn tk_62_calls_that_are_dropped_together_leave_no_tasks() {
    let mut answers = Vec::new();
    let late = move |asked: &Asked| match &*asked.method {
        "notifications/cancelled" => {
            answers.push(created_for(&asked.text(&["requestId"])));
            match answers.len() {
                64 => Say::Lines(answers.clone()),
                _ => Say::Nothing,
            }
        }
        "tasks/cancel" => Say::Result(r#"{"resultType":"complete"}"#.to_owned()),
        _ => Say::Nothing,
    };
    run(async move {
        let (client, log) = with_tasks(late).await;
        let mut calls: Vec<_> = (0..64).map(|_| client.call_tool("job", &())).collect();
        for call in &mut calls {
            assert!(poll_once(pin!(call)).is_pending());
        }
        settle();
        drop(calls);
        settle();
        assert_eq!(log.count("notifications/cancelled"), 64);
        assert_eq!(log.count("tasks/cancel"), 64);
    });
}

/// TK-62: the answer has arrived, and its call is dropped before it is polled again.
#[test]
fn tk_62_a_task_whose_creation_was_not_taken_is_cancelled() {
    run(async {
        let (client, log) = with_tasks(polled(vec![Say::Result(task("working", ""))])).await;
        give_up(client.call_tool("job", &()));
        assert_eq!(log.requests(), ["tools/call", "tasks/cancel"]);
        assert_eq!(log.texts("tasks/cancel", &["taskId"]), [r#""t""#]);
        // So it is with a handle.
        give_up(client.call_tool_task("job", &()));
        assert_eq!(log.count("tasks/cancel"), 2);
    });
    run(async {
        let options = TaskOptions::default();
        let (client, log) = with_core_tasks(options, core_polled(&["working"], done)).await;
        client.tools().all().await.unwrap();
        for (tool, cancelled) in [("plain", 0), ("job", 1)] {
            give_up(client.call_tool(tool, &()));
            assert_eq!(log.count("tasks/cancel"), cancelled, "{tool}");
        }
    });
}

/// LC-19, TK-62: the time of a call and that of its task are one.
#[test]
fn a_call_and_its_task_are_bounded_together() {
    let mut id = String::new();
    let mut polls = polled(vec![Say::Result(task("working", ""))]);
    let answer = move |asked: &Asked| match &*asked.method {
        "tools/call" => {
            id = asked.id.clone().unwrap_or_default();
            Say::Nothing
        }
        "tools/list" => {
            let tools =
                r#"ID = {"resultType":"complete","tools":[],"ttlMs":0,"cacheScope":"private"}"#;
            Say::Lines(vec![created_for(&id), tools.to_owned()])
        }
        _ => polls(asked),
    };
    run(async move {
        let (client, log) = with_tasks(answer).await;
        let begun = Sim.now();
        let call = begin(
            client
                .call_tool("job", &())
                .max_duration(Duration::from_secs(10)),
        );
        advance(Duration::from_secs(6));
        client.tools().all().await.unwrap();
        assert!(matches!(call.await, Err(CallError::Timeout)));
        assert_eq!(Sim.now().saturating_since(begun), Duration::from_secs(10));
        settle();
        assert_eq!(log.count("tasks/cancel"), 1);
    });
}

/// JR-33: a second answer to a call that is followed changes nothing.
#[test]
fn a_task_that_is_stated_twice_is_followed() {
    run(async {
        let (client, log) = with_tasks(|asked| match &*asked.method {
            "tools/call" => Say::Lines(vec![created_for("ID"), created_for("ID")]),
            "tasks/get" => completed("once"),
            _ => Say::Nothing,
        })
        .await;
        let result = client.call_tool("job", &()).await.unwrap();
        assert_eq!(result.text(), "once");
        settle();
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

/// TK-36, TK-65
#[test]
fn nonsense_is_reported_as_such() {
    let check = |answer: String, expected: &str| {
        run(async {
            let (result, log) = call(vec![Say::Result(answer)]).await;
            let error = result.expect_err(expected);
            let source = core::error::Error::source(&error);
            has(
                &source.map_or(error.to_string(), |source| source.to_string()),
                [expected],
            );
            settle();
            assert_eq!(log.count("tasks/cancel"), 1);
        });
    };
    check(task("working", "").replace("999999", "1.5"), "ttlMs");
    check(
        task("working", "").replace("999999", "9007199254740992"),
        "2^53",
    );
    check(task("paused", ""), "status");
    check(
        task("working", r#","result":{}"#),
        "is not completed and has a result",
    );
    check(task("completed", ""), "it is completed and has no result");
    check(task("failed", ""), "it failed and has no error");
    check(task("input_required", ""), "has no inputRequests");
    check(
        task("working", "").replace(r#""t""#, r#""other""#),
        "another task",
    );
    check(r#"{"resultType":"complete"}"#.to_owned(), "taskId");
    let question = r#","inputRequests":{"q":{"method":"elicitation/create","params":{}}}"#;
    for status in ["working", "cancelled"] {
        check(
            task(status, question),
            "needs no input and has inputRequests",
        );
    }
    let ended = format!(r#","result":{{"content":[]}}{question}"#);
    check(
        task("completed", &ended),
        "needs no input and has inputRequests",
    );
    let failed = r#","error":{"code":-32603,"message":"no"},"result":{}"#;
    check(task("failed", failed), "is not completed and has a result");
    let twice = r#","result":{"content":[]},"error":{"code":-32603,"message":"no"}"#;
    check(task("completed", twice), "did not fail and has an error");
}

/// TK-32, TK-35: only the call of a tool is answered with a task.
#[test]
fn a_task_in_answer_to_a_request_about_a_task_is_invalid() {
    run(async {
        let other = Say::Result(task("working", "").replace("complete", "task"));
        let (result, _) = call(vec![other]).await;
        let error = result.unwrap_err();
        assert!(
            matches!(error, CallError::Failed(Failure::ResultType)),
            "{error}"
        );
        for update in ["task", "input_required", "other"] {
            let mut polls = 0;
            let (client, _) = with_tasks(move |asked: &Asked| match &*asked.method {
                "tools/call" => created(),
                "tasks/get" => {
                    polls += 1;
                    match polls {
                        1 => asking(&[("q", "one")]),
                        _ => completed("done"),
                    }
                }
                _ => Say::Result(task("working", "").replace("complete", update)),
            })
            .await;
            let error = client.call_tool("job", &()).await.unwrap_err();
            assert!(matches!(error, CallError::Failed(_)), "{update}: {error}");
        }
    });
}

/// What a server asks is bounded, in total and at a time.
#[test]
fn a_task_that_asks_without_end_is_given_up() {
    let check = |mut get: Box<dyn FnMut(usize) -> Say>, polls: core::ops::RangeInclusive<usize>| {
        run(async {
            let mut turn = 0;
            let answer = move |asked: &Asked| match &*asked.method {
                "tools/call" => created(),
                "tasks/get" => {
                    turn += 1;
                    get(turn)
                }
                "tasks/update" => Say::Result(r#"{"resultType":"complete"}"#.to_owned()),
                _ => Say::Nothing,
            };
            let (client, log) = with_tasks(answer).await;
            let error = client.call_tool("job", &()).await.unwrap_err();
            assert!(
                matches!(error, CallError::Task(TaskError::Invalid(_))),
                "{error}"
            );
            assert!(error.to_string().contains("asks too much"), "{error}");
            settle();
            assert!(
                polls.contains(&log.count("tasks/get")),
                "{}",
                log.count("tasks/get")
            );
            assert_eq!(log.count("tasks/cancel"), 1);
        });
    };
    let keys = |keys: core::ops::Range<usize>, len: usize| {
        let keys: Vec<_> = keys.map(|n| format!("{n:0len$}")).collect();
        let questions: Vec<_> = keys.iter().map(|key| (&**key, "one")).collect();
        asking(&questions)
    };
    check(Box::new(move |_| keys(0..129, 1)), 1..=1);
    check(
        Box::new(move |turn| keys(turn * 8..turn * 8 + 8, 1)),
        129..=129,
    );
    check(Box::new(move |turn| keys(turn..turn + 1, 1 << 15)), 3..=3);
}
