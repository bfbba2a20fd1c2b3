//! Arguments that headers repeat: `Mcp-Param-*`.

use http::header::HeaderValue;
use mcp_async::Server;
use mcp_async::server::{Context, Tool, ToolCall};
use mcp_proto::json::RawBuf;

use crate::scripted::{modern, send};
use crate::sim::Sim;

const SCHEMA: &str = r#"{"type":"object","properties":{
    "zone":{"type":"string","x-mcp-header":"Zone"},
    "count":{"type":"integer","x-mcp-header":"Count"},
    "deep":{"type":"object","properties":{"flag":{"type":"boolean","x-mcp-header":"Flag"}}},
    "free":{"type":"string"}}}"#;

fn tool(schema: &str) -> Tool {
    Tool::new("move")
        .input_schema(RawBuf::parse(schema).unwrap())
        .raw(|_: ToolCall, _: Context| async { Ok("moved") })
}

/// Sends these arguments with these headers.
#[track_caller]
fn check(arguments: &str, headers: &[(&'static str, &[u8])], status: u16, part: &str) {
    let service = Server::builder("demo", "1.0")
        .with(tool(SCHEMA))
        .http()
        .into_service(Sim)
        .unwrap();
    let body = format!(r#"1 tools/call {{"name":"move","arguments":{arguments}}}"#);
    let mut request = modern(&body);
    for (name, value) in headers {
        let value = HeaderValue::from_bytes(value).unwrap();
        request.headers_mut().append(*name, value);
    }
    let reply = send(&service, request);
    let found = reply.status;
    let text = reply.whole();
    assert_eq!(found, status, "{arguments} {headers:?}: {text}");
    assert!(text.contains(part), "{part} in {text}");
}

/// XH-14, XH-16, XH-23, XH-25.
#[test]
fn what_agrees_is_served() {
    check("{}", &[], 200, "moved");
    // No header is wanted for null; what the schema says of it is another question.
    check(r#"{"zone":null,"free":"x"}"#, &[], 200, "\"result\":");
    check(r#"{"zone":"b"}"#, &[("mcp-param-zone", b"b")], 200, "moved");
    check(
        r#"{"zone":"b"}"#,
        &[("mcp-param-zone", b"  b ")],
        200,
        "moved",
    );
    check(
        r#"{"zone":"b"}"#,
        &[("mcp-param-zone", b"=?base64?Yg==?=")],
        200,
        "moved",
    );
    check(r#"{"zone":""}"#, &[("mcp-param-zone", b"")], 200, "moved");
    check(
        r#"{"zone":""}"#,
        &[("mcp-param-zone", b"=?base64??=")],
        200,
        "moved",
    );
    check(
        r#"{"zone":"SGVsbG8="}"#,
        &[("mcp-param-zone", b"SGVsbG8=")],
        200,
        "moved",
    );
    check(
        r#"{"count":42}"#,
        &[("mcp-param-count", b"42.0")],
        200,
        "moved",
    );
    check(
        r#"{"deep":{"flag":true}}"#,
        &[("mcp-param-flag", b"true")],
        200,
        "moved",
    );
    // Headers that no annotation names are ignored.
    check("{}", &[("mcp-param-other", b"x")], 200, "moved");
}

/// SH-38, XH-15, XH-22, XH-25.
#[test]
fn what_differs_is_refused() {
    check(r#"{"zone":"b"}"#, &[], 400, "-32020");
    check(
        r#"{"zone":"b"}"#,
        &[("mcp-param-zone", b"B")],
        400,
        "-32020",
    );
    let twice: [(&str, &[u8]); 2] = [("mcp-param-zone", b"b"), ("mcp-param-zone", b"b")];
    check(r#"{"zone":"b"}"#, &twice, 400, "occurs twice");
    check("{}", &[("mcp-param-zone", b"b")], 400, "-32020");
    check(
        r#"{"zone":null}"#,
        &[("mcp-param-zone", b"null")],
        400,
        "-32020",
    );
    check(
        r#"{"count":42}"#,
        &[("mcp-param-count", b"43")],
        400,
        "-32020",
    );
    check(
        r#"{"deep":{"flag":true}}"#,
        &[("mcp-param-flag", b"TRUE")],
        400,
        "-32020",
    );
    check(
        r#"{"zone":"Hello"}"#,
        &[("mcp-param-zone", b"=?base64?SGVsbG8?=")],
        400,
        "-32020",
    );
    check(
        r#"{"zone":"Hello"}"#,
        &[("mcp-param-zone", b"=?base64?SGVs!!!bG8=?=")],
        400,
        "-32020",
    );
    check(
        r#"{"zone":"Hello"}"#,
        &[("mcp-param-zone", b"=?BASE64?SGVsbG8=?=")],
        400,
        "-32020",
    );
    check(
        "{\"zone\":\"\u{e9}\"}",
        &[("mcp-param-zone", b"\xe9")],
        400,
        "-32020",
    );
}

#[track_caller]
fn check_schema(properties: &str, reason: &str) {
    let schema = format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
    let server = Server::builder("demo", "1.0").with(tool(&schema));
    match server.build() {
        Ok(_) => assert_eq!(reason, "", "{properties}"),
        Err(error) => {
            let error = error.mistakes()[0].to_string();
            assert!(
                error.starts_with("tool `move`: ") && !reason.is_empty(),
                "{error}"
            );
            assert!(error.contains(reason), "{reason} in {error}");
        }
    }
}

/// XH-02, XH-03, XH-04, XH-06.
#[test]
fn annotations_are_looked_at_when_a_tool_is_registered() {
    check_schema(r#""a":{"type":"string","x-mcp-header":"Method"}"#, "");
    check_schema(r#""a":{"type":"string","x-mcp-header":""}"#, "name");
    check_schema(
        r#""a":{"type":"string","x-mcp-header":"My Region"}"#,
        "name",
    );
    check_schema(
        r#""a":{"type":"string","x-mcp-header":"Region:Primary"}"#,
        "name",
    );
    check_schema(
        r#""a":{"type":"string","x-mcp-header":"R\u00e9gion"}"#,
        "name",
    );
    check_schema(
        r#""a":{"type":"number","x-mcp-header":"A"}"#,
        "the draft profile alone",
    );
    check_schema(
        r#""a":{"type":"object","x-mcp-header":"A"}"#,
        "string, integer or boolean",
    );
    check_schema(
        r#""a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}"#,
        "same header",
    );
    check_schema(
        r#""a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}"#,
        "chain of properties",
    );
}
