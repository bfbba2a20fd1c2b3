//! Arguments that headers repeat: `Mcp-Param-*`.

use http::header::{HeaderName, HeaderValue};
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, Tool, ToolCall};
use mcp_proto::json::RawBuf;

use crate::scripted::{RequestExt, Serve, modern, send};
use crate::texts::{has, rows};

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

fn service() -> HttpService {
    let server = Server::builder("demo", "1.0").with(tool(SCHEMA));
    server.http().served()
}

/// Sends the arguments of each row with its headers, and compares the status and a part of the body.
fn check(table: &str) {
    let service = service();
    for [arguments, headers, status, part] in rows(table) {
        let call = format!(r#"1 tools/call {{"name":"move","arguments":{arguments}}}"#);
        let mut request = modern(&call);
        for (name, value) in headers.split(", ").filter_map(|it| it.split_once(':')) {
            let name: HeaderName = format!("mcp-param-{name}").parse().unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        send(&service, request).says(status.parse().unwrap(), [part]);
    }
}

/// XH-14, XH-16, XH-23, XH-25.
#[test]
fn what_agrees_is_served() {
    check(
        r#"
        {}                    |                       | 200 | moved
        {"zone":"b"}          | zone:b                | 200 | moved
        {"zone":"b"}          | zone:=?base64?Yg==?=  | 200 | moved
        {"zone":""}           | zone:                 | 200 | moved
        {"zone":""}           | zone:=?base64??=      | 200 | moved
        {"zone":"SGVsbG8="}   | zone:SGVsbG8=         | 200 | moved
        {"count":42}          | count:42.0            | 200 | moved
        {"deep":{"flag":true}} | flag:true            | 200 | moved
        "#,
    );
    // No header is wanted for null; what the schema says of it is another question.
    check(r#"{"zone":null,"free":"x"} | | 200 | "result":"#);
    // Spaces around a value are not part of it.
    let request = modern(r#"1 tools/call {"name":"move","arguments":{"zone":"b"}}"#);
    let request = request.with("mcp-param-zone", "  b ");
    send(&service(), request).says(200, ["moved"]);
    // Headers that no annotation names are ignored.
    check("{} | other:x | 200 | moved");
}

/// SH-38, XH-15, XH-22, XH-25.
#[test]
fn what_differs_is_refused() {
    check(
        r#"
        {"zone":"b"}          |                                 | 400 | -32020
        {"zone":"b"}          | zone:B                          | 400 | -32020
        {"zone":"b"}          | zone:b, zone:b                  | 400 | occurs twice
        {}                    | zone:b                          | 400 | -32020
        {"zone":null}         | zone:null                       | 400 | -32020
        {"count":42}          | count:43                        | 400 | -32020
        {"deep":{"flag":true}} | flag:TRUE                      | 400 | -32020
        {"zone":"Hello"}      | zone:=?base64?SGVsbG8?=         | 400 | -32020
        {"zone":"Hello"}      | zone:=?base64?SGVs!!!bG8=?=     | 400 | -32020
        {"zone":"Hello"}      | zone:=?BASE64?SGVsbG8=?=        | 400 | -32020
        "#,
    );
    // In the encoding of other headers.
    let mut request = modern(r#"1 tools/call {"name":"move","arguments":{"zone":"é"}}"#);
    let value = HeaderValue::from_bytes(b"\xe9").unwrap();
    request.headers_mut().append("mcp-param-zone", value);
    send(&service(), request).says(400, ["-32020"]);
}

/// XH-02, XH-03, XH-04, XH-06.
#[test]
fn annotations_are_looked_at_when_a_tool_is_registered() {
    let table = r#"
        "a":{"type":"string","x-mcp-header":"Method"}           |
        "a":{"type":"string","x-mcp-header":""}                 | name
        "a":{"type":"string","x-mcp-header":"My Region"}        | name
        "a":{"type":"string","x-mcp-header":"Region:Primary"}   | name
        "a":{"type":"string","x-mcp-header":"R\u00e9gion"}      | name
        "a":{"type":"number","x-mcp-header":"A"}                | the draft profile alone
        "a":{"type":"object","x-mcp-header":"A"}                | string, integer or boolean
        "a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"} | same header
        "a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}} | chain of properties
    "#;
    for [properties, reason] in rows(table) {
        let schema = format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
        let server = Server::builder("demo", "1.0").with(tool(&schema));
        match server.build() {
            Ok(_) => assert_eq!(reason, ""),
            Err(error) => {
                let error = error.mistakes()[0].to_string();
                assert!(!reason.is_empty(), "{error}");
                has(&error, ["tool `move`: ", reason]);
            }
        }
    }
}
