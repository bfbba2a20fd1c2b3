//! Peers written by hand, without an SDK and with a few beliefs of their own about the protocol:
//! fixed versions, errors with a null id, `-32001` for a missing resource, `$/cancelRequest`.

use mcp_proto::client::ClientConfig;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;

use crate::script::{client, server};

#[test]
fn a_client_that_waits_for_nothing_is_served() {
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::RESOURCES)
            .capabilities(),
        ..ServerConfig::new("ours", "1")
    };
    server::check(
        config,
        r#"> 1 initialize {"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test-client","version":"1.0.0"}}
        < 1 = {"protocolVersion":"2025-03-26","capabilities":{"resources":{},"tools":{}},"serverInfo":{"name":"ours","version":"1"}}
        > - notifications/initialized {}
        = initialized
        > 2 tools/list {}
        = request 0 tools/list
        > 3 tools/call {"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}
        = request 1 tools/call calculate
        > 4 tools/call {"name":"slow"}
        = request 2 tools/call slow
        answer 0 {"tools":[]}
        < 2 = {"tools":[]}
        answer 1 {"content":[{"type":"text","text":"14"}]}
        < 3 = {"content":[{"type":"text","text":"14"}]}
        > - $/cancelRequest {"id":4}
        = cancelled 2
        < 4 ! -32800
        > 5 $/cancelRequest {"id":4}
        < 5 ! -32601
        > 6 shutdown
        < 6 ! -32601
        >
        > not JSON
        < - ! -32700 message is not valid JSON
        > {"jsonrpc":"1.0","id":7,"method":"tools/list"}
        < 7 ! -32600 jsonrpc must be \"2.0\"
        > {"jsonrpc":"1.0","method":"tools/list"}
        ~ Malformed
        > 8 ping {}
        < 8 = {}"#,
    );
}

#[test]
fn a_server_with_codes_of_its_own_is_understood() {
    client::check(
        ClientConfig::new("ours", "1"),
        r#"connect
        > 1 server/discover {"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"ours","version":"1"}}}
        # It knows no such method, and answers whatever version is asked with its own.
        < 1 ! -32601 Method not found: server/discover
        > 2 initialize {"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"ours","version":"1"}}
        < 2 = {"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":false},"resources":{"subscribe":false,"listChanged":false}},"serverInfo":{"name":"raw-mcp-server","version":"1.0.0"}}
        = connected 2025-03-26 "raw-mcp-server"
        > - notifications/initialized
        call 1 tools/call {"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}
        > 3 tools/call {"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}
        call 2 tools/call {"name":"nonexistent_tool"}
        > 4 tools/call {"name":"nonexistent_tool"}
        call 3 resources/read {"uri":"server://nowhere"}
        > 5 resources/read {"uri":"server://nowhere"}
        < 3 = {"content":[{"type":"text","text":"14"}],"isError":false}
        = answer 1 {"content":[{"type":"text","text":"14"}],"isError":false}
        < 4 ! -32002 Tool not found: nonexistent_tool
        = error 2 -32002 Tool not found: nonexistent_tool
        < 5 ! -32001 Resource not found: server://nowhere
        = error 3 -32001 Resource not found: server://nowhere
        # A client never answers such things.
        < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}
        = error - -32700
        < a line for people, on the wrong stream
        = invalid unexpected byte at byte 0"#,
    );
}
