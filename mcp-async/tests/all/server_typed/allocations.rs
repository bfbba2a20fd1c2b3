//! What a call of a typed tool costs: one allocation, the job, if its handler is ready.

use allocation_counter::measure;
use mcp_async::Server;
use mcp_async::runtime::ManualRuntime;
use mcp_async::server::{Context, HandlerError, Json, Tool};
use mcp_proto::model::ClientFeatures;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::scripted::LinePeer;
use crate::server_typed::support::Offer;
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
