//! What a call costs: one allocation for a handler that is ready, none for the caller.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll, Waker};

use allocation_counter::measure;
use mcp_async::{ErrorReply, client, server};
use mcp_proto::client::ClientConfig;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::Method;
use mcp_proto::{Revision, RevisionSet};
use serde::{Deserialize, Serialize};

use crate::connection::support::{Wire, call};
use crate::scripted::LinePeer;
use crate::scripted::line_server::opening;
use crate::settings::with_tools;
use crate::sim::{Sim, settle, spawn};
use crate::texts::has;

#[derive(Debug, Deserialize, Serialize)]
struct Sum {
    sum: u64,
}

#[test]
fn a_ready_handler_costs_one_allocation() {
    a_ready_handler_costs_one_allocation_for("{}");
    // It could ask, but does not.
    a_ready_handler_costs_one_allocation_for(r#"{"elicitation":{},"sampling":{},"roots":{}}"#);
}

fn a_ready_handler_costs_one_allocation_for(capabilities: &str) {
    let (mut lines, streams) = LinePeer::pair(64 << 10);
    let config = with_tools();
    let service = server::service_fn(|call| {
        let arguments = call.params.get("arguments").and_then(|raw| raw.object());
        let id = arguments
            .and_then(|o| o.get("id")?.number()?.to_u64())
            .unwrap_or_default();
        let cx = call.context().clone();
        call.answer(async move {
            // Nobody asked for progress, so this costs nothing.
            cx.progress(0.5).await;
            Ok::<_, ErrorReply>(Sum { sum: id + 1 })
        })
    });
    let service: server::BoxService = Box::new(service);
    let (connection, _peer) = server::connect(streams, Sim, config, service);
    spawn(async { connection.await.unwrap() });

    let modern = format!(
        r#","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",
        "io.modelcontextprotocol/clientCapabilities":{capabilities}}}"#
    )
    .replace('\n', "");
    let calls: Vec<_> = (0..64).map(|id| call(id, "add", &modern) + "\n").collect();
    let mut out = vec![0; 64 << 10];
    let mut round = |calls: &[String]| {
        let mut answers = 0;
        for line in calls {
            assert_eq!(lines.write_some(line.as_bytes()), line.len());
            settle();
            let count = lines.read_some(&mut out);
            answers += out[..count].iter().filter(|byte| **byte == b'\n').count();
        }
        assert_eq!(answers, calls.len());
    };
    round(&calls);
    let measured = measure(|| round(&calls));
    assert_eq!(measured.count_total, 64, "{measured:?}");

    // The same in one piece: 64 calls at once.
    let all = [calls.concat()];
    let mut round = || {
        assert_eq!(lines.write_some(all[0].as_bytes()), all[0].len());
        settle();
        lines.read_some(&mut out)
    };
    // The buffers grow with a sender that is faster, and then stay.
    for _ in 0..8 {
        assert!(round() > 0);
    }
    let measured = measure(|| assert!(round() > 0));
    assert_eq!(measured.count_total, 64, "{measured:?}");
}

/// A client of 2025-11-25 and its server.
fn opened(capacity: usize) -> (client::Peer, LinePeer) {
    let (mut lines, streams) = LinePeer::pair(capacity);
    let config = ClientConfig {
        revisions: RevisionSet::legacy(),
        ..ClientConfig::new("test", "0")
    };
    let (connection, client) = client::connect(streams, Sim, config, ());
    spawn(async { connection.await.unwrap() });
    assert!(!lines.read().is_empty());
    lines.answer(1, &opening(Revision::V2025_11_25, r#"{"tools":{}}"#));
    assert!(!lines.read().is_empty());
    (client, lines)
}

#[test]
fn a_call_costs_its_caller_no_allocation() {
    let (client, mut lines) = opened(64 << 10);
    let mut out = vec![0; 64 << 10];

    let answers: Vec<_> = (2..130)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"sum\":{id}}}}}\n"))
        .collect();
    let cx = &mut Context::from_waker(Waker::noop());
    let params = Sum { sum: 1 };
    let mut round = |answers: &[String]| {
        for answer in answers {
            let mut call = pin!(client.call::<Sum>(Method::ToolsCall, Some(&params)));
            assert!(call.as_mut().poll(cx).is_pending());
            settle();
            assert!(lines.read_some(&mut out) > 0);
            assert_eq!(lines.write_some(answer.as_bytes()), answer.len());
            settle();
            assert!(matches!(
                call.as_mut().poll(cx),
                Poll::Ready(Ok(Sum { sum: 2.. }))
            ));
        }
    };
    let (warm, measured) = answers.split_at(64);
    round(warm);
    let measured = measure(|| round(measured));
    assert_eq!(measured.count_total, 0, "{measured:?}");
}

/// Frames from 64 KiB on change hands: what a handler keeps of one is not copied, and the inbox
/// goes on with new storage. Smaller ones are copied once, and what nobody keeps costs nothing.
#[test]
fn a_large_frame_changes_hands() {
    #[track_caller]
    fn check(size: usize, keeps: bool, expected: core::ops::RangeInclusive<u64>) {
        let service = server::service_fn(move |call| {
            let arguments = call.params.get("arguments").unwrap_or_default();
            let kept = keeps.then(|| call.keep(arguments));
            let size = arguments.as_bytes().len();
            call.answer(async move {
                let size = kept.map_or(size, |kept| kept.as_raw().as_bytes().len());
                Ok(Sum {
                    sum: u64::try_from(size).unwrap_or_default(),
                })
            })
        });
        let config = with_tools();
        let mut wire = Wire::serving(config, service, 4 << 20, usize::MAX).legacy();
        let text = format!("{{\"text\":\"{}\"}}", "x".repeat(size));
        let line = call(1, "x", "").replace("{\"id\":1}", &text) + "\n";
        for _ in 0..3 {
            // The first one makes the inbox as large as it has to be.
            assert_eq!(wire.write_some(line.as_bytes()), line.len());
            settle();
            has(&wire.read(), [&format!("\"sum\":{}", text.len())]);
        }
        assert_eq!(wire.write_some(line.as_bytes()), line.len());
        let measured = measure(|| _ = settle());
        assert!(
            expected.contains(&measured.bytes_total),
            "{size}: {measured:?}"
        );
        assert!(!wire.read().is_empty());
    }
    const SMALL: u64 = 1024;
    const MIB: u64 = 1 << 20;
    // No copy, and the storage of the inbox anew, which is at most twice the frame.
    check(1 << 20, true, MIB..=2 * MIB + SMALL);
    check(1 << 20, false, 0..=SMALL);
    // One copy.
    check(32 << 10, true, 32 << 10..=(32 << 10) + SMALL);
    check(32 << 10, false, 0..=SMALL);
}

/// The same on a client's side: a whole result is the storage that it was read into.
#[test]
fn a_large_result_changes_hands() {
    let (client, mut lines) = opened(4 << 20);
    let mut out = vec![0; 64 << 10];

    let text = "x".repeat(1 << 20);
    let cx = &mut Context::from_waker(Waker::noop());
    let mut kept = Vec::new();
    for id in 2..6 {
        let mut call = pin!(client.call::<RawBuf>(Method::ToolsList, None).whole());
        assert!(call.as_mut().poll(cx).is_pending());
        settle();
        assert!(lines.read_some(&mut out) > 0);
        let answer =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"t\":\"{text}\"}}}}\n");
        assert_eq!(lines.write_some(answer.as_bytes()), answer.len());
        let measured = measure(|| {
            settle();
            match call.as_mut().poll(cx) {
                Poll::Ready(result) => kept.push(result.unwrap()),
                Poll::Pending => panic!("it has arrived"),
            }
        });
        // The first one makes the inbox as large as it has to be.
        assert!(
            id == 2 || measured.bytes_total <= (2 << 20) + 1024,
            "{measured:?}"
        );
    }
    for result in &kept {
        assert!(result.is_shared());
        assert_eq!(result.as_raw().as_bytes().len(), text.len() + 8);
    }
}
