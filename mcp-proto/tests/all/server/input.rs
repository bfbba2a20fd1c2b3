//! Bad input on a pipe: JR-32 and what stands beside it.

use mcp_proto::server::{Server, ServerConfig};
use mcp_proto::{Action, IgnoreReason, Inbox, Instant, Limits, Machine as _, Pipe, SendError};

use super::Talk;
use crate::script::server::{Small, config, error, request};

/// Exactly one answer, and the next message is served.
#[track_caller]
fn check(line: &[u8], code: i64, id: &str) {
    for version in ["", "2025-03-26", "2025-11-25"] {
        let mut talk = match version {
            "" => Talk::with(config()),
            version => Talk::open(config(), version, "{}"),
        };
        talk.bytes(line).bytes(b"\n");
        let lines = talk.heard();
        assert_eq!(lines.len(), 1, "{lines:?}");
        let id = if id.is_empty() {
            String::new()
        } else {
            format!(r#""id":{id},"#)
        };
        let start = format!(r#"{{"jsonrpc":"2.0",{id}"error":{{"code":{code},"#);
        assert!(lines[0].starts_with(&start), "{} {start}", lines[0]);
        talk.sees(&[]);
        talk.say(&request("99", "ping", ""))
            .hears(&[r#"{"jsonrpc":"2.0","id":99,"result":{}}"#]);
    }
}

#[test]
fn jr_32_no_json() {
    check(b"hello", -32700, "");
    check(b"{", -32700, "");
    check(br#"{"jsonrpc":"2.0","id":1,"method":"ping""#, -32700, "1");
    check(br#"{"jsonrpc":"2.0","id":1,"method":ping}"#, -32700, "1");
    check(
        br#"{"jsonrpc":"2.0","method":ping,"id":"a"}"#,
        -32700,
        "\"a\"",
    );
    check(
        b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}",
        -32700,
        "1",
    );
    check(b"\"\xed\xa0\x80\"", -32700, "");
    let deep = [b"[".repeat(200_000), b"]".repeat(200_000)].concat();
    let small = ServerConfig {
        limits: Limits {
            message: 1 << 14,
            ..Limits::default()
        },
        ..config()
    };
    let mut talk = Talk::with(small);
    talk.bytes(&deep).bytes(b"\n");
    assert_eq!(talk.heard().len(), 1);
    let nested = format!(
        r#"{{"jsonrpc":"2.0","id":4,"method":"x","params":{{"a":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    check(nested.as_bytes(), -32700, "4");
}

#[test]
fn jr_32_no_message() {
    check(b"1", -32600, "");
    check(b"null", -32600, "");
    check(b"\"x\"", -32600, "");
    check(b"{}", -32600, "");
    check(br#"{"jsonrpc":"2.0"}"#, -32600, "");
    check(br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600, "1");
    check(br#"{"id":1,"method":"ping"}"#, -32600, "1");
    check(br#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, -32600, "1");
    check(
        br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        -32600,
        "",
    );
    check(br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600, "");
    check(
        br#"{"jsonrpc":"2.0","id":1e400,"method":"ping"}"#,
        -32600,
        "",
    );
    check(
        br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
        -32600,
        "",
    );
    check(br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#, -32600, "");
    check(br#"{"jsonrpc":"2.0","id":1,"method":1}"#, -32600, "1");
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
        -32600,
        "1",
    );
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
        -32600,
        "1",
    );
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
        -32600,
        "1",
    );
    check(
        br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        -32600,
        "",
    );
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}"#,
        -32600,
        "1",
    );
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"params":{}}"#,
        -32600,
        "1",
    );
    check(
        br#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#,
        -32600,
        "1",
    );
}

/// Two spellings are one name, and what no text may hold is no JSON.
#[test]
fn jr_32_disguises() {
    check(
        br#"{"jsonrpc":"2.0","id":1,"i\u0064":2,"method":"ping"}"#,
        -32600,
        "",
    );
    check(
        br#"{"jsonrpc":"2.0","\u0069d":1,"method":"ping","\u006Dethod":"ping"}"#,
        -32600,
        "1",
    );
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","\u0072esult":{}}"#,
        -32600,
        "1",
    );
    let ping = request("1", "ping", "");
    check(format!("{ping}\0").as_bytes(), -32700, "1");
    check(format!(" \u{FEFF}{ping}").as_bytes(), -32700, "1");
    check(br#"{"jsonrpc":"2.0","id":1e400,"method":ping}"#, -32700, "");
    check(
        br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":1e400}}}"#,
        -32700,
        "1",
    );
    let mut talk = Talk::with(config());
    let huge = request(
        "1",
        "ping",
        r#""x":[1e400,-0,-0e-999999999999,"\ud83d","\udc00\ud83d"]"#,
    );
    talk.say(&huge)
        .hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
}

/// Depth alone, far below the limit of a line, with the id where the TypeScript SDK writes it.
#[test]
fn jr_32_depth() {
    let open = "[".repeat(200_000);
    let close = "]".repeat(200_000);
    let lines = [
        (format!("{open}{close}"), None),
        (open.clone(), None),
        (
            format!(r#"{{"jsonrpc":"2.0","method":"x","params":{{"a":{open}{close}}},"id":4}}"#),
            Some("4"),
        ),
    ];
    for (line, id) in lines {
        let mut room = vec![0; 1 << 20];
        let mut inbox = Inbox::new(room.as_mut_slice(), &Limits::default());
        inbox.spare_mut().unwrap()[..line.len()].copy_from_slice(line.as_bytes());
        inbox.filled(line.len());
        inbox.close();
        let mut server = Server::new(config(), Small::default()).unwrap();
        let incoming = inbox.next_message().unwrap();
        let mut out = [0; 256];
        let said = match server.handle(Instant::ZERO, &Pipe, incoming) {
            Action::Reply(reply) => server.reply(Instant::ZERO, reply, &mut out).unwrap(),
            other => panic!("{other:?}"),
        };
        let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
        let expected = format!(
            r#"{{"jsonrpc":"2.0",{id}"error":{{"code":-32700,"message":"message nests too deeply"}}}}"#
        );
        assert_eq!(String::from_utf8_lossy(&out[..said.len]), expected);
        assert!(inbox.next_message().is_none());
    }
}

/// JR-12, JR-32: never answered, however wrong.
#[test]
fn jr_32_silence() {
    for line in [
        r#"{"method":"x"}"#,
        r#"{"jsonrpc":"1.0","method":"x"}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":[]}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":1,"params":2}"#,
        r#"{"jsonrpc":"2.0","method":"x","params":"#,
        r#"{"jsonrpc":"2.0","id":1,"result":1,"error":2}"#,
        r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"m"}}"#,
        r#"{"jsonrpc":"2.0","error":{"code":1,"message":"m"}}"#,
    ] {
        let mut talk = Talk::open(config(), "2025-11-25", "{}");
        talk.say(line).hears(&[]).sees(&[]);
        talk.say(&request("99", "ping", ""))
            .hears(&[r#"{"jsonrpc":"2.0","id":99,"result":{}}"#]);
    }
}

/// ST-21: line endings, blank lines, and a line that is too long at constant memory.
#[test]
fn st_21_lines() {
    let mut talk = Talk::with(config());
    let pong = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    let ping = request("1", "ping", "");
    talk.bytes(format!("\u{FEFF}\r\n\n   \n\t\r\n{ping}\r\n{ping}\n").as_bytes())
        .hears(&[pong, pong]);
    let small = ServerConfig {
        limits: Limits {
            message: 300,
            ..Limits::default()
        },
        ..config()
    };
    let mut talk = Talk::with(small);
    let long = format!(
        r#"{{"jsonrpc":"2.0","method":"x","params":{{"a":"{}"}},"id":"late"}}"#,
        "y".repeat(100_000)
    );
    talk.say(&long)
        .hears(&[&error("\"late\"", -32700, "message exceeds the size limit")]);
    talk.say(&ping).hears(&[pong]);
}

/// Ids of every kind come back as they were: JR-07, JR-53.
#[test]
fn jr_07_ids_are_echoed() {
    for id in [
        "1",
        "\"1\"",
        "-7",
        "0",
        "9007199254740993",
        "123456789012345678901234567890",
        r#""\u0031""#,
        r#""\ud83d""#,
        r#""a\"b\\c\n""#,
        "\"é\"",
        "\"\"",
    ] {
        let mut talk = Talk::open(config(), "2025-11-25", "{}");
        talk.say(&request(id, "ping", ""))
            .hears(&[&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)]);
        talk.say(&request(id, "tools/list", ""));
        talk.answer(0, "{}")
            .hears(&[&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)]);
    }
}

/// An id that no slot keeps is refused, and echoed as long as that was reserved for.
#[test]
fn long_ids() {
    let longest = format!("\"{}\"", "i".repeat(64));
    let mut talk = Talk::with(config());
    talk.say(&request(&longest, "ping", "")).hears(&[&format!(
        r#"{{"jsonrpc":"2.0","id":{longest},"result":{{}}}}"#
    )]);
    let longer = format!("\"{}\"", "i".repeat(65));
    talk.say(&request(&longer, "ping", ""))
        .hears(&[&error(&longer, -32600, "id is too long")]);
    let endless = format!("\"{}\"", "i".repeat(2000));
    talk.say(&request(&endless, "ping", ""))
        .hears(&[r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"id is too long"}}"#]);
}

/// JR-05: an id in flight is refused; one that was answered is served.
#[test]
fn jr_05_ids_in_flight() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""))
        .sees(&["request 0 tools/list"]);
    for method in ["tools/list", "ping", "nonsense"] {
        talk.say(&request("1", method, ""))
            .hears(&[&error("1", -32600, "id is in use")])
            .sees(&[]);
    }
    talk.answer(0, "{}")
        .hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    talk.say(&request("1", "tools/list", ""))
        .sees(&["request 1 tools/list"]);
}

/// JR-52 and names that no application can take.
#[test]
fn parameters_that_the_protocol_reads() {
    #[track_caller]
    fn check(method: &str, params: &str, what: &str) {
        let mut talk = Talk::open(config(), "2025-11-25", "{}");
        talk.say(&request("1", method, params))
            .hears(&[&error("1", -32602, what)])
            .sees(&[]);
    }
    check("tools/call", "", "name is missing or malformed");
    check("tools/call", r#""name":1"#, "name is missing or malformed");
    check(
        "tools/call",
        r#""name":"\ud83d""#,
        "name is missing or malformed",
    );
    check(
        "tools/call",
        r#""name":"a","n\u0061me":"b""#,
        "name occurs twice",
    );
    check("prompts/get", "", "name is missing or malformed");
    check(
        "resources/read",
        r#""uri":null"#,
        "uri is missing or malformed",
    );
    check(
        "resources/read",
        r#""uri":"a","uri":"b""#,
        "uri occurs twice",
    );
    check(
        "tools/list",
        r#""cursor":1"#,
        "cursor is missing or malformed",
    );
    check(
        "tools/list",
        r#""cursor":"a","cursor":"a""#,
        "cursor occurs twice",
    );
    check(
        "tools/list",
        r#""_meta":[]"#,
        "_meta is missing or malformed",
    );
    check(
        "tools/list",
        r#""_meta":{},"_meta":{}"#,
        "_meta occurs twice",
    );
    // An opaque value need not be text, and an empty one is one (PN-04).
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", r#""cursor":"""#))
        .say(&request("2", "tools/list", r#""cursor":"\ud83d""#))
        .sees(&["request 0 tools/list ", "request 1 tools/list \u{FFFD}"]);
}

/// JR-51: where the schema has no error without an id.
#[test]
fn null_ids_by_switch() {
    for (version, switch, expected) in [
        ("2024-11-05", true, r#","id":null,"#),
        ("2024-11-05", false, ","),
        ("2025-03-26", true, ","),
    ] {
        let config = ServerConfig {
            null_ids: switch,
            ..config()
        };
        let mut talk = Talk::open(config, version, "{}");
        talk.say("7").hears(&[&format!(
            r#"{{"jsonrpc":"2.0"{expected}"error":{{"code":-32600,"message":"message is not an object"}}}}"#
        )]);
    }
}

/// An answer that no outbox could hold is an error, and the ping behind it is answered.
#[test]
fn an_answer_beyond_the_limit_of_output() {
    let small = ServerConfig {
        limits: Limits {
            output: 2048,
            ..Limits::default()
        },
        ..config()
    };
    let mut talk = Talk::open(small, "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""))
        .say(&request("2", "tools/list", ""));
    let large = |length| format!(r#"{{"x":"{}"}}"#, "y".repeat(length));
    talk.answer(0, &large(3000))
        .hears(&[&error("1", -32603, "limit reached: bytes of output")]);
    // The longest one that fits with its newline.
    let envelope = r#"{"jsonrpc":"2.0","id":2,"result":{"x":""}}"#.len();
    let longest = large(2047 - envelope);
    talk.answer(1, &longest)
        .hears(&[&format!(r#"{{"jsonrpc":"2.0","id":2,"result":{longest}}}"#)]);
    talk.say(&request("3", "ping", ""))
        .hears(&[r#"{"jsonrpc":"2.0","id":3,"result":{}}"#]);
    // What nobody waits for has no error to go in its place.
    let text = "y".repeat(3000);
    let told = talk.log(None, mcp_proto::model::LoggingLevel::Error, &text);
    assert!(matches!(told, Err(SendError::TooLarge { needed }) if needed > 3000));
}

/// Nothing is said any more.
#[test]
fn a_closed_server_is_silent() {
    let mut talk = Talk::with(config());
    mcp_proto::Machine::hang_up(&mut talk.machine);
    talk.drain().sees(&["closed"]);
    talk.say(&request("1", "ping", ""))
        .ignores(IgnoreReason::Closed);
}
