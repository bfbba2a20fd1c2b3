//! Plain calls of tools that become tasks.

use core::future::pending;
use core::pin::pin;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::collections::{BTreeMap, HashMap};

use mcp_async::client::CallError;
use mcp_async::model::{ElicitParams, ElicitResult};
use mcp_async::tasks::client::TaskOptions;
use mcp_proto::Revision;
use mcp_proto::client::Failure;
use mcp_proto::json::RawBuf;

use super::support::{
    Say, TASKS, asking, call, completed, connect, created, poll_a_while, polled, task, with_tasks,
};
use crate::client_typed::support::{only, run};
use crate::sim::settle;

/// Where a request states the extensions of its client.
const DECLARED: [&str; 3] = [
    "_meta",
    "io.modelcontextprotocol/clientCapabilities",
    "extensions",
];

/// TK-30, TK-31, TK-37, TK-62
#[test]
fn a_plain_call_returns_the_result_of_its_task() {
    run(async {
        let working = || Say::Result(task("working", r#","statusMessage":"1/2""#));
        let (result, log) = call(vec![working(), working(), completed("done")]).await;
        assert_eq!(result.unwrap(), "done");
        assert_eq!(
            log.methods(),
            ["tools/call", "tasks/get", "tasks/get", "tasks/get"]
        );
        let declared = log.texts("tools/call", &DECLARED);
        assert_eq!(declared, [r#"{"io.modelcontextprotocol/tasks":{}}"#]);
        assert_eq!(log.texts("tasks/get", &["taskId"]), [r#""t""#; 3]);
        log.check_pace();
    });
}

/// TK-31: nothing changes for a result that comes at once.
#[test]
fn a_result_at_once_needs_no_poll() {
    run(async {
        let result = r#"{"resultType":"complete","content":[{"type":"text","text":"now"}]}"#;
        let (client, log) = with_tasks(move |_| Say::Result(result.to_owned())).await;
        assert_eq!(client.call_tool("job", &()).await.unwrap().text(), "now");
        assert_eq!(log.methods(), ["tools/call"]);
    });
}

/// TK-62: the time limit of a request bounds each poll.
#[test]
fn a_task_may_take_longer_than_any_request() {
    run(async {
        let mut polls = 0;
        let begun = crate::sim::clock();
        let start = mcp_async::runtime::Runtime::now(&begun);
        let (client, _) = with_tasks(move |asked| {
            if asked.method == "tools/call" {
                return created();
            }
            polls += 1;
            let unlimited = |task: String| task.replace("999999", "null").replace(":50", ":9000");
            match polls {
                200.. => completed("late"),
                polls => Say::Result(unlimited(task(
                    "working",
                    &format!(r#","statusMessage":"{polls}""#),
                ))),
            }
        })
        .await;
        assert_eq!(client.call_tool("job", &()).await.unwrap().text(), "late");
        let end = mcp_async::runtime::Runtime::now(&begun);
        assert!(end.saturating_since(start) > Duration::from_secs(1700));
        // The caller's own bound holds for the whole, and cancels the task.
        let (client, log) = with_tasks(polled(vec![Say::Result(task("working", ""))])).await;
        let bounded = client
            .call_tool("job", &())
            .max_duration(Duration::from_secs(2));
        assert!(matches!(bounded.await, Err(CallError::Timeout)));
        settle();
        assert_eq!(log.count("tasks/cancel"), 1);
    });
}

/// TK-38, TK-55, TK-57
#[test]
fn each_question_is_asked_once() {
    run(async {
        let (result, log) = call(vec![
            asking(&[("q1", "one"), ("q2", "two")]),
            asking(&[("q1", "one"), ("q2", "two")]),
            asking(&[("q2", "two"), ("q3", "three")]),
            Say::Result(task("working", "")),
            completed("thanks"),
        ])
        .await;
        assert_eq!(result.unwrap(), "thanks");
        let answer = r#"{"action":"accept","content":{"answer":"yes"}}"#;
        assert_eq!(
            log.texts("tasks/update", &["inputResponses"]),
            [
                format!(r#"{{"q1":{answer},"q2":{answer}}}"#),
                format!(r#"{{"q3":{answer}}}"#),
            ]
        );
    });
}

/// An older state that arrives late seems to take a question back.
#[test]
fn a_question_that_comes_back_is_asked_again() {
    run(async {
        let asked = AtomicUsize::new(0);
        let builder = only(Revision::V2026_07_28).on_elicitation(move |_: ElicitParams, _| {
            let is_first = asked.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                if is_first {
                    pending::<()>().await;
                }
                Ok(ElicitResult::accept(&HashMap::from([("answer", "yes")]))?)
            }
        });
        let answers = polled(vec![
            asking(&[("q", "one")]),
            Say::Result(task("working", "")),
            asking(&[("q", "one")]),
            asking(&[("q", "one")]),
            completed("thanks"),
        ]);
        let connected = connect(TASKS, builder.tasks(TaskOptions::default()), answers).await;
        let (client, log) = connected.expect("it connects");
        let result = client.call_tool("job", &()).await;
        assert_eq!(result.unwrap().text(), "thanks");
        let answer = r#"{"q":{"action":"accept","content":{"answer":"yes"}}}"#;
        assert_eq!(log.texts("tasks/update", &["inputResponses"]), [answer]);
    });
}

/// TK-55: the checks of a direct request.
#[test]
fn questions_that_were_not_declared_end_the_call() {
    run(async {
        let sampling = r#","inputRequests":{"q":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}}"#;
        let (result, log) = call(vec![Say::Result(task("input_required", sampling))]).await;
        assert!(matches!(result, Err(CallError::Failed(Failure::Input))));
        settle();
        assert_eq!(log.methods(), ["tools/call", "tasks/get", "tasks/cancel"]);
        let (result, log) = call(vec![asking(&[("q", "refuse")])]).await;
        assert!(matches!(result, Err(CallError::Input(_))));
        settle();
        assert_eq!(log.methods(), ["tools/call", "tasks/get", "tasks/cancel"]);
    });
}

/// CN-12, TK-52, TK-54
#[test]
fn dropping_a_call_cancels_its_task() {
    run(async {
        let (client, log) = with_tasks(polled(vec![Say::Result(task("working", ""))])).await;
        {
            let mut call = pin!(client.call_tool("job", &()));
            poll_a_while(call.as_mut());
        }
        settle();
        assert_eq!(log.texts("tasks/cancel", &["taskId"]), [r#""t""#]);
        assert_eq!(log.count("notifications/cancelled"), 0);
    });
}

/// TK-51: the time counts from the answer that created the task.
#[test]
fn a_task_is_lost_when_its_time_is_over() {
    run(async {
        let (result, log) = call(vec![Say::Result(
            task("working", "").replace("999999", "170"),
        )])
        .await;
        assert_eq!(
            result.unwrap_err().to_string(),
            "the task is lost: its time to live is over"
        );
        assert!((3..=5).contains(&log.count("tasks/get")));
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

#[test]
fn failures_of_the_moment_are_passed_over() {
    run(async {
        let (result, log) = call(vec![
            Say::Error(-32603),
            Say::Nothing,
            Say::Error(-32603),
            completed("at last"),
        ])
        .await;
        assert_eq!(result.unwrap(), "at last");
        assert_eq!(log.count("tasks/get"), 4);
        // An unknown task stays unknown.
        let (result, log) = call(vec![Say::Error(-32602)]).await;
        assert!(matches!(result, Err(CallError::Server(error)) if error.code == -32602));
        settle();
        assert_eq!(log.methods(), ["tools/call", "tasks/get"]);
        let (result, log) = call(vec![Say::Error(-32603)]).await;
        assert!(matches!(result, Err(CallError::Server(error)) if error.code == -32603));
        settle();
        assert_eq!(log.count("tasks/get"), 11);
        // What the server does with the task is not known.
        assert_eq!(log.count("tasks/cancel"), 1);
    });
}

/// TK-62
#[test]
fn a_refused_answer_cancels_the_task() {
    run(async {
        let (client, log) = with_tasks(|asked| match &*asked.method {
            "tools/call" => created(),
            "tasks/get" => asking(&[("q", "one")]),
            "tasks/update" => Say::Error(-32602),
            _ => Say::Nothing,
        })
        .await;
        let error = client.call_tool("job", &()).await.unwrap_err();
        assert!(matches!(error, CallError::Server(error) if error.code == -32602));
        settle();
        assert_eq!(
            log.methods(),
            [
                "tools/call",
                "tasks/get",
                "tasks/update",
                "tasks/get",
                "tasks/cancel"
            ]
        );
    });
}

/// TK-32
#[test]
fn only_calls_of_tools_become_tasks() {
    run(async {
        let (client, _) = with_tasks(|_| created()).await;
        let params = BTreeMap::<String, String>::new();
        let other = client.request::<RawBuf>("com.example/x", &params);
        assert!(matches!(
            other.await,
            Err(CallError::Failed(Failure::ResultType))
        ));
        // Nor does anything without the extension.
        let plain = crate::client_typed::support::only(mcp_proto::Revision::V2026_07_28);
        let (client, _) = connect(TASKS, plain, |_| created()).await.unwrap();
        assert!(matches!(
            client.call_tool("job", &()).await,
            Err(CallError::Failed(Failure::ResultType))
        ));
    });
}

/// TK-52: the cancellation is not lost when the client goes, too.
#[test]
fn a_client_that_is_dropped_or_closed_has_cancelled_its_tasks() {
    for is_closed in [false, true] {
        run(async {
            let (client, log) = with_tasks(polled(vec![Say::Result(task("working", ""))])).await;
            let outcome = client.call_tool_task("job", &()).await.unwrap();
            drop(outcome);
            match is_closed {
                true => drop(client.close().await.unwrap()),
                false => drop(client),
            }
            settle();
            assert_eq!(log.methods(), ["tools/call", "tasks/cancel"]);
        });
    }
}

/// EX-05, EX-09: a call that does not declare tasks becomes none.
#[test]
fn a_call_without_the_extension_becomes_no_task() {
    run(async {
        let mut calls = 0;
        let (client, log) = with_tasks(move |asked| match &*asked.method {
            "tools/call" => {
                calls += 1;
                match calls {
                    1 => Say::Result(r#"{"resultType":"complete","content":[]}"#.to_owned()),
                    _ => created(),
                }
            }
            _ => completed("later"),
        })
        .await;
        let plain = client.call_tool("job", &()).with_extensions(&[]);
        assert_eq!(plain.await.unwrap().text(), "");
        let plain = client
            .call_tool("job", &())
            .with_extensions(&["com.example/x"]);
        assert!(matches!(
            plain.await,
            Err(CallError::Failed(Failure::ResultType))
        ));
        let tasks = ["io.modelcontextprotocol/tasks"];
        let call = client.call_tool("job", &()).with_extensions(&tasks);
        assert_eq!(call.await.unwrap().text(), "later");
        let declared = log.texts("tools/call", &DECLARED);
        let all = r#"{"io.modelcontextprotocol/tasks":{}}"#;
        assert_eq!(declared, ["{}", "{}", all]);
    });
}
