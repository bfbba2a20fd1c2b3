//! A newline stream that arrives in pieces: the inbox beside a splitter that only looks for newlines.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::inputs;
use mcp_benches::lines::{LinePeer, McpProto, Splitter};

/// Messages of a stream: enough that a chunk of any size is a small part of it.
const MESSAGES: usize = 3_000;

fn stream(criterion: &mut Criterion) {
    let bytes = inputs::stream(MESSAGES);
    let mut group = criterion.benchmark_group("newline stream");
    group.throughput(Throughput::Elements(MESSAGES as u64));
    for chunk in [1, 16, 256, 4096, 65_536] {
        read::<McpProto>(&mut group, &bytes, chunk);
        read::<Splitter>(&mut group, &bytes, chunk);
    }
    group.finish();
}

fn read<P: LinePeer>(group: &mut BenchmarkGroup<'_, WallTime>, bytes: &[u8], chunk: usize) {
    let mut peer = P::default();
    group.bench_function(format!("{}, chunks of {chunk} B", P::NAME), |bencher| {
        bencher.iter(|| assert_eq!(peer.read(black_box(bytes), chunk), MESSAGES));
    });
}

criterion_group!(benches, stream);
criterion_main!(benches);
