//! The fixture as client of the fixture as server over HTTP, on both runtimes, in every revision asked for.

#[path = "support/server.rs"]
mod server;

use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

use server::{FIXTURE, Server};

fn client(runtime: &str, revision: Option<&str>, port: u16) -> Output {
    let url = format!("http://127.0.0.1:{port}/mcp");
    let mut command = Command::new(FIXTURE);
    command.args(["--runtime", runtime, "client", "http", &url]);
    command
        .env_remove("MCP_REV")
        .env("MCP_OP_TIMEOUT_MS", "30000");
    if let Some(revision) = revision {
        command.env("MCP_REV", revision);
    }
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    command.output().expect("the fixture runs")
}

#[test]
fn the_script_runs_through() {
    for runtime in ["tokio", "smol"] {
        for serving in ["tokio", "smol"] {
            let server = Server::start(serving, &["http"], &[], &[]);
            for revision in [None, Some("auto"), Some("2025-11-25"), Some("2026-07-28")] {
                let output = client(runtime, revision, server.port);
                let case = format!("{runtime} to {serving}, {revision:?}");
                let expected = [
                    r#"{"op":"connect","ok":true}"#,
                    r#"{"op":"list","ok":true,"tools":["big","echo","inflight","progress","region","sleep"]}"#,
                    r#"{"op":"call","n":1,"ok":true,"text":"ping-1"}"#,
                    r#"{"op":"call","n":2,"ok":true,"text":"ping-2"}"#,
                    r#"{"op":"call","n":3,"ok":true,"text":"ping-3"}"#,
                    r#"{"op":"close","ok":true}"#,
                ];
                let text = String::from_utf8(output.stdout).expect("it writes UTF-8");
                assert_eq!(Vec::from_iter(text.lines()), expected, "{case}");
                assert!(output.status.success(), "{case}");
            }
        }
    }
}

/// Every step is told and the status is 1 where nobody listens.
#[test]
fn nobody_there() {
    let port = {
        let free = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        free.local_addr().unwrap().port()
    };
    for runtime in ["tokio", "smol"] {
        let output = client(runtime, None, port);
        let text = String::from_utf8(output.stdout).expect("it writes UTF-8");
        assert_eq!(output.status.code(), Some(1), "{runtime}");
        assert_eq!(text.lines().count(), 6, "{runtime}: {text}");
        assert!(
            text.starts_with(r#"{"op":"connect","ok":false,"error":""#),
            "{text}"
        );
    }
}

/// Loopback hosts and origins with any port are served, and no others; so is no other path.
#[test]
fn who_is_served() {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"region","arguments":{"region":"eu","q":"x"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    for runtime in ["tokio", "smol"] {
        let server = Server::start(runtime, &["http"], &[], &[]);
        let check = |path: &str, fields: &str, status: &str, holds: &str| {
            let head = format!(
                "POST {path} HTTP/1.1\r\n{fields}\r\naccept: application/json, text/event-stream\r\n\
                 content-type: application/json\r\nmcp-protocol-version: 2026-07-28\r\n\
                 mcp-method: tools/call\r\nmcp-name: region\r\nmcp-param-region: eu"
            );
            let answer = server.send(&head, body);
            let case = format!("{runtime} {path} {fields}: {answer}");
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{case}");
            assert!(answer.contains(holds), "{case}");
        };
        let port = server.port;
        check("/mcp", &format!("host: 127.0.0.1:{port}"), "200", "eu:x");
        check("/mcp", &format!("host: localhost:{port}"), "200", "eu:x");
        let from = |origin: &str| format!("host: 127.0.0.1:{port}\r\norigin: {origin}");
        check("/mcp", &from("http://localhost:6274"), "200", "eu:x");
        check("/mcp", &from("http://127.0.0.1:1"), "200", "eu:x");
        check("/mcp", &from("https://example.com"), "403", "");
        check("/mcp", "host: example.com", "403", "");
        check("/other", &format!("host: 127.0.0.1:{port}"), "404", "");
    }
}
