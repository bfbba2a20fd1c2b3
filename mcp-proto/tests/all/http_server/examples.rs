//! Exchanges as other texts about the protocol show them, in words of our own.

use mcp_proto::server::ServerConfig;

use crate::http_server::site::*;

const SESSION: &str = "Mcp-Session-Id: s0";

/// A draft of the transports: sessions and mirrored headers at once. Its pages name 2025-06-18.
#[test]
fn a_draft_of_the_transports() {
    let config = ServerConfig {
        draft_profile: true,
        ..config()
    };
    let opening = r#"{
        "jsonrpc": "2.0",
        "id": 4,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "Sketch", "version": "0.9.0" }
        }
    }"#;
    let forecast = r#"{
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": "forecast", "arguments": { "place": "Oslo, NO" } }
    }"#;
    let settings = r#"{
        "jsonrpc": "2.0",
        "id": 2,
        "method": "resources/read",
        "params": { "uri": "file:///home/sketch/settings.toml" }
    }"#;
    let initialized = r#"{ "jsonrpc": "2.0", "method": "notifications/initialized" }"#;
    let query = r#"{
        "jsonrpc": "2.0",
        "id": 3,
        "method": "tools/call",
        "params": { "name": "query", "arguments": { "zone": "north-2", "text": "SELECT 1" } }
    }"#;
    let call = "Mcp-Method: tools/call";
    let site = &mut Site::of(config);
    site.check(&["Mcp-Method: initialize"], opening, "200 result")
        .check(
            &[SESSION, "Mcp-Method: notifications/initialized"],
            initialized,
            "202",
        )
        .check(&[SESSION, call, "Mcp-Name: forecast"], forecast, "200 result")
        .check(
            &[
                SESSION,
                "Mcp-Method: resources/read",
                "Mcp-Name: file:///home/sketch/settings.toml",
            ],
            settings,
            "200 result",
        )
        .check(
            &[SESSION, call, "Mcp-Name: query", "Mcp-Param-Zone: north-2"],
            query,
            "200 result",
        )
        // What an intermediary read is not what the server would have done.
        .check(&[SESSION, call, "Mcp-Name: forecast"], query, "400 -32001");
    let refused = &site.session(0).sent.last().unwrap().text;
    assert!(refused.contains(r#""id":3,"#), "{refused}");
    // The session is missing, or it is gone.
    site.check(&[call, "Mcp-Name: forecast"], forecast, "400 -32600")
        .check(
            &["Mcp-Session-Id: 5e0d", call, "Mcp-Name: forecast"],
            forecast,
            "404",
        );
}

/// An article about the wire: an early 2025-03-26, and a cancellation that is not of MCP.
#[test]
fn an_article_about_the_wire() {
    let site = &mut Site::new();
    let opening = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{"listChanged":true},"sampling":{}},"clientInfo":{"name":"desk","version":"1.0.0"}}}"#;
    let list = r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{}}"#;
    site.check(&[], opening, "200 result")
        .check(&[SESSION], INITIALIZED, "202")
        .check(&[SESSION], list, "200 result")
        .check(
            &[SESSION],
            r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"cursor":"cGFnZTI="}}"#,
            "200 result",
        );
    site.session(0).sent.clear();
    // Who cancels in that way waits for the error.
    site.check(&[SESSION], &call("7", "wait"), "open").check(
        &[SESSION],
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}"#,
        "202",
    );
    site.session(0).says(&["5: -32800."]);
    // As a request it is none of ours.
    site.check(
        &[SESSION],
        r#"{"jsonrpc":"2.0","id":8,"method":"$/cancelRequest","params":{"id":7}}"#,
        "200 -32601",
    );
    for (body, expected) in [
        // Neither an id nor the right version: on a pipe dropped, here 400.
        (
            r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#,
            "400 -32600",
        ),
        (r#"{"jsonrpc":"1.0","id":9,"method":"ping"}"#, "400 -32600"),
        (
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/uninstall"}"#,
            "200 -32601",
        ),
        ("{\"jsonrpc\":\"2.0\",\"id\":9,", "400 -32700"),
    ] {
        site.check(&[SESSION], body, expected);
    }
}
