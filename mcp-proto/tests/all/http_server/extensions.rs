//! Extensions over HTTP: EX-06, EX-07, EX-15.

use mcp_proto::CustomMethod;
use mcp_proto::server::ServerConfig;

use crate::http_server::site::*;

const METHODS: &[CustomMethod<'static>] = &[
    CustomMethod {
        subject: Some("noteId"),
        ..CustomMethod::new("notes/get")
    },
    CustomMethod {
        requires: Some("com.example/notes"),
        ..CustomMethod::new("notes/put")
    },
    CustomMethod::new("notes/list"),
];

#[track_caller]
fn check(method: &str, params: &str, name: &str, expected: &str) {
    let config = ServerConfig {
        methods: METHODS,
        ..config()
    };
    let header = format!("Mcp-Method: {method}");
    let fields = ["MCP-Protocol-Version: 2026-07-28", &header, name];
    let body = request("1", method, &modern(params));
    Site::of(config).check(&fields, &body, expected);
}

/// EX-15: `Mcp-Name` repeats what the extension says, and nothing where it says nothing.
#[test]
fn ex_15_the_name_of_an_own_method() {
    check("notes/get", r#""noteId":"a""#, "Mcp-Name: a", "200 result");
    check(
        "notes/get",
        r#""noteId":"\u00e9""#,
        "Mcp-Name: =?base64?w6k=?=",
        "200 result",
    );
    check("notes/get", r#""noteId":"a""#, "-mcp-name", "400 -32020");
    check("notes/get", r#""noteId":"a""#, "Mcp-Name: b", "400 -32020");
    check("notes/get", "", "Mcp-Name: a", "400 -32020");
    check(
        "notes/get",
        r#""noteId":"a","noteId":"b""#,
        "Mcp-Name: a",
        "400 -32020",
    );
    // What is missing from both is the handler's affair.
    check("notes/get", "", "-mcp-name", "200 result");
    check("notes/list", r#""noteId":"a""#, "Mcp-Name: b", "200 result");
    check("notes/list", r#""noteId":"a""#, "-mcp-name", "200 result");
}

/// EX-06, EX-07: what the client lacks is status 400, what the server lacks 404.
#[test]
fn ex_06_the_status_of_what_is_missing() {
    check("notes/put", "", "-mcp-name", "400 -32021");
    check("notes/drop", "", "-mcp-name", "404 -32601");
}
