//! One contestant, one input, so many times: what `benches/instructions` runs under callgrind.

use std::hint::black_box;

use mcp_benches::inputs::{self, Input};
use mcp_benches::peers::{McpProto, Peer, Rmcp, SerdeJson, SimdJson, SonicRs};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, peer, input, times] = arguments.as_slice() else {
        panic!("usage: count PEER INPUT TIMES")
    };
    let input = inputs::named(input).expect("the name of an input");
    let times: u32 = times.parse().expect("a number");
    match peer.as_str() {
        McpProto::NAME => repeat::<McpProto>(&input, times),
        SerdeJson::NAME => repeat::<SerdeJson>(&input, times),
        SimdJson::NAME => repeat::<SimdJson>(&input, times),
        SonicRs::NAME => repeat::<SonicRs>(&input, times),
        Rmcp::NAME => repeat::<Rmcp>(&input, times),
        _ => panic!("no such contestant: {peer}"),
    }
}

fn repeat<P: Peer>(input: &Input, times: u32) {
    let mut state = P::State::default();
    for _ in 0..times {
        assert!(P::accepts(&mut state, black_box(&input.message), input.to));
    }
}
