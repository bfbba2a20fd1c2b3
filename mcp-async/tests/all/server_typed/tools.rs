//! Tools: what they are listed as, how their arguments are checked, what they come to.

use mcp_async::Server;
use mcp_async::server::{Context, HandlerError, Json, ServerBuilder};
use mcp_proto::{Revision, RevisionSet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::revisions;
use crate::texts::INTERNAL_ERROR;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i32,
    b: i32,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i32,
}

fn server() -> ServerBuilder {
    Server::builder("demo", "1")
        .tool("greet", "Greets", |(): (), _: Context| async {
            Ok("hello \"you\"")
        })
        .tool("add", "Adds", |args: Add, _: Context| async move {
            let sum = args.a.checked_add(args.b);
            let sum = sum.ok_or(HandlerError::visible("too large"))?;
            Ok(Json(Sum { sum }))
        })
        .tool("fail", "Fails", |(): (), _: Context| async {
            let number: u32 = "secret".parse()?;
            Ok(number.to_string())
        })
        .tool("panic", "Panics", |(): (), _: Context| async {
            if true {
                panic!("secret");
            }
            Ok(())
        })
}

fn call(wire: &mut LineClient, name: &str, arguments: &str) -> String {
    wire.result(
        "tools/call",
        &format!(r#"{{"name":"{name}","arguments":{arguments}}}"#),
    )
}

/// TL-08, TL-11.
#[test]
fn results_are_written_for_the_revision() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        assert_eq!(
            call(&mut wire, "greet", "{}"),
            r#"{"content":[{"type":"text","text":"hello \"you\""}]}"#
        );
        let structured = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => "",
            _ => r#","structuredContent":{"sum":3}"#,
        };
        assert_eq!(
            call(&mut wire, "add", r#"{"a":1,"b":2}"#),
            format!(r#"{{"content":[{{"type":"text","text":"{{\"sum\":3}}"}}]{structured}}}"#)
        );
        assert_eq!(
            call(&mut wire, "add", r#"{"a":2147483647,"b":2}"#),
            r#"{"content":[{"type":"text","text":"too large"}],"isError":true}"#
        );
    }
}

/// TL-08, TL-13.
#[test]
fn arguments_that_do_not_fit_are_told_with_their_path() {
    // The whole schema is checked before the type.
    let cases = [
        (r#"{"a":1,"b":"two"}"#, "b: expected integer, found string"),
        (r#"{"a":1}"#, "missing member `b`"),
        (r#"{"a":1,"b":2147483648}"#, "b: "),
    ];
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        for (arguments, expected) in cases {
            let params = format!(r#"{{"name":"add","arguments":{arguments}}}"#);
            let told = if revision.reports_bad_arguments_as_result() {
                let result = wire.result("tools/call", &params);
                assert_eq!(member(&result, &["isError"]), "true");
                text(&result, &["content", "0", "text"])
            } else {
                let (code, message) = wire.error("tools/call", &params);
                assert_eq!(code, -32602);
                message
            };
            assert!(
                told.starts_with("Invalid arguments: ") && told.contains(expected),
                "{told}"
            );
        }
        assert_eq!(
            wire.error("tools/call", r#"{"name":"add","arguments":[1,2]}"#),
            (
                -32602,
                "Invalid arguments: expected an object, found array".into()
            )
        );
    }
}

/// TL-07.
#[test]
fn neither_errors_nor_panics_leave() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        for name in ["fail", "panic"] {
            assert_eq!(
                wire.error("tools/call", &format!(r#"{{"name":"{name}"}}"#)),
                (-32603, INTERNAL_ERROR.into())
            );
        }
        assert_eq!(
            wire.error("tools/call", r#"{"name":"frob"}"#),
            (-32602, "Unknown tool: frob".into())
        );
        // The server lives on.
        assert!(call(&mut wire, "greet", "{}").contains("hello"));
    }
}

/// TL-04, TL-06.
#[test]
fn tools_are_listed_with_their_schemas() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        let list = wire.result("tools/list", "{}");
        let names: Vec<_> = (0..4)
            .map(|at: usize| text(&list, &["tools", &at.to_string(), "name"]))
            .collect();
        assert_eq!(names, ["add", "fail", "greet", "panic"]);
        let schema = |tool, which| member(&list, &["tools", tool, which]);
        assert_eq!(
            schema("2", "inputSchema"),
            r#"{"type":"object","additionalProperties":false}"#
        );
        let input = schema("0", "inputSchema");
        assert_eq!(member(&input, &["required"]), r#"["a","b"]"#);
        assert_eq!(member(&input, &["type"]), "\"object\"");
        let has_output = RevisionSet::at_least(Revision::V2025_06_18).contains(revision);
        assert_eq!(!schema("0", "outputSchema").is_empty(), has_output);
        assert_eq!(schema("2", "outputSchema"), "");
    }
}
