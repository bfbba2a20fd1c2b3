//! What a call of a typed tool costs: one allocation, the job, if its handler is ready.

use core::time::Duration;

use allocation_counter::measure;
use mcp_async::Server;
use mcp_async::runtime::ManualRuntime;
use mcp_async::server::{Context, HandlerError, Json, Tool};
use mcp_proto::model::ClientFeatures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scripted::LinePeer;
use crate::server_typed::support::Offer;
use crate::sim::{Sim, advance, settle, spawn};
use crate::texts::has;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: f64,
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: f64,
}

#[test]
fn a_ready_tool_costs_one_allocation() {
    let server = Server::builder("demo", "1")
        .tool("add", "Adds", |args: Add, _: Context| async move {
            Ok(Json(Sum {
                sum: args.a + args.b,
            }))
        })
        .tool("greet", "Greets", |(): (), _: Context| async {
            Ok("hello")
        })
        .tool("odd", "Is never content", |_: Add, _: Context| async {
            Err::<(), _>(HandlerError::visible("that is odd"))
        })
        .with(
            Tool::new("wary")
                .requires(ClientFeatures::ROOTS)
                .handler(|(): (), _| async { Ok(()) }),
        );
    let counted = [
        count(&server, "greet", "{}", r#""text":"hello""#),
        count(&server, "add", r#"{"a":1,"b":2}"#, r#"{"sum":3}"#),
        count(&server, "odd", r#"{"a":1,"b":2}"#, r#""isError":true"#),
        count(&server, "wary", "{}", r#""resultType":"complete""#),
    ];
    // A result is checked by its schema as it is written; the decoder of `simd-json` works on a copy and makes an index.
    let expected = [1, 2, 1, 1];
    let decoder = [0, 7, 7, 0];
    assert_eq!(
        counted,
        core::array::from_fn(|tool| expected[tool] + decoder[tool])
    );
}

/// Calls the tool until nothing grows any more, and counts the allocations of each call then.
fn count(server: &impl Offer, tool: &str, arguments: &str, answer: &str) -> u64 {
    let (lines, streams) = LinePeer::pair(64 << 10);
    let (connection, _peer) = server.server().connect(streams, ManualRuntime::default());
    let mut peer = lines.polling(connection);
    let mut out = vec![0; 64 << 10];
    let lines: Vec<String> = (0..64)
        .map(|id| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"roots":{{}}}}}}}}}}{}"#,
                "\n"
            )
        })
        .collect();
    let mut round = || {
        for line in &lines {
            assert_eq!(peer.write_some(line.as_bytes()), line.len());
            assert!(!peer.has_ended());
            let count = peer.read_some(&mut out);
            has(core::str::from_utf8(&out[..count]).unwrap(), [answer]);
        }
    };
    round();
    let measured = measure(&mut round);
    assert_eq!(measured.count_total % 64, 0, "{tool}: {measured:?}");
    measured.count_total / 64
}

#[derive(Deserialize, JsonSchema)]
struct Said {
    text: String,
}

/// The buffers of a large message serve the next one, and are given back when none comes for a second.
#[test]
fn large_messages_take_turns_in_the_same_buffers() {
    let echo = |said: Said, _: Context| async move { Ok(said.text) };
    let server = Server::builder("demo", "1").tool("echo", "Says it again", echo);
    let (mut lines, streams) = LinePeer::pair(1 << 20);
    let (connection, _peer) = server.server().connect(streams, Sim);
    spawn(async { connection.await.unwrap() });
    let call = |text: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"text":"{text}"}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}{}"#,
            "\n"
        )
    };
    let (large, small) = (call(&"x".repeat(LARGE)), call("x"));
    let mut out = vec![0; 1 << 20];
    let mut echo = |line: &str| {
        let (mut sent, mut answered) = (0, false);
        while !answered {
            sent += lines.write_some(&line.as_bytes()[sent..]);
            settle();
            let count = lines.read_some(&mut out);
            answered = out[..count].ends_with(b"\n");
        }
    };
    (0..3).for_each(|_| echo(&large));
    let measured = measure(|| echo(&large));
    // The text as it was decoded, and what the decoder of `simd-json` needs. A buffer of the output would be one more.
    assert!(measured.bytes_total < 5 * LARGE as u64, "{measured:?}");
    let idle = measure(|| advance(Duration::from_secs(1)));
    assert!(idle.bytes_current < -(LARGE as i64), "{idle:?}");
    // Small messages do not keep them.
    echo(&large);
    let busy = measure(|| {
        for _ in 0..20 {
            advance(Duration::from_millis(100));
            echo(&small);
        }
    });
    assert!(busy.bytes_current < -(LARGE as i64), "{busy:?}");
}

const LARGE: usize = 4 << 20;
