//! Arguments and results against the whole of their schemas.

use mcp_async::Server;
use mcp_async::model::CallToolResult;
use mcp_async::server::{Context, HandlerError, Json, ServerBuilder, Tool, ToolCall};
use mcp_proto::json::RawBuf;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::{revisions, says};
use crate::texts::{INTERNAL_ERROR, internal};

#[derive(Deserialize, JsonSchema)]
struct Order {
    #[schemars(length(min = 2))]
    item: String,
    #[schemars(range(min = 1, max = 9))]
    count: u32,
}

#[derive(Serialize, JsonSchema)]
struct Share {
    #[schemars(range(max = 1.0))]
    share: f64,
}

fn schema(text: &str) -> RawBuf {
    RawBuf::parse(text).unwrap()
}

fn server() -> ServerBuilder {
    Server::builder("demo", "1")
        .tool("order", "Orders", |order: Order, _: Context| async move {
            Ok(format!("{} {}", order.count, order.item))
        })
        .tool("honest", "Keeps its word", |(): (), _: Context| async {
            Ok(Json(Share { share: 0.5 }))
        })
        .tool("liar", "Breaks it", |(): (), _: Context| async {
            Ok(Json(Share { share: 1.5 }))
        })
        .tool("odd", "Fails in its own words", |(): (), _: Context| async {
            Err::<Json<Share>, _>(HandlerError::visible("odd"))
        })
        .with(
            Tool::new("silent")
                .output_schema(schema(r#"{"type":"object"}"#))
                .handler(says("no structured content")),
        )
        .with(
            Tool::new("sorry")
                .output_schema(schema(r#"{"type":"object"}"#))
                .handler(|(): (), _| async { Ok(CallToolResult::error("sorry")) }),
        )
        .with(
            Tool::new("raw")
                .input_schema(schema(
                    r#"{"type":"object","properties":{"a":{"const":1}},"required":["a"]}"#,
                ))
                .raw(|call: ToolCall, _| async move {
                    Ok(call.arguments.as_raw().as_str().to_owned())
                }),
        )
}

/// TL-13.
#[test]
fn arguments_obey_the_whole_schema() {
    let cases = [
        ("order", r#"{"item":"x","count":1}"#, "item: "),
        ("order", r#"{"item":"xy","count":10}"#, "count: "),
        ("order", r#"{"item":"xy"}"#, "count"),
        ("honest", r#"{"more":1}"#, "unknown member `more`"),
        ("raw", r#"{"a":2}"#, "a: "),
        ("raw", "{}", "a"),
    ];
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        for (name, arguments, path) in cases {
            let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
            let told = if revision.reports_bad_arguments_as_result() {
                let result = wire.result("tools/call", &params);
                assert_eq!(member(&result, &["isError"]), "true", "{result}");
                text(&result, &["content", "0", "text"])
            } else {
                let (code, message) = wire.error("tools/call", &params);
                assert_eq!(code, -32602);
                message
            };
            let rest = told.strip_prefix("Invalid arguments: ");
            assert!(rest.is_some_and(|rest| rest.contains(path)), "{told}");
        }
        for (name, arguments, expected) in [
            ("order", r#"{"item":"xy","count":9}"#, "9 xy"),
            ("raw", r#"{"a":1}"#, r#"{"a":1}"#),
        ] {
            let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
            let result = wire.result("tools/call", &params);
            assert_eq!(text(&result, &["content", "0", "text"]), expected);
        }
    }
}

/// TL-09.
#[test]
fn results_keep_what_the_schema_promises() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        let mut check = |name: &str, expected: &str| {
            let answer = wire.ask("tools/call", &format!(r#"{{"name":"{name}"}}"#));
            assert!(answer.contains(expected), "{answer} in {revision}");
        };
        check("honest", r#""text":"{\"share\":0.5}""#);
        check("liar", &internal(INTERNAL_ERROR));
        check("silent", &internal(INTERNAL_ERROR));
        check("odd", r#""isError":true"#);
        check("sorry", r#""isError":true"#);
    }
}

/// JR-41.
#[test]
fn a_schema_that_cannot_be_checked_is_no_tool() {
    let broken = Tool::new("broken")
        .input_schema(schema(
            r#"{"type":"object","properties":{"a":{"pattern":"("}}}"#,
        ))
        .raw(|_, _| async { Ok(()) });
    let fetching = Tool::new("fetching")
        .output_schema(schema(r#"{"$ref":"https://example.com/schema"}"#))
        .handler(|(): (), _| async { Ok(()) });
    let list = Tool::new("list")
        .input_schema(schema(r#"{"type":"array"}"#))
        .raw(|_, _| async { Ok(()) });
    let unknown = Tool::new("unknown")
        .output_schema(schema(
            r#"{"type":"object","properties":{"a/b":{"items":{"format":"idn-email"}}}}"#,
        ))
        .handler(|(): (), _| async { Ok(()) });
    // The dialect does not define the format, so the validator does not know it.
    let older = Tool::new("older")
        .input_schema(schema(
            r#"{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"id":{"format":"uuid"}}}"#,
        ))
        .raw(|_, _| async { Ok(()) });
    let elsewhere = Tool::new("elsewhere")
        .input_schema(schema(
            r##"{"type":"object","properties":{"a":{"$ref":"#/components/b%20c"}},"components":{"b c":{"items":{"$ref":"#"},"format":"idn-email"}}}"##,
        ))
        .raw(|_, _| async { Ok(()) });
    for (tool, expected) in [
        (
            older,
            "tool `older`: nothing enforces `format` at /inputSchema/properties/id",
        ),
        (
            elsewhere,
            "tool `elsewhere`: nothing enforces `format` at /inputSchema/components/b c",
        ),
        (
            broken,
            "tool `broken`: /inputSchema is not accepted: unsupported pattern `(`",
        ),
        (
            fetching,
            "tool `fetching`: /outputSchema is not accepted: reference out of the schema: ",
        ),
        (
            list,
            "tool `list`: /inputSchema is not the schema of an object",
        ),
        (
            unknown,
            "tool `unknown`: nothing enforces `format` at /outputSchema/properties/a~1b/items",
        ),
    ] {
        let error = Server::builder("demo", "1").with(tool).build();
        let error = error.unwrap_err().mistakes()[0].to_string();
        assert!(error.starts_with(expected), "{error}");
    }
}

/// What JSON Schema calls a format is enforced, any other name is an annotation.
#[test]
fn formats_are_enforced() {
    #[derive(Deserialize, JsonSchema)]
    struct Letter {
        #[schemars(email)]
        to: String,
        #[schemars(extend("format" = "hostname"))]
        from: String,
        #[schemars(extend("format" = "markdown"))]
        text: String,
    }
    #[derive(Serialize, JsonSchema)]
    struct Sent {
        route: String,
        #[schemars(extend("format" = "date"))]
        day: String,
    }
    let server = Server::builder("demo", "1").tool(
        "send",
        "Sends",
        |letter: Letter, _: Context| async move {
            Ok(Json(Sent {
                route: format!("{} {}", letter.from, letter.to),
                day: letter.text,
            }))
        },
    );
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        for (to, from, text, expected) in [
            ("ada@a.example", "b.example", "2026-07-28", "2026-07-28"),
            ("ada", "b.example", "2026-07-28", "to: "),
            ("ada@a.example", "b..example", "2026-07-28", "from: "),
            ("ada@a.example", "b.example", "*today*", INTERNAL_ERROR),
        ] {
            let arguments = format!(r#"{{"to":"{to}","from":"{from}","text":"{text}"}}"#);
            let params = format!(r#"{{"name":"send","arguments":{arguments}}}"#);
            let answer = wire.ask("tools/call", &params);
            assert!(answer.contains(expected), "{answer} in {revision}");
        }
    }
}
