//! The fixture as client of the fixture as server, on both runtimes, in every revision asked for.

use std::process::{Command, Output, Stdio};

const FIXTURE: &str = env!("CARGO_BIN_EXE_fixture");

fn client(runtime: &str, revision: Option<&str>, server: &[&str]) -> Output {
    let mut command = Command::new(FIXTURE);
    command.args(["--runtime", runtime, "client", "stdio", "--"]);
    command.args(server).env_remove("MCP_REV");
    command.env("MCP_OP_TIMEOUT_MS", "30000");
    if let Some(revision) = revision {
        command.env("MCP_REV", revision);
    }
    command.stdin(Stdio::null()).stderr(Stdio::inherit());
    command.output().expect("the fixture runs")
}

fn lines(output: &Output) -> Vec<String> {
    let text = String::from_utf8(output.stdout.clone()).expect("it writes UTF-8");
    text.lines().map(String::from).collect()
}

#[test]
fn the_script_runs_through() {
    for runtime in ["tokio", "smol"] {
        for server in ["tokio", "smol"] {
            for revision in [None, Some("auto"), Some("2025-11-25"), Some("2026-07-28")] {
                let output = client(runtime, revision, &[FIXTURE, "--runtime", server, "stdio"]);
                let case = format!("{runtime} to {server}, {revision:?}");
                let expected = [
                    r#"{"op":"connect","ok":true}"#,
                    r#"{"op":"list","ok":true,"tools":["big","echo","inflight","progress","region","sleep"]}"#,
                    r#"{"op":"call","n":1,"ok":true,"text":"ping-1"}"#,
                    r#"{"op":"call","n":2,"ok":true,"text":"ping-2"}"#,
                    r#"{"op":"call","n":3,"ok":true,"text":"ping-3"}"#,
                    r#"{"op":"close","ok":true}"#,
                ];
                assert_eq!(lines(&output), expected, "{case}");
                assert!(output.status.success(), "{case}");
            }
        }
    }
}

/// Every step is told and the status is 1, whatever the reason for not connecting.
#[test]
fn nobody_there() {
    for runtime in ["tokio", "smol"] {
        for server in [["/no/such/program"].as_slice(), &[FIXTURE, "limits"]] {
            let output = client(runtime, None, server);
            let lines = lines(&output);
            assert_eq!(output.status.code(), Some(1), "{runtime} {server:?}");
            assert_eq!(lines.len(), 6, "{runtime} {server:?}");
            assert!(lines[0].starts_with(r#"{"op":"connect","ok":false,"error":""#));
            for line in &lines[1..] {
                assert!(
                    line.contains(r#""ok":false"#) && line.contains(r#""error":""#),
                    "{line}"
                );
            }
        }
    }
}

/// The tools that drivers measure: written by hand, answered in order of their ends.
#[test]
fn tools() {
    use std::io::{BufRead as _, BufReader, Write as _};

    for runtime in ["tokio", "smol"] {
        let mut server = Command::new(FIXTURE)
            .args(["--runtime", runtime, "stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the fixture runs");
        let mut input = server.stdin.take().unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap()).lines();
        let mut send = |line: &str| writeln!(input, "{line}").unwrap();
        let mut next = || output.next().unwrap().unwrap();
        let call = |id: u8, name: &str, arguments: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments},"_meta":{{"progressToken":"p{id}"}}}}}}"#
            )
        };
        send(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#,
        );
        assert!(next().contains(r#""protocolVersion":"2025-11-25""#));
        send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);

        send(&call(1, "progress", r#"{"steps":3,"ms":1}"#));
        for step in 1..=3 {
            let told = next();
            let expected = format!(r#""progressToken":"p1","progress":{step},"total":3"#);
            assert!(told.contains(&expected), "{told}");
        }
        assert!(next().contains(r#""text":"done""#));

        send(&call(2, "sleep", r#"{"ms":3600000}"#));
        send(&call(3, "inflight", "{}"));
        assert!(next().contains(r#""text":"1""#));
        send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#);
        send(&call(4, "inflight", "{}"));
        assert!(next().contains(r#""text":"0""#));

        send(&call(5, "sleep", r#"{"ms":1}"#));
        assert!(next().contains(r#""text":"slept""#));
        send(&call(6, "region", r#"{"region":"eu","q":"x"}"#));
        assert!(next().contains(r#""text":"eu:x""#));
        send(&call(7, "big", r#"{"n":100000}"#));
        assert!(next().contains(&format!(r#""text":"{}""#, "x".repeat(100_000))));
        send(r#"{"jsonrpc":"2.0","id":8,"method":"tools/list"}"#);
        let listed = next();
        assert!(listed.contains(r#""x-mcp-header":"Region""#), "{listed}");

        drop(input);
        assert!(server.wait().unwrap().success());
    }
}
