//! A hostile server and a good one.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

use mcp_async::client::Negotiation;
use mcp_async::runtime::{Duplex, ManualRuntime, RuntimeHandle, duplex};
use mcp_async::{Streams, in_memory};
use mcp_compose::{Host, ServerEntry};

use crate::support::{read, tools, write};

/// Answers the handshake, and then writes this, over and over, and reads nothing any more.
async fn flood(mut stream: Duplex, text: Arc<[u8]>, is_over: Arc<AtomicBool>) {
    let asked = read(&mut stream).await.unwrap();
    let id = asked.split("\"id\":").nth(1).unwrap();
    let id = &id[..id.find([',', '}']).unwrap()];
    let hello = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocolVersion\":\"2025-11-25\",\"capabilities\":\
         {{\"tools\":{{\"listChanged\":true}},\"logging\":{{}}}},\"serverInfo\":{{\"name\":\"bad\",\"version\":\"1\"}}}}}}\n"
    );
    assert!(write(&mut stream, hello.as_bytes()).await);
    while !is_over.load(Ordering::SeqCst) && write(&mut stream, &text).await {}
}

/// Calls a tool of the good server so often while the other writes this, and returns the most bytes that were
/// allocated at once.
fn most_allocated_with(text: &str, calls: usize) -> u64 {
    let text = Arc::<[u8]>::from(text.as_bytes());
    let manual = ManualRuntime::default();
    let runtime = RuntimeHandle::from(manual.clone());
    let (is_over, has_succeeded) = (Arc::<AtomicBool>::default(), Arc::<AtomicBool>::default());
    let server = tools(&["x"]).build().unwrap();
    let (good, bad, over) = (runtime.clone(), runtime.clone(), Arc::clone(&is_over));
    let host = Host::builder("desk", "1.0")
        .entry(ServerEntry::connector("bad", move || {
            let (ours, theirs) = duplex(64 << 10);
            bad.spawn(Box::pin(flood(
                theirs,
                Arc::clone(&text),
                Arc::clone(&over),
            )));
            Streams::new(bad.clone(), ours.split())
        }))
        .entry(ServerEntry::connector("good", move || {
            in_memory(good.clone(), &server)
        }))
        .on_log(|_, _| {})
        .client(|server, client| match server {
            "bad" => client.negotiation(Negotiation::Handshake),
            _ => client,
        })
        .start(runtime.clone());
    let (over, succeeded) = (Arc::clone(&is_over), Arc::clone(&has_succeeded));
    let script = async move {
        // It is not read.
        let _states = host.state_changes();
        let mut changes = host.changes();
        while host.view().tools().get("good__x").is_none() {
            changes.next().await;
        }
        for _ in 0..calls {
            assert_eq!(host.call_tool("good__x", &()).await.unwrap().text(), "x");
        }
        succeeded.store(true, Ordering::SeqCst);
        over.store(true, Ordering::SeqCst);
        drop(host);
    };
    let allocated = allocation_counter::measure(|| {
        runtime.spawn(Box::pin(script));
        // It returns when nothing is written any more.
        manual.run();
    });
    assert!(has_succeeded.load(Ordering::SeqCst));
    allocated.bytes_max
}

#[test]
fn the_good_one_answers_in_bounded_memory() {
    let check = |text: &str, megabytes: u64| {
        let most = most_allocated_with(text, 300);
        let shown = text.get(..80).unwrap_or(text);
        assert!(most < megabytes << 20, "{} KiB: {shown}", most >> 10);
    };
    let notification = |method: &str, params: &str| {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/{method}\",\"params\":{params}}}\n"
        )
    };
    check(&notification("tools/list_changed", "{}"), 4);
    check(
        &notification(
            "message",
            "{\"level\":\"info\",\"data\":\"xxxxxxxxxxxxxxxxxxxxxxx\"}",
        ),
        4,
    );
    check(
        &notification("progress", "{\"progressToken\":1,\"progress\":1}"),
        4,
    );
    let answers: String = (0..100)
        .map(|id| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n"))
        .collect();
    check(&answers, 4);
    // Its answers wait to be read: up to twice the limit of the output, 32 MiB.
    check(
        &"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".repeat(100),
        68,
    );
    check("no JSON\n\n[[[[[[\n", 4);
}

/// A line may have 16 MiB: of a longer one no more is kept, in storage that doubles as it grows.
#[test]
fn a_line_of_64_megabytes_is_skipped() {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"x\":\"{}\"}}}}\n",
        "x".repeat(64 << 20)
    );
    let most = most_allocated_with(&line, 200);
    assert!(most < 56 << 20, "{} KiB", most >> 10);
}
