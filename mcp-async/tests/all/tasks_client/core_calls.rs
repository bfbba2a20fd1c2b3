//! Calls of tools that are tasks of 2025-11-25.

use core::pin::pin;
use core::time::Duration;

use mcp_async::client::{CallError, TaskError};
use mcp_async::tasks::client::{TaskOptions, ToolOutcome};
use mcp_proto::Revision;

use super::support::{
    Asked, CORE_TASKS, Log, Say, TOOLS, answering, connect, core_polled, core_task, done,
    poll_a_while, with_core_tasks,
};
use crate::client_typed::support::{advance, only, poll_once, run};
use crate::sim::{give_up, settle};

/// How a call of the tool `job`, after the tools were listed, ends.
async fn call(answer: impl FnMut(&Asked) -> Say + 'static) -> (Result<String, CallError>, Log) {
    let (client, log) = with_core_tasks(TaskOptions::default(), answer).await;
    client.tools().all().await.unwrap();
    let result = client.call_tool("job", &()).await;
    (result.map(|result| result.text()), log)
}

#[test]
fn tk_06_a_tool_that_requires_a_task_is_called_as_one() {
    run(async {
        let (result, log) = call(core_polled(&["working", "working", "completed"], done)).await;
        assert_eq!(result.unwrap(), "done");
        assert_eq!(
            log.requests(),
            [
                "tools/list",
                "tools/call",
                "tasks/get",
                "tasks/get",
                "tasks/get",
                "tasks/result"
            ]
        );
        assert_eq!(log.texts("tools/call", &["task"]), ["{}"]);
        assert_eq!(log.texts("tasks/get", &["taskId"]), [r#""t""#; 3]);
        // TK-13
        assert_eq!(log.texts("tasks/get", &["_meta"]), ["-"; 3]);
        // TK-10, TK-16: the server sends no notifications.
        log.check_pace();
    });
}

#[test]
fn tk_05_nothing_becomes_a_task_where_that_is_not_allowed() {
    run(async {
        let options = TaskOptions::default();
        let (client, log) = with_core_tasks(options.clone(), core_polled(&[], done)).await;
        client.tools().all().await.unwrap();
        for tool in ["plain", "never", "maybe"] {
            let result = client.call_tool(tool, &()).await.unwrap();
            assert_eq!(result.text(), "now", "{tool}");
        }
        for tool in ["plain", "never"] {
            let outcome = client.call_tool_task(tool, &()).await.unwrap();
            assert!(matches!(outcome, ToolOutcome::Result(_)), "{tool}");
        }
        assert_eq!(log.texts("tools/call", &["task"]), ["-"; 5]);
        // Nor at a server that does not declare it.
        for capabilities in [r#"{"tools":{}}"#, r#"{"tools":{},"tasks":{"cancel":{}}}"#] {
            let builder = only(Revision::V2025_11_25).tasks(options.clone());
            let mut answer = core_polled(&[], done);
            let connected = connect(capabilities, builder, move |asked| match &*asked.method {
                "tools/list" => Say::Result(TOOLS.to_owned()),
                _ => answer(asked),
            });
            let (client, log) = connected.await.unwrap();
            client.tools().all().await.unwrap();
            client.call_tool("job", &()).await.unwrap();
            let outcome = client.call_tool_task("maybe", &()).await.unwrap();
            assert!(matches!(outcome, ToolOutcome::Result(_)));
            assert_eq!(log.texts("tools/call", &["task"]), ["-"; 2]);
        }
        // Nor by a client without tasks.
        let builder = only(Revision::V2025_11_25);
        let connected = connect(CORE_TASKS, builder, |asked| match &*asked.method {
            "tools/list" => Say::Result(TOOLS.to_owned()),
            _ => Say::Error(-32601),
        });
        let (client, log) = connected.await.unwrap();
        client.tools().all().await.unwrap();
        assert!(client.call_tool("job", &()).await.is_err());
        assert_eq!(log.requests(), ["tools/list", "tools/call"]);
        assert_eq!(log.texts("tools/call", &["task"]), ["-"]);
    });
}

/// TK-05, TK-06: what the tool says is looked up when it matters.
#[test]
fn a_tool_that_was_not_listed_is_listed_first() {
    run(async {
        let options = TaskOptions::default().ttl(Duration::from_secs(60));
        let refusing = || {
            let mut answer = core_polled(&["completed"], done);
            move |asked: &Asked| match &*asked.method {
                "tools/call" if asked.param(&["task"]).is_none() => Say::Error(-32601),
                _ => answer(asked),
            }
        };
        let (client, log) = with_core_tasks(options.clone(), refusing()).await;
        assert_eq!(client.call_tool("job", &()).await.unwrap().text(), "done");
        let called = ["tools/call", "tools/list", "tools/call"];
        assert_eq!(log.requests()[..3], called);
        assert_eq!(
            log.texts("tools/call", &["task"]),
            ["-", r#"{"ttl":60000}"#]
        );
        // One that may run as a task is not called again.
        let mut answer = core_polled(&[], done);
        let always = move |asked: &Asked| match &*asked.method {
            "tools/call" => Say::Error(-32601),
            _ => answer(asked),
        };
        let (other, calls) = with_core_tasks(options.clone(), always).await;
        assert!(other.call_tool("maybe", &()).await.is_err());
        assert_eq!(calls.requests(), ["tools/call", "tools/list"]);
        // A tool that is missing is listed once.
        assert!(client.call_tool("none", &()).await.is_err());
        assert!(client.call_tool("plain", &()).await.is_err());
        assert_eq!(log.count("tools/list"), 2);
        let (client, log) = with_core_tasks(options, refusing()).await;
        let outcome = client.call_tool_task("maybe", &()).await.unwrap();
        assert!(matches!(outcome, ToolOutcome::Task(_)));
        assert_eq!(log.requests(), ["tools/list", "tools/call"]);
    });
}

/// TK-11, TK-12, TK-13
#[test]
fn questions_come_with_the_request_for_the_result() {
    run(async {
        let question = concat!(
            r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"one","#,
            r#""requestedSchema":{"type":"object","properties":{"answer":{"type":"string"}}},"#,
            r#""_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}}"#
        );
        let mut fetch = None;
        let mut answer = core_polled(&["working", "input_required"], || Say::Nothing);
        let (result, log) = call(move |asked| match &*asked.method {
            "tasks/result" => {
                fetch.clone_from(&asked.id);
                Say::Lines(vec![question.to_owned()])
            }
            "answer" => Say::Lines(done().lines(fetch.as_deref().unwrap())),
            _ => answer(asked),
        })
        .await;
        assert_eq!(result.unwrap(), "done");
        assert_eq!(log.texts("answer", &["content", "answer"]), [r#""yes""#]);
        let related = ["_meta", "io.modelcontextprotocol/related-task", "taskId"];
        assert_eq!(log.texts("answer", &related), [r#""t""#]);
        assert_eq!(log.count("tasks/result"), 1);
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

/// TK-12, TK-18
#[test]
fn failures_are_those_of_the_call() {
    run(async {
        let (result, log) = call(core_polled(&["failed"], || Say::Error(-32002))).await;
        assert!(matches!(result, Err(CallError::Server(error)) if error.code == -32002));
        settle();
        assert_eq!(log.count("tasks/cancel"), 0);
        let failed = r#"{"content":[{"type":"text","text":"too bad"}],"isError":true}"#;
        let (result, _) = call(core_polled(&["failed"], || Say::Result(failed.to_owned()))).await;
        assert_eq!(result.unwrap(), "too bad");
        let (result, log) = call(core_polled(&["cancelled"], done)).await;
        let cancelled = TaskError::Cancelled(None);
        assert!(matches!(result, Err(CallError::Task(error)) if error == cancelled));
        assert_eq!(log.count("tasks/result"), 0);
    });
}

/// A result that comes although a task was asked for is the result (TK-03).
#[test]
fn a_server_may_ignore_that_a_task_was_asked_for() {
    run(async {
        let now = r#"{"content":[{"type":"text","text":"now"}],"task":{}}"#;
        let (result, log) = call(|_| Say::Result(now.to_owned())).await;
        assert_eq!(result.unwrap(), "now");
        assert_eq!(log.requests(), ["tools/list", "tools/call"]);
    });
}

/// CN-03
#[test]
fn a_call_that_is_given_up_cancels_its_task() {
    run(async {
        let options = TaskOptions::default();
        let (client, log) = with_core_tasks(options, core_polled(&["working"], done)).await;
        client.tools().all().await.unwrap();
        {
            let mut call = pin!(client.call_tool("job", &()));
            poll_a_while(call.as_mut());
        }
        settle();
        assert_eq!(log.texts("tasks/cancel", &["taskId"]), [r#""t""#]);
        assert_eq!(log.count("notifications/cancelled"), 0);
        let bounded = client.call_tool("job", &());
        let bounded = bounded.max_duration(Duration::from_secs(2));
        assert!(matches!(bounded.await, Err(CallError::Timeout)));
        settle();
        assert_eq!(log.count("tasks/cancel"), 2);
    });
}

/// JR-20, TK-48: the type of a result is not looked at in a session.
#[test]
fn tk_48_a_result_of_a_session_has_no_type() {
    let answer = |asked: &Asked| match &*asked.method {
        "tools/call" => Say::Result(
            r#"{"resultType":"task","content":[{"type":"text","text":"now"}]}"#.to_owned(),
        ),
        _ => Say::Nothing,
    };
    run(async move {
        let (client, log) = with_core_tasks(TaskOptions::default(), answer).await;
        let result = client.call_tool("job", &()).await.unwrap();
        assert_eq!(result.text(), "now");
        let outcome = client.call_tool_task("job", &()).await.unwrap();
        assert!(matches!(outcome, ToolOutcome::Result(result) if result.text() == "now"));
        assert_eq!(log.count("tasks/get"), 0);
    });
}

/// TK-62: the server creates a task for a call that is over.
#[test]
fn tk_62_a_task_that_is_created_too_late_is_cancelled() {
    let late = |asked: &Asked| match &*asked.method {
        "notifications/cancelled" => Say::Lines(vec![format!(
            r#"{} = {{"task":{}}}"#,
            asked.text(&["requestId"]),
            core_task("working", "")
        )]),
        "tasks/cancel" => Say::Result(core_task("cancelled", "")),
        _ => Say::Nothing,
    };
    run(async move {
        let (client, log) = with_core_tasks(TaskOptions::default(), late).await;
        client.tools().all().await.unwrap();
        give_up(client.call_tool("job", &()));
        assert_eq!(log.texts("tasks/cancel", &["taskId"]), [r#""t""#]);
        // A call that took too long.
        let call = client.call_tool("job", &()).timeout(Duration::from_secs(1));
        assert!(matches!(call.await, Err(CallError::Timeout)));
        settle();
        assert_eq!(log.count("tasks/cancel"), 2);
    });
}

/// TK-09, TK-14: the time counts from the answer that created the task.
#[test]
fn a_task_is_lost_when_its_time_is_over() {
    run(async {
        let short = || core_task("working", "").replace("999999", "170");
        let (result, log) = call(move |asked| match &*asked.method {
            "tools/call" => Say::Result(format!(r#"{{"task":{}}}"#, short())),
            _ => Say::Result(short()),
        })
        .await;
        assert!(matches!(result, Err(CallError::Task(TaskError::Expired))));
        assert!((3..=5).contains(&log.count("tasks/get")));
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

#[test]
fn failures_of_the_moment_are_passed_over() {
    run(async {
        let mut polls = 0;
        let mut fetches = 0;
        let mut answer = core_polled(&["working", "completed"], done);
        let (result, log) = call(move |asked| match &*asked.method {
            "tasks/get" => {
                polls += 1;
                match polls {
                    1 => Say::Error(-32603),
                    2 => Say::Nothing,
                    _ => answer(asked),
                }
            }
            // The first answer is lost.
            "tasks/result" => {
                fetches += 1;
                match fetches {
                    1 => Say::Nothing,
                    _ => done(),
                }
            }
            _ => answer(asked),
        })
        .await;
        assert_eq!(result.unwrap(), "done");
        assert_eq!(log.count("tasks/result"), 2);
        // An unknown task stays unknown.
        let mut answer = core_polled(&[], done);
        let (result, log) = call(move |asked| match &*asked.method {
            "tasks/get" => Say::Error(-32602),
            _ => answer(asked),
        })
        .await;
        assert!(matches!(result, Err(CallError::Server(error)) if error.code == -32602));
        settle();
        assert_eq!(log.count("tasks/cancel"), 0);
    });
}

/// TK-62: a result that cannot be had ends the call, although the polls succeed.
#[test]
fn requests_for_the_result_are_not_repeated_for_ever() {
    run(async {
        let (client, log) = with_core_tasks(
            TaskOptions::default(),
            core_polled(&["completed"], || Say::Nothing),
        )
        .await;
        client.tools().all().await.unwrap();
        let mut call = pin!(client.call_tool("job", &()).timeout(Duration::from_secs(1)));
        for _ in 0..600 {
            if let core::task::Poll::Ready(result) = poll_once(call.as_mut()) {
                assert!(matches!(result, Err(CallError::Timeout)), "{result:?}");
                assert_eq!(log.count("tasks/result"), 11);
                return;
            }
            advance(Duration::from_millis(100));
        }
        panic!("the call does not end");
    });
}

/// TK-62: nothing else would end the task.
#[test]
fn a_task_whose_questions_cannot_be_asked_is_cancelled() {
    run(async {
        let (result, log) = call(core_polled(&["input_required"], || Say::Error(-32603))).await;
        assert!(matches!(result, Err(CallError::Server(_))), "{result:?}");
        settle();
        assert_eq!(log.count("tasks/cancel"), 1);
    });
}

/// LC-19: the tools are listed first, until after the end of the time of the call.
#[test]
fn a_call_that_cannot_be_answered_in_time_is_not_sent() {
    let mut list = String::new();
    let answer = move |asked: &Asked| match &*asked.method {
        "tools/call" => Say::Error(-32601),
        "tools/list" => {
            list = asked.id.clone().unwrap_or_default();
            Say::Nothing
        }
        "ping" => {
            let mut lines = Say::Result(TOOLS.to_owned()).lines(&list);
            lines.extend(Say::Result("{}".to_owned()).lines("ID"));
            Say::Lines(lines)
        }
        _ => Say::Nothing,
    };
    run(async move {
        let builder = answering(only(Revision::V2025_11_25)).tasks(TaskOptions::default());
        let (client, log) = connect(CORE_TASKS, builder, answer).await.unwrap();
        let call = client.call_tool("job", &());
        let mut call = pin!(call.max_duration(Duration::from_secs(5)));
        for _ in 0..3 {
            assert!(poll_once(call.as_mut()).is_pending());
            settle();
        }
        assert_eq!(log.requests(), ["tools/call", "tools/list"]);
        advance(Duration::from_secs(6));
        client.ping().await.unwrap();
        assert!(matches!(call.await, Err(CallError::Timeout)));
        settle();
        assert_eq!(log.count("tools/call"), 1);
    });
}
