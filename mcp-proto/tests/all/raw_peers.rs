//! Peers written by hand, without an SDK and with a few beliefs of their own about the protocol:
//! fixed versions, errors with a null id, `-32001` for a missing resource, `$/cancelRequest`.
#![cfg(feature = "alloc")]

use mcp_proto::client::{self, Call, Client, ClientConfig};
use mcp_proto::json::Raw;
use mcp_proto::model::{ResourcesCapability, ServerCapabilities, ToolsCapability};
use mcp_proto::rpc::Method;
use mcp_proto::server::{self, Server, ServerConfig};
use mcp_proto::{Inbox, Instant, Limits, Link, Machine, Outbox, Outcome, Verdict};

const NOW: Instant = Instant::from_millis(1);

/// Gives the machine lines and returns those that it wrote.
fn talk<M: Machine>(
    machine: &mut M,
    lines: &[&str],
    mut app: impl FnMut(&mut M, M::Event<'_>, &mut Outbox<Vec<u8>>) -> Verdict,
) -> Vec<String> {
    let limits = Limits::default();
    let outbox = Outbox::new(Vec::new(), &limits);
    let mut link = Link::new(machine, Inbox::new(Vec::new(), &limits), outbox).unwrap();
    for line in lines.iter().flat_map(|line| [line.as_bytes(), b"\n"]) {
        let mut rest = line;
        while !rest.is_empty() {
            let spare = link.inbox.spare_mut().expect("it reads all it gets");
            let count = spare.len().min(rest.len());
            spare[..count].copy_from_slice(&rest[..count]);
            link.inbox.filled(count);
            rest = &rest[count..];
        }
    }
    let _ = link.turn(machine, NOW, &mut app);
    let written = String::from_utf8(link.outbox.pending().to_vec()).expect("UTF-8");
    written.lines().map(str::to_owned).collect()
}

fn raw(text: &str) -> Raw<'_> {
    Raw::parse(text.as_bytes(), 16).expect("JSON of our own")
}

#[test]
fn a_client_that_waits_for_nothing_is_served() {
    let config = ServerConfig {
        capabilities: ServerCapabilities {
            tools: Some(ToolsCapability::default()),
            resources: Some(ResourcesCapability::default()),
            ..ServerCapabilities::default()
        },
        ..ServerConfig::new("ours", "1")
    };
    let mut server = Server::new(config, server::Growing).unwrap();
    let mut waiting = Vec::new();
    let lines = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test-client","version":"1.0.0"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"slow"}}"#,
        r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}}"#,
        r#"{"jsonrpc":"2.0","id":5,"method":"$/cancelRequest","params":{"id":4}}"#,
        r#"{"jsonrpc":"2.0","id":6,"method":"shutdown"}"#,
        "",
        "not JSON",
        r#"{"jsonrpc":"1.0","id":7,"method":"tools/list"}"#,
        r#"{"jsonrpc":"1.0","method":"tools/list"}"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"ping","params":{}}"#,
    ];
    let out = talk(&mut server, &lines, |server, event, outbox| {
        if let server::Event::Request { token, context, .. } = event {
            let result = match context.subject {
                Some(name) if name == "slow" => {
                    waiting.push(token);
                    return Verdict::Done;
                }
                Some(_) => r#"{"content":[{"type":"text","text":"14"}]}"#,
                None => r#"{"tools":[]}"#,
            };
            let result = raw(result);
            let sent = outbox.put(|out| server.respond(NOW, token, Outcome::Result(&result), out));
            assert!(sent.is_ok());
        }
        Verdict::Done
    });
    let expected = [
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","#,
        r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[]}}"#,
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"14"}]}}"#,
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32800,"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"#,
        r#"{"jsonrpc":"2.0","id":6,"error":{"code":-32601,"#,
        r#"{"jsonrpc":"2.0","error":{"code":-32700,"#,
        r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"#,
        r#"{"jsonrpc":"2.0","id":8,"result":{}}"#,
    ];
    assert_eq!(out.len(), expected.len(), "{out:#?}");
    for (line, start) in out.iter().zip(expected) {
        assert!(
            line.starts_with(start),
            "{line}\nshould begin with\n{start}"
        );
    }
    assert_eq!(waiting.len(), 1);
}

#[test]
fn a_server_with_codes_of_its_own_is_understood() {
    let config = ClientConfig::new("ours", "1");
    let mut client = Client::new(config, client::Growing).unwrap();
    let mut log = Vec::new();
    let mut hear = |lines: &[&str], client: &mut Client<'static, client::Growing>| {
        talk(client, lines, |_, event, _| {
            log.push(match event {
                client::Event::Connected(server) => format!("connected {}", server.revision),
                client::Event::Answer {
                    cookie,
                    outcome: Ok(result),
                    ..
                } => {
                    format!("{cookie} = {}", result.as_str())
                }
                client::Event::Answer {
                    cookie,
                    outcome: Err(error),
                    ..
                } => {
                    format!("{cookie} ! {} {}", error.code, error.message)
                }
                client::Event::Unusable(_) => "unusable".to_owned(),
                other => panic!("not expected: {other:?}"),
            });
            Verdict::Done
        })
    };

    client.connect(NOW).expect("it is new");
    let out = hear(&[], &mut client);
    assert!(
        out[0].contains(r#""id":1,"method":"server/discover""#),
        "{out:?}"
    );
    // It knows no such method, and answers whatever version is asked with its own.
    let unknown = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found: server/discover"}}"#;
    let out = hear(&[unknown], &mut client);
    assert!(
        out[0].contains(r#""id":2,"method":"initialize""#),
        "{out:?}"
    );
    let welcome = r#"{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{"listChanged":false},"resources":{"subscribe":false,"listChanged":false}},"serverInfo":{"name":"raw-mcp-server","version":"1.0.0"}}}"#;
    let out = hear(&[welcome], &mut client);
    assert_eq!(
        out,
        [r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#]
    );

    let mut buffer = [0; 256];
    let mut ask = |client: &mut Client<'static, client::Growing>, method, params: &str, cookie| {
        let params = raw(params);
        let call = Call {
            params: Some(&params),
            cookie,
            ..Call::new(method)
        };
        assert!(client.call(NOW, &call, &mut buffer).is_ok());
    };
    ask(
        &mut client,
        Method::ToolsCall,
        r#"{"name":"calculate","arguments":{"expression":"2 + 3 * 4"}}"#,
        1,
    );
    ask(
        &mut client,
        Method::ToolsCall,
        r#"{"name":"nonexistent_tool"}"#,
        2,
    );
    ask(
        &mut client,
        Method::ResourcesRead,
        r#"{"uri":"server://nowhere"}"#,
        3,
    );
    let answers = [
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"14"}],"isError":false}}"#,
        r#"{"jsonrpc":"2.0","id":4,"error":{"code":-32002,"message":"Tool not found: nonexistent_tool"}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32001,"message":"Resource not found: server://nowhere"}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
        "a line for people, on the wrong stream",
    ];
    assert_eq!(
        hear(&answers, &mut client),
        [""; 0],
        "a client never answers such things"
    );
    assert_eq!(
        log,
        [
            "connected 2025-03-26",
            r#"1 = {"content":[{"type":"text","text":"14"}],"isError":false}"#,
            "2 ! -32002 Tool not found: nonexistent_tool",
            "3 ! -32001 Resource not found: server://nowhere",
            "unusable",
            "unusable",
        ]
    );
}
