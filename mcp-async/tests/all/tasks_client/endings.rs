//! How tasks end.

use mcp_async::client::{CallError, TaskError};

use super::support::{Asked, Say, asking, call, created, task, with_tasks};
use crate::client_typed::support::run;
use crate::sim::settle;

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

/// TK-36, TK-65
#[test]
fn nonsense_is_reported_as_such() {
    let check = |answer: String, expected: &str| {
        run(async {
            let (result, log) = call(vec![Say::Result(answer)]).await;
            let error = result.expect_err(expected);
            let source = core::error::Error::source(&error);
            let text = source.map_or(error.to_string(), |source| source.to_string());
            assert!(text.contains(expected), "{text}");
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
