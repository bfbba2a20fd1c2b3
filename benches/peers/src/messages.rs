//! The work of each library that turns the bytes of a message into something that can be dispatched on.

use std::borrow::Cow;

use mcp_benches::inputs::Receiver;
use mcp_benches::messages::Peer;
use serde::Deserialize;
use serde_json::value::RawValue;

/// serde_json into an envelope that borrows, payloads left as text.
pub struct SerdeJson;

#[derive(Deserialize)]
struct Envelope<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
}

impl Peer for SerdeJson {
    const NAME: &'static str = "serde_json";
    type State = ();

    fn accepts((): &mut (), message: &[u8], _: Receiver) -> bool {
        let Ok(envelope) = serde_json::from_slice::<Envelope<'_>>(message) else {
            return false;
        };
        let envelope = std::hint::black_box(envelope);
        envelope.jsonrpc == "2.0"
            && envelope.id.is_some()
            && (envelope.method.is_some()
                || envelope.result.is_some()
                || envelope.error.is_some()
                || envelope.params.is_some())
    }
}

/// simd-json's tape, with all buffers kept. It works in place, so every message is copied first.
pub struct SimdJson;

#[derive(Default)]
pub struct TapeState {
    input: Vec<u8>,
    buffers: simd_json::Buffers,
}

impl Peer for SimdJson {
    const NAME: &'static str = "simd-json";
    type State = TapeState;

    fn accepts(state: &mut TapeState, message: &[u8], _: Receiver) -> bool {
        state.input.clear();
        state.input.extend_from_slice(message);
        let tape = simd_json::to_tape_with_buffers(&mut state.input, &mut state.buffers);
        std::hint::black_box(&tape).is_ok()
    }
}

/// sonic-rs into an envelope of lazy values.
pub struct SonicRs;

#[derive(Deserialize)]
struct LazyEnvelope<'a> {
    jsonrpc: &'a str,
    #[serde(borrow)]
    id: Option<sonic_rs::LazyValue<'a>>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    params: Option<sonic_rs::LazyValue<'a>>,
    #[serde(borrow)]
    result: Option<sonic_rs::LazyValue<'a>>,
    #[serde(borrow)]
    error: Option<sonic_rs::LazyValue<'a>>,
}

impl Peer for SonicRs {
    const NAME: &'static str = "sonic-rs";
    type State = ();

    fn accepts((): &mut (), message: &[u8], _: Receiver) -> bool {
        let Ok(envelope) = sonic_rs::from_slice::<LazyEnvelope<'_>>(message) else {
            return false;
        };
        let envelope = std::hint::black_box(envelope);
        envelope.jsonrpc == "2.0"
            && envelope.id.is_some()
            && (envelope.method.is_some()
                || envelope.result.is_some()
                || envelope.error.is_some()
                || envelope.params.is_some())
    }
}

/// The message type of the official Rust SDK.
pub struct Rmcp;

impl Peer for Rmcp {
    const NAME: &'static str = "rmcp";
    type State = ();

    fn accepts((): &mut (), message: &[u8], to: Receiver) -> bool {
        match to {
            Receiver::Server => std::hint::black_box(serde_json::from_slice::<
                rmcp::model::ClientJsonRpcMessage,
            >(message))
            .is_ok(),
            Receiver::Client => std::hint::black_box(serde_json::from_slice::<
                rmcp::model::ServerJsonRpcMessage,
            >(message))
            .is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_benches::messages::McpProto;

    use super::*;

    #[test]
    fn everyone_accepts_every_input() {
        fn check<P: Peer>() {
            let mut state = P::State::default();
            let inputs = mcp_benches::inputs::all().into_iter();
            for input in inputs.chain(mcp_benches::inputs::more()) {
                assert!(
                    P::accepts(&mut state, &input.message, input.to),
                    "{} refuses {}",
                    P::NAME,
                    input.name
                );
                assert!(
                    !P::accepts(&mut state, &input.message[1..], input.to),
                    "{} accepts a broken {}",
                    P::NAME,
                    input.name
                );
            }
        }
        check::<McpProto>();
        check::<SerdeJson>();
        check::<SimdJson>();
        check::<SonicRs>();
        check::<Rmcp>();
    }
}
