//! Requests as they are written down where the transport is described, in sessions of servers
//! with the draft profile and without.

use http::Request;
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, ServerBuilder, Tool, ToolCall};
use mcp_proto::json::RawBuf;

use crate::scripted::{Reply, Serve, send};

const SQL: &str = r#"{
"type": "object",
"properties": {
"region": {
"type": "string",
"description": "The region to execute the query in",
"x-mcp-header": "Region"
},
"query": {
"type": "string",
"description": "The SQL query to execute"
}
},
"required": ["region", "query"]
}"#;

const WEATHER: &str = r#"{"type":"object","properties":{"location":{"type":"string"}}}"#;

fn tool(name: &str, schema: &str) -> Tool {
    Tool::new(name)
        .input_schema(RawBuf::parse(schema).unwrap())
        .raw(|_: ToolCall, _: Context| async { Ok("served") })
}

fn server() -> ServerBuilder {
    Server::builder("demo", "1.0")
        .with(tool("get_weather", WEATHER))
        .with(tool("execute_sql", SQL))
        .resource(
            "file:///projects/myapp/config.json",
            "config",
            |_: Context| async { Ok("{}") },
        )
}

/// Sends what is written: a request line, fields, an empty line and a body. `SESSION` stands for
/// the id of the session.
fn say(service: &HttpService, session: &str, text: &str) -> Reply {
    let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
    let mut lines = head.lines();
    let mut line = lines.next().unwrap().split(' ');
    let mut request = Request::builder()
        .method(line.next().unwrap())
        .uri(line.next().unwrap())
        .header("host", "localhost");
    for field in lines {
        let (name, value) = field.split_once(':').unwrap();
        request = request.header(name, value.trim().replace("SESSION", session));
    }
    send(service, request.body(body.to_owned()).unwrap())
}

const INITIALIZE: &str = r#"POST /mcp HTTP/1.1
Content-Type: application/json
Mcp-Method: initialize

{
"jsonrpc": "2.0",
"id": 4,
"method": "initialize",
"params": {
"protocolVersion": "2025-06-18",
"capabilities": {},
"clientInfo": {
"name": "ExampleClient",
"version": "1.0.0"
}
}
}"#;

const INITIALIZED: &str = r#"POST /mcp HTTP/1.1
Content-Type: application/json
Mcp-Session-Id: SESSION
Mcp-Method: notifications/initialized

{
"jsonrpc": "2.0",
"method": "notifications/initialized"
}"#;

const CALL: &str = r#"POST /mcp HTTP/1.1
Content-Type: application/json
Mcp-Session-Id: SESSION
Mcp-Method: tools/call
Mcp-Name: get_weather

{
"jsonrpc": "2.0",
"id": 1,
"method": "tools/call",
"params": {
"name": "get_weather",
"arguments": {
"location": "Seattle, WA"
}
}
}"#;

const READ: &str = r#"POST /mcp HTTP/1.1
Content-Type: application/json
Mcp-Session-Id: SESSION
Mcp-Method: resources/read
Mcp-Name: file:///projects/myapp/config.json

{
"jsonrpc": "2.0",
"id": 2,
"method": "resources/read",
"params": {
"uri": "file:///projects/myapp/config.json"
}
}"#;

const EXECUTE: &str = r#"POST /mcp HTTP/1.1
Content-Type: application/json
Mcp-Session-Id: SESSION
Mcp-Method: tools/call
Mcp-Name: execute_sql
Mcp-Param-Region: us-west1

{
"jsonrpc": "2.0",
"id": 1,
"method": "tools/call",
"params": {
"name": "execute_sql",
"arguments": {
"region": "us-west1",
"query": "SELECT * FROM users"
}
}
}"#;

const LIST: &str = r#"POST /mcp HTTP/1.1
Content-Type: application/json
Mcp-Session-Id: SESSION

{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{}}"#;

fn open(service: &HttpService) -> String {
    let opened = say(service, "", INITIALIZE);
    assert_eq!(opened.status, 200);
    let session = opened.header("mcp-session-id").to_owned();
    assert!(opened.whole().contains(r#""id":4,"result""#));
    assert_eq!(say(service, &session, INITIALIZED).status, 202);
    session
}

#[test]
fn with_the_draft_profile() {
    let service = server().draft_profile().http().served();
    let session = open(&service);
    let check = |text: &str, status: u16, part: &str| {
        let reply = say(&service, &session, text);
        assert_eq!(reply.status, status, "{text}");
        let body = reply.whole();
        assert!(body.contains(part), "{part} in {body}");
    };
    check(CALL, 200, "served");
    check(READ, 200, r#""id":2,"result""#);
    check(EXECUTE, 200, "served");
    check(&CALL.replace("Mcp-Method", "MCP-METHOD"), 200, "served");
    let mismatch = r#""id":1,"error":{"code":-32001"#;
    check(
        &CALL.replace("Mcp-Name: get_weather", "Mcp-Name: foo"),
        400,
        mismatch,
    );
    check(&CALL.replace("Mcp-Name: get_weather\n", ""), 400, mismatch);
    check(&CALL.replace("Mcp-Method: tools/call\n", ""), 400, mismatch);
    check(
        &CALL.replace("Mcp-Method: tools/call", "Mcp-Method: TOOLS/CALL"),
        400,
        mismatch,
    );
    check(&EXECUTE.replace("us-west1\n", "us-east1\n"), 400, mismatch);
    check(
        &EXECUTE.replace("Mcp-Param-Region: us-west1\n", ""),
        400,
        mismatch,
    );
    check(LIST, 400, "-32001");
    check(
        &LIST.replace("SESSION", "1f3a4b5c-6d7e-8f9a-0b1c-2d3e4f5a6b7c"),
        404,
        "session",
    );
}

#[test]
fn without_it() {
    let service = server().http().served();
    let session = open(&service);
    for text in [CALL, READ, EXECUTE, LIST] {
        let reply = say(&service, &session, text);
        reply.says(200, [r#""result""#]);
        // Nobody looks at fields that the revision does not have.
        let reply = say(
            &service,
            &session,
            &text.replace("Mcp-Name: ", "Mcp-Name: x"),
        );
        assert_eq!(reply.status, 200);
    }
    assert_eq!(say(&service, "sess_abc123", LIST).status, 404);
    assert_eq!(
        say(&service, "", &LIST.replace("Mcp-Session-Id: SESSION\n", "")).status,
        400
    );
    let delete = "DELETE /mcp HTTP/1.1\nMcp-Session-Id: SESSION";
    assert_eq!(say(&service, &session, delete).status, 204);
    assert_eq!(say(&service, &session, LIST).status, 404);
}
