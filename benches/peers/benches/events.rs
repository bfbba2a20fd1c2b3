//! An event stream that arrives in pieces, beside other crates that read such.

use std::hint::black_box;

use bytes::Bytes;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::events::{self, EventPeer, McpProto, chunks, large, small};
use mcp_benches_peers::events::{EventsourceStream, SseStream};

fn event_stream(criterion: &mut Criterion) {
    for (name, stream, events) in [("small", small(3_000), 3_000), ("large", large(20), 20)] {
        let mut group = criterion.benchmark_group(format!("{name} events"));
        group.throughput(Throughput::Elements(events));
        for size in [256, 4096, 65_536] {
            let chunks = chunks(stream.clone(), size);
            compare::<McpProto>(&mut group, &chunks, size, events);
            compare::<SseStream>(&mut group, &chunks, size, events);
            compare::<EventsourceStream>(&mut group, &chunks, size, events);
        }
        group.finish();
    }
}

fn compare<P: EventPeer>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    chunks: &[Bytes],
    size: usize,
    expected: u64,
) {
    group.bench_function(format!("{}, chunks of {size} B", P::NAME), |bencher| {
        bencher.iter(|| assert_eq!(events::count::<P>(black_box(chunks)) as u64, expected));
    });
}

criterion_group!(benches, event_stream);
criterion_main!(benches);
