//! The hostile rows once more, as they come: a client meets a server's schemas and results, a
//! server a client's arguments.

use core::time::Duration;
use std::sync::mpsc;
use std::thread;

use mcp_async::client::CallError;
use mcp_async::server::{Tool, ToolCall, service_fn};
use mcp_async::{ErrorReply, Server};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;

use crate::client_typed::support::{join, join_service, run};

/// Runs it in a thread with as much stack as those of a runtime have; fails if it never ends.
fn bounded<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let (answer, answered) = mpsc::channel();
    let thread = thread::Builder::new().stack_size(2 << 20);
    thread.spawn(move || answer.send(work())).unwrap();
    let patience = Duration::from_secs(120);
    answered.recv_timeout(patience).expect("no answer")
}

/// Lists a tool with this output schema and calls it; the content, or why it was refused.
fn as_client(schema: String, content: String) -> Result<String, String> {
    bounded(move || {
        let list = format!(
            r#"{{"tools":[{{"name":"t","inputSchema":{{"type":"object"}},"outputSchema":{schema}}}]}}"#
        );
        let result = format!(r#"{{"content":[],"structuredContent":{content}}}"#);
        let (list, result) = (parsed(&list), parsed(&result));
        let service = service_fn(move |call| {
            let called = call.params.get("name").is_some();
            let reply = if called { &result } else { &list };
            call.ready(Ok::<_, ErrorReply>(reply.clone()))
        });
        run(async {
            let client = join_service(service, Revision::V2026_07_28).await;
            client.tools().all().await.expect("it is listed");
            match client.call_tool("t", &()).await {
                Ok(result) => Ok(result
                    .structured_content
                    .unwrap_or_default()
                    .as_raw()
                    .as_str()
                    .to_owned()),
                Err(CallError::Output(why)) => Err(why.to_string()),
                Err(error) => panic!("{error}"),
            }
        })
    })
}

/// Calls a tool that has this input schema; what it says, or why the arguments were refused.
fn as_server(schema: &str, arguments: String) -> Result<String, String> {
    let schema = parsed(schema);
    bounded(move || {
        let tool = Tool::new("t")
            .input_schema(schema)
            .raw(|_: ToolCall, _| async { Ok("it ran") });
        let server = Server::builder("honest", "1").with(tool).build();
        let server = server.expect("it can be served");
        run(async {
            let client = join(&server, Revision::V2026_07_28).await;
            let result = client.call_tool("t", &parsed(&arguments)).await;
            let result = result.expect("it answers");
            match result.is_error {
                false => Ok(result.text()),
                true => Err(result.text()),
            }
        })
    })
}

fn parsed(text: &str) -> RawBuf {
    RawBuf::parse(text).expect("it is JSON")
}

#[test]
fn a_client_is_not_hung_by_a_server() {
    let check = |schema: &str, content: &str, part: Option<&str>| {
        let end = as_client(schema.to_owned(), content.to_owned());
        let shown: String = schema.chars().take(100).collect();
        match (&end, part) {
            (Ok(found), None) => assert_eq!(found, content, "{shown}"),
            (Err(why), Some(part)) => assert!(why.contains(part), "{shown}: {why}"),
            _ => panic!("{shown}: {end:?}"),
        }
    };
    let limit = Some("within the limit of evaluations");
    check(r#"{"type":"object"}"#, r#"{"a":1}"#, None);
    check(
        r#"{"type":"object"}"#,
        "[]",
        Some("expected object, found array"),
    );
    check(r##"{"$ref":"#"}"##, "{}", Some("a circle"));
    check(
        r#"{"$ref":"http://127.0.0.1:9/x"}"#,
        "{}",
        Some("reference out of"),
    );
    check(
        r#"{"$ref":"file:///etc/passwd"}"#,
        "{}",
        Some("reference out of"),
    );
    check(
        r#"{"$schema":"https://a.example/x"}"#,
        "{}",
        Some("dialect"),
    );
    check(r#"{"pattern":"(?=a)"}"#, "{}", Some("unsupported pattern"));
    check(
        r#"{"pattern":"[ab]*a[ab]{20000}c"}"#,
        "{}",
        Some("unsupported pattern"),
    );
    let many = format!("\"{}\"", "ab".repeat(400_000));
    check(r#"{"pattern":"[ab]*a[ab]{500}c"}"#, &many, limit);
    check(r#"{"pattern":"^(a+)+$"}"#, &many, Some("does not fit"));
    let arms: Vec<_> = (0..40)
        .map(|index| {
            let next = format!(r##"{{"$ref":"#/$defs/{}"}}"##, index + 1);
            format!(r#""{index}":{{"anyOf":[{next},{next}]}}"#)
        })
        .collect();
    let schema = format!(
        r##"{{"$ref":"#/$defs/0","$defs":{{{},"40":true}}}}"##,
        arms.join(",")
    );
    check(&schema, "{}", Some("limit of evaluations"));
    let deep = [r#"{"a":"#.repeat(60), "1".to_owned(), "}".repeat(60)].concat();
    let arm = r##"{"properties":{"a":{"$ref":"#"}}}"##;
    let schema = format!(r#"{{"type":"object","anyOf":[{arm},{arm}]}}"#);
    check(&schema, &deep, limit);
    let values: Vec<_> = (0..10_000)
        .map(|index| format!(r#"{{"a":{index}}}"#))
        .collect();
    let schema = format!(r#"{{"items":{{"enum":[{}]}}}}"#, values.join(","));
    check(&schema, &format!("[{}]", values.join(",")), limit);
    let deep = [r#"{"not":"#.repeat(100), "true".to_owned(), "}".repeat(100)].concat();
    check(&deep, "{}", Some("limit of depth"));
}

#[test]
fn a_server_is_not_hung_by_a_client() {
    let tree = r##"{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-z]*$"},"children":{"type":"array","uniqueItems":true,"items":{"$ref":"#"}},"any":true},"additionalProperties":false}"##;
    let check = |arguments: String, part: Option<&str>| {
        let end = as_server(tree, arguments);
        match (&end, part) {
            (Ok(text), None) => assert_eq!(text, "it ran"),
            (Err(why), Some(part)) => assert!(why.contains(part), "{why}"),
            _ => panic!("{end:?}"),
        }
    };
    check(r#"{"name":"a","any":1e400}"#.to_owned(), None);
    check(r#"{"name":"A"}"#.to_owned(), Some("name: "));
    check(r#"{"name":1e400}"#.to_owned(), Some("name: "));
    check(
        r#"{"name":"A","name":"a"}"#.to_owned(),
        Some("member `name` stands twice"),
    );
    check(
        format!(r#"{{"name":"{}!"}}"#, "a".repeat(500_000)),
        Some("does not fit"),
    );
    let deep = |depth: usize, inner: &str| {
        [
            &r#"{"children":["#.repeat(depth),
            inner,
            &"]}".repeat(depth),
        ]
        .concat()
    };
    check(deep(50, "{}"), None);
    check(deep(50, "1"), Some("children[0]"));
    let wide: Vec<_> = (0..20_000)
        .map(|index| format!(r#"{{"any":{index}}}"#))
        .collect();
    check(deep(1, &wide.join(",")), None);
    check(deep(40, &wide.join(",")), Some("limit of evaluations"));
    let any = ["[".repeat(100), "]".repeat(100)].concat();
    check(format!(r#"{{"any":{any}}}"#), None);
}
