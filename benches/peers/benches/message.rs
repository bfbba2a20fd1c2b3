//! Bytes to a message, beside the peers, in one run.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mcp_benches::inputs::{self, Input};
use mcp_benches::messages::{McpProto, Peer};
use mcp_benches_peers::messages::{Rmcp, SerdeJson, SimdJson, SonicRs};

fn message(criterion: &mut Criterion) {
    for input in inputs::all() {
        let mut group = criterion.benchmark_group(input.name);
        group.throughput(Throughput::Bytes(input.message.len() as u64));
        measure::<McpProto>(&mut group, &input);
        measure::<SerdeJson>(&mut group, &input);
        measure::<SimdJson>(&mut group, &input);
        measure::<SonicRs>(&mut group, &input);
        measure::<Rmcp>(&mut group, &input);
        group.finish();
    }
}

fn measure<P: Peer>(
    group: &mut criterion::BenchmarkGroup<'_, criterion::measurement::WallTime>,
    input: &Input,
) {
    let mut state = P::State::default();
    group.bench_function(P::NAME, |bencher| {
        bencher.iter(|| P::accepts(&mut state, black_box(&input.message), input.to));
    });
}

criterion_group!(benches, message);
criterion_main!(benches);
