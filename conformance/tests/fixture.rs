//! The fixture as a driver sees it: a child process, bytes in, lines out.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Runs `fixture` with these arguments and this input; gives its output if it ended well.
fn fixture(arguments: &[&str], input: &[u8]) -> Option<String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixture"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let feeder = std::thread::spawn(move || stdin.write_all(&input).ok());
    let output = child.wait_with_output().unwrap();
    feeder.join().unwrap();
    output
        .status
        .success()
        .then(|| String::from_utf8(output.stdout).unwrap())
}

fn record(chunks: &[&[u8]]) -> Vec<u8> {
    let mut bytes = u32::try_from(chunks.len()).unwrap().to_be_bytes().to_vec();
    for chunk in chunks {
        bytes.extend_from_slice(&u32::try_from(chunk.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(chunk);
    }
    bytes
}

/// Every case whole, then byte by byte, in one process; each must give the same line.
fn check(codec: &str, cases: &[(&[u8], &str)]) {
    let mut input = Vec::new();
    let mut expected = String::new();
    for (bytes, line) in cases {
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        for chunks in [&[*bytes][..], &single] {
            input.extend(record(chunks));
            expected.push_str(line);
            expected.push('\n');
        }
    }
    assert_eq!(fixture(&["codec", codec], &input).unwrap(), expected);
}

#[test]
fn json() {
    let deep = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
    check(
        "json",
        &[
            (b"{\"a\": [1, 1e400, \"\\n\"]}", "{\"ok\": true}"),
            (b" null\r\n", "{\"ok\": true}"),
            (br#""\ud83d""#, "{\"ok\": true}"),
            (b"", "{\"ok\": false}"),
            (b"{} {}", "{\"ok\": false}"),
            (b"\xef\xbb\xbf{}", "{\"ok\": false}"),
            (b"\"\xff\"", "{\"ok\": false}"),
            (b"01", "{\"ok\": false}"),
            (&deep(128), "{\"ok\": true}"),
            (&deep(129), "{\"ok\": false}"),
        ],
    );
}

#[test]
fn lines() {
    check(
        "line",
        &[
            (b"", r#"{"msgs": []}"#),
            (b"\n \r\n", r#"{"msgs": []}"#),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":9007199254740993,\"method\":\"ping\"}\r\n",
                r#"{"msgs": [{"kind": "request", "id": 9007199254740993, "method": "ping"}]}"#,
            ),
            (
                b"\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"method\":\"a/\\u0062\"}",
                r#"{"msgs": [{"kind": "notification", "method": "a/\u0062"}]}"#,
            ),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{}}\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}\n",
                r#"{"msgs": [{"kind": "result", "id": "1"}, {"kind": "error", "id": 1}]}"#,
            ),
            (
                b"[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},1]\n[]\n[1\n",
                r#"{"msgs": [{"kind": "batch"}, {"kind": "invalid"}, {"kind": "bad"}]}"#,
            ),
            (
                b"{\"jsonrpc\":\"1.0\",\"id\":5,\"method\":\"a\"}\n{\"jsonrpc\":\"2.0\",\"id\":5,\"id\":5,\"method\":\"a\"}\n7\n",
                r#"{"msgs": [{"kind": "invalid", "id": 5}, {"kind": "invalid"}, {"kind": "invalid"}]}"#,
            ),
            (
                b"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"\xff\"}\nnope\n",
                r#"{"msgs": [{"kind": "bad"}, {"kind": "bad"}]}"#,
            ),
        ],
    );
}

#[test]
fn events() {
    check(
        "sse",
        &[
            (b"", r#"{"events": [], "retry": null}"#),
            (
                b"\xef\xbb\xbfid: 7\r\nevent: x\rdata: {\"a\":\ndata: 1}\n\nretry: 30\ndata: \xff\n\ndata: cut\n",
                "{\"events\": [{\"event\": \"x\", \"data\": \"{\\\"a\\\":\\n1}\", \"id\": \"7\"}, \
                 {\"event\": \"message\", \"data\": \"\u{fffd}\", \"id\": \"7\"}], \"retry\": 30}",
            ),
        ],
    );
}

#[test]
fn cut_input() {
    assert_eq!(fixture(&["codec", "json"], b"\0\0\0\x01\0\0"), None);
    assert_eq!(fixture(&["codec", "json"], b"").as_deref(), Some(""));
}

#[test]
fn limits() {
    let line = fixture(&["limits"], b"").unwrap();
    for member in [
        "\"max_message\": 16777216",
        "\"max_body\": 4194304",
        "\"max_depth\": 128",
        "\"max_in_flight\": 1024",
    ] {
        assert!(line.contains(member), "{member} is not in {line}");
    }
    assert_eq!(line.lines().count(), 1);
}

#[test]
fn other_commands() {
    assert_eq!(fixture(&[], b""), None);
    assert_eq!(fixture(&["codec", "yaml"], b""), None);
}
