//! Calls in a session.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use mcp_async::client::CallError;
use mcp_async::model::{ElicitParams, ElicitResult, LoggingLevel};
use mcp_async::tasks::client::TaskOptions;
use mcp_proto::Revision;
use mcp_proto::client::Failure;

use crate::scripted::http_server::{HttpServer, Wire, check, check_in};
use crate::settings::limits;
use crate::sim::{begin, sleep};
use crate::tasks_client::support::{CORE_TASKS, TOOLS, core_task};

const LATEST: &[Revision] = &[Revision::V2025_11_25];

/// SC-04, SC-06, SC-22.
#[test]
fn progress_and_questions_on_the_stream_of_a_call() {
    check(
        |site| async move {
            let builder = site
                .client(LATEST)
                .on_elicitation(|_: ElicitParams, _| async { Ok(ElicitResult::decline()) });
            let client = site.join(builder).await.unwrap();
            let steps = Arc::new(Mutex::new(Vec::new()));
            let heard = Arc::clone(&steps);
            let result = client
                .call_tool("a", &())
                .on_progress(move |step| heard.lock().unwrap().push(step.progress.to_string()))
                .await
                .unwrap();
            assert_eq!(result.text(), "hi");
            assert_eq!(*steps.lock().unwrap(), ["1", "2"]);
        },
        |site| async move {
            site.open(Revision::V2025_11_25).await;
            let (id, stream) = site.expect("tools/call").await.id_and_stream();
            stream.send(":\n\nid: a\ndata:\n\n");
            for step in [1, 2] {
                stream.event(&format!(
                    r#"- notifications/progress {{"progressToken":{id},"progress":{step}}}"#
                ));
            }
            stream.event(r#""q" elicitation/create {"message":"m","requestedSchema":{"type":"object","properties":{}}}"#);
            let asked = site.expect(r#""id":"q","result""#).await;
            assert_eq!(asked.field("mcp-session-id"), "s-1");
            asked.accept();
            let answer = format!(
                r#"data: {{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"hi"}}]}}}}"#
            );
            for byte in answer.chars() {
                stream.send(byte.encode_utf8(&mut [0; 4]));
            }
            stream.send("\r\n\r\n");
        },
    );
}

#[test]
fn log_levels_are_set_one_after_the_other() {
    check_in(
        LATEST[0],
        |client| async move {
            let first = begin(client.set_log_level(LoggingLevel::Debug));
            let dropped = begin(client.set_log_level(LoggingLevel::Info));
            let last = begin(client.set_log_level(LoggingLevel::Error));
            drop(dropped);
            first.await.unwrap();
            last.await.unwrap();
        },
        |site| async move {
            let first = site.expect("\"debug\"").await;
            sleep(Duration::from_secs(1)).await;
            site.quiet();
            first.result("{}");
            site.expect("\"error\"").await.result("{}");
            site.expect("DELETE").await.accept();
        },
    );
}

/// SC-14
#[test]
fn a_call_that_took_too_long_is_cancelled() {
    check_in(
        LATEST[0],
        |client| async move {
            let error = client
                .call_tool("a", &())
                .timeout(Duration::from_secs(2))
                .await
                .unwrap_err();
            assert!(matches!(error, CallError::Timeout));
            client.close().await.unwrap();
        },
        |site| async move {
            let stream = site.expect("tools/call").await.stream();
            site.expect("notifications/cancelled").await.accept();
            assert!(stream.is_dropped());
            site.expect("DELETE").await.accept();
        },
    );
}

/// CN-07: the server is not told of a cancellation before it can know of the request.
#[test]
fn a_cancellation_does_not_overtake_its_request() {
    check_in(
        LATEST[0],
        |client| async move {
            for timeout in [300, 300, 2_500] {
                let error = client
                    .call_tool("a", &())
                    .timeout(Duration::from_millis(timeout))
                    .await
                    .unwrap_err();
                assert!(matches!(error, CallError::Timeout));
                sleep(Duration::from_secs(2)).await;
            }
        },
        |site| async move {
            // It leaves with the head of the reply,
            let asked = site.expect("tools/call").await;
            sleep(Duration::from_millis(700)).await;
            site.quiet();
            assert!(!asked.is_dropped());
            let (at, stream) = (asked.at, asked.stream());
            let cancelled = site.expect("notifications/cancelled").await;
            assert_eq!(cancelled.at - at, 700);
            assert!(stream.is_dropped());
            cancelled.accept();
            // or a second behind the request, if none comes,
            let asked = site.expect("tools/call").await;
            let cancelled = site.expect("notifications/cancelled").await;
            assert_eq!(cancelled.at - asked.at, 1_000);
            assert!(asked.is_dropped());
            cancelled.accept();
            // and at once later on.
            let asked = site.expect("tools/call").await;
            let cancelled = site.expect("notifications/cancelled").await;
            assert_eq!(cancelled.at - asked.at, 2_500);
            cancelled.accept();
            site.expect("DELETE").await.accept();
        },
    );
}

const RELATED: &str = r#""io.modelcontextprotocol/related-task":{"taskId":"t"}"#;

/// SC-28: on the stream of the server, of a poll, and of the request for the result.
#[test]
fn sc_28_messages_of_tasks_on_every_stream() {
    check(
        |site| async move {
            let builder = site
                .client(LATEST)
                .on_elicitation(|_: ElicitParams, _| async { Ok(ElicitResult::decline()) })
                .tasks(TaskOptions::default());
            let client = site.join(builder).await.unwrap();
            client.tools().all().await.unwrap();
            assert_eq!(client.call_tool("job", &()).await.unwrap().text(), "done");
        },
        |site| async move {
            let asked = site.expect("\"initialize\"").await;
            let id = asked.id().to_owned();
            let result = format!(
                r#"{{"protocolVersion":"2025-11-25","capabilities":{CORE_TASKS},"serverInfo":{{"name":"s","version":"1"}}}}"#
            );
            let opened = format!("{id} = {result}");
            asked.json(200, "s-1", &opened);
            site.expect("notifications/initialized").await.accept();
            let own = site.expect("GET").await.stream();
            site.expect("tools/list").await.result(TOOLS);
            let created = format!(r#"{{"task":{}}}"#, core_task("working", ""));
            site.expect("tools/call").await.result(&created);
            ask_for_task(&site, &own, "q1").await;
            let content =
                format!(r#"{{"content":[{{"type":"text","text":"done"}}],"_meta":{{{RELATED}}}}}"#);
            for (method, question, result) in [
                ("tasks/get", "q2", core_task("completed", "")),
                ("tasks/result", "q3", content),
            ] {
                let (id, stream) = site.expect(method).await.id_and_stream();
                ask_for_task(&site, &stream, question).await;
                stream.event(&format!("{id} = {result}"));
            }
            site.expect("DELETE").await.accept();
            drop(own);
        },
    );
}

/// Sends the status of the task `t` and a question that belongs to it, and takes the answer.
async fn ask_for_task(site: &HttpServer, stream: &Wire, id: &str) {
    let task = core_task("working", "");
    stream.event(&format!("- notifications/tasks/status {task}"));
    stream.event(&format!(
        r#""{id}" elicitation/create {{"message":"m","requestedSchema":{{"type":"object","properties":{{}}}},"_meta":{{{RELATED}}}}}"#
    ));
    let answer = site.expect(&format!(r#""id":"{id}","result""#)).await;
    assert!(answer.body.contains(RELATED), "{}", answer.body);
    answer.accept();
}

/// JR-16: in 2025-03-26 answers and events can be arrays. SC-06.
#[test]
fn arrays() {
    check_in(
        Revision::V2025_03_26,
        |client| async move {
            for _ in 0..2 {
                assert_eq!(client.call_tool("a", &()).await.unwrap().text(), "hi");
            }
        },
        |site| async move {
            let array = |id: &str| {
                format!(
                    r#"[{{"jsonrpc":"2.0","method":"x/y"}},{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"hi"}}]}}}}]"#
                )
            };
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-protocol-version"), "");
            let text = array(asked.id());
            asked.json(200, "", &text);
            let asked = site.expect("tools/call").await;
            let text = array(asked.id());
            asked.stream().event(&text);
        },
    );
}

/// SC-31.
#[test]
fn answers_over_the_limit() {
    check(
        |site| async move {
            let limits = limits(|it| it.message = 2_000);
            let client = site.join(site.client(LATEST).limits(limits)).await.unwrap();
            for _ in 0..2 {
                let error = client.call_tool("a", &()).await.unwrap_err();
                assert!(matches!(error, CallError::Failed(Failure::Invalid(_))));
            }
            client.call_tool("a", &()).await.unwrap();
        },
        |site| async move {
            site.open(Revision::V2025_11_25).await;
            let long = format!(r#"{{"content":[],"x":"{}"}}"#, "x".repeat(2_000));
            site.expect("tools/call").await.result(&long);
            let stream = site.expect("tools/call").await.stream();
            stream.event(&long);
            site.expect("tools/call").await.result(r#"{"content":[]}"#);
            sleep(Duration::from_secs(1)).await;
        },
    );
}

/// DF-01, DF-02: sessions and mirrored headers together, only where that is asked for.
#[test]
fn the_draft_profile() {
    check(
        |site| async move {
            let client = site.connect(&[Revision::DraftV1]).await.unwrap();
            let tools = client.tools().all().await.unwrap();
            assert_eq!(tools.len(), 1);
            let zone = std::collections::HashMap::from([("zone", "ок")]);
            client.call_tool("good", &zone).await.unwrap();
            client.close().await.unwrap();
        },
        |site| async move {
            let asked = site.expect("DRAFT-2026-v1").await;
            assert_eq!(asked.field("mcp-method"), "initialize");
            assert_eq!(asked.field("mcp-protocol-version"), "");
            asked.session(Revision::DraftV1);
            let asked = site.expect("notifications/initialized").await;
            assert_eq!(asked.field("mcp-method"), "notifications/initialized");
            assert_eq!(asked.field("mcp-protocol-version"), "DRAFT-2026-v1");
            asked.accept();
            site.expect("GET").await.refuse(405, "");
            let list = site.expect("tools/list").await;
            assert_eq!(list.field("mcp-method"), "tools/list");
            let property = r#"{"type":"string","x-mcp-header":"Zone"}"#;
            let tool = |name, zone| {
                format!(
                    r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"zone":{zone}}}}}}}"#
                )
            };
            let bad = tool("bad", r#"{"x-mcp-header":"Zone"}"#);
            list.result(&format!(
                r#"{{"tools":[{bad},{}]}}"#,
                tool("good", property)
            ));
            let asked = site.expect("tools/call").await;
            assert_eq!(asked.field("mcp-session-id"), "s-1");
            assert_eq!(asked.field("mcp-name"), "good");
            assert_eq!(asked.field("mcp-param-zone"), "=?base64?0L7Qug==?=");
            asked.result(r#"{"content":[]}"#);
            site.expect("DELETE").await.accept();
        },
    );
}
