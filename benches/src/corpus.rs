//! The work on an input of a fuzz corpus, which may be broken in any way.

use std::hint::black_box;
use std::path::Path;

use mcp_proto::frame::sse::Events;
use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::rpc::Message;
use mcp_proto::{Inbox, Limits};

/// Reads the file of this path below the corpora, and works on it so often, as the fuzz target does. Returns false if there is no such work.
///
/// # Panics
///
/// Panics if the file cannot be read.
pub fn repeat(path: &str, times: u32) -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/corpus");
    let read = || std::fs::read(folder.join(path)).expect("an input of a corpus");
    match path.split_once('/') {
        Some(("json_scan", _)) => values(&read(), times),
        Some(("rpc_message", _)) => messages(&read(), times),
        // The first byte of a stream says how the fuzz target cuts it.
        Some(("line_framing", _)) => lines(read().get(1..).unwrap_or_default(), times),
        Some(("event_stream", _)) => events(read().get(1..).unwrap_or_default(), times),
        _ => return false,
    }
    true
}

fn values(text: &[u8], times: u32) {
    for _ in 0..times {
        let _ = black_box(Raw::parse(black_box(text), MAX_DEPTH));
    }
}

fn messages(text: &[u8], times: u32) {
    for _ in 0..times {
        black_box(Message::parse(black_box(text), MAX_DEPTH));
    }
}

fn lines(stream: &[u8], times: u32) {
    let stream = [stream, b"\n"].concat();
    let mut inbox = Inbox::new(vec![0; 1024], &limits());
    for _ in 0..times {
        let mut rest = &stream[..];
        while !rest.is_empty() {
            if let Some(spare) = inbox.spare_mut() {
                let (now, later) = rest.split_at(rest.len().min(spare.len()));
                spare[..now.len()].copy_from_slice(now);
                inbox.filled(now.len());
                rest = later;
            }
            while let Some(incoming) = inbox.next_message() {
                black_box(incoming);
            }
        }
    }
}

fn events(stream: &[u8], times: u32) {
    let stream = [stream, b"\n\n"].concat();
    let fields = [Vec::new(), Vec::new(), Vec::new()];
    let mut events = Events::new(vec![0; 1024], fields, &limits());
    for _ in 0..times {
        let mut rest = &stream[..];
        while !rest.is_empty() {
            if let Some(spare) = events.spare_mut() {
                let (now, later) = rest.split_at(rest.len().min(spare.len()));
                spare[..now.len()].copy_from_slice(now);
                events.filled(now.len());
                rest = later;
            }
            while let Some(piece) = events.next_event() {
                black_box(piece);
            }
        }
    }
}

/// The limits of the fuzz targets, which some inputs exceed.
fn limits() -> Limits {
    Limits {
        message: 96,
        ..Limits::default()
    }
}
