//! A newline stream that arrives in pieces: the inbox beside a splitter that only looks for newlines.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::inputs;
use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::{Inbox, Limits};

/// Messages of a stream: enough that a chunk of any size is a small part of it.
const MESSAGES: usize = 3_000;

fn stream(criterion: &mut Criterion) {
    let bytes = inputs::stream(MESSAGES);
    let mut group = criterion.benchmark_group("newline stream");
    group.throughput(Throughput::Elements(MESSAGES as u64));
    for chunk in [1, 16, 256, 4096, 65_536] {
        let mut inbox = Inbox::new(vec![0; 65_536], &Limits::default());
        group.bench_function(format!("mcp-proto, chunks of {chunk} B"), |bencher| {
            bencher.iter(|| assert_eq!(read(&mut inbox, black_box(&bytes), chunk), MESSAGES));
        });
        let mut splitter = Splitter::default();
        group.bench_function(format!("bare splitter, chunks of {chunk} B"), |bencher| {
            bencher.iter(|| assert_eq!(splitter.read(black_box(&bytes), chunk), MESSAGES));
        });
    }
    group.finish();
}

/// Feeds the bytes and counts the messages, each validated and classified.
fn read(inbox: &mut Inbox<Vec<u8>>, bytes: &[u8], chunk: usize) -> usize {
    let mut count = 0;
    for mut piece in bytes.chunks(chunk) {
        while !piece.is_empty() {
            if let Some(spare) = inbox.spare_mut() {
                let len = piece.len().min(spare.len());
                spare[..len].copy_from_slice(&piece[..len]);
                inbox.filled(len);
                piece = &piece[len..];
            }
            while let Some(incoming) = inbox.next_message() {
                match black_box(incoming) {
                    Incoming::Message(Message::Invalid(invalid)) => panic!("{invalid:?}"),
                    _ => count += 1,
                }
            }
        }
    }
    count
}

/// The least that framing costs: no limit, no validation, but the position is remembered.
#[derive(Default)]
struct Splitter {
    held: Vec<u8>,
}

impl Splitter {
    fn read(&mut self, bytes: &[u8], chunk: usize) -> usize {
        let mut count = 0;
        for piece in bytes.chunks(chunk) {
            let mut searched = self.held.len();
            self.held.extend_from_slice(piece);
            let mut start = 0;
            while let Some(at) = memchr::memchr(b'\n', &self.held[searched..]) {
                let end = searched + at;
                black_box(&self.held[start..end]);
                count += 1;
                start = end + 1;
                searched = start;
            }
            self.held.drain(..start);
        }
        count
    }
}

criterion_group!(benches, stream);
criterion_main!(benches);
