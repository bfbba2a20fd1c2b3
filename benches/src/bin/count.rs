//! One contestant, one input, so many times (of events, a whole stream of them): what `benches/instructions` runs under callgrind.

use std::hint::black_box;

use mcp_benches::events::{self, EventPeer, EventsourceStream, SseStream};
use mcp_benches::inputs::{self, Input};
use mcp_benches::peers::{McpProto, Peer, Rmcp, SerdeJson, SimdJson, SonicRs};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, peer, input, times] = arguments.as_slice() else {
        panic!("usage: count PEER INPUT TIMES")
    };
    let times: u32 = times.parse().expect("a number");
    let stream = match input.as_str() {
        "small events" => Some(events::small(600)),
        "large events" => Some(events::large(10)),
        _ => None,
    };
    if let Some(stream) = stream {
        return match peer.as_str() {
            McpProto::NAME => again::<events::McpProto>(stream, times),
            SseStream::NAME => again::<SseStream>(stream, times),
            EventsourceStream::NAME => again::<EventsourceStream>(stream, times),
            _ => panic!("no such contestant: {peer}"),
        };
    }
    let input = inputs::named(input).expect("the name of an input");
    match peer.as_str() {
        McpProto::NAME => repeat::<McpProto>(&input, times),
        SerdeJson::NAME => repeat::<SerdeJson>(&input, times),
        SimdJson::NAME => repeat::<SimdJson>(&input, times),
        SonicRs::NAME => repeat::<SonicRs>(&input, times),
        Rmcp::NAME => repeat::<Rmcp>(&input, times),
        _ => panic!("no such contestant: {peer}"),
    }
}

fn again<P: EventPeer>(stream: Vec<u8>, times: u32) {
    let chunks = events::chunks(stream, 4096);
    for _ in 0..times {
        black_box(events::count::<P>(black_box(&chunks)));
    }
}

fn repeat<P: Peer>(input: &Input, times: u32) {
    let mut state = P::State::default();
    for _ in 0..times {
        assert!(P::accepts(&mut state, black_box(&input.message), input.to));
    }
}
