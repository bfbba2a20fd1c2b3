//! The work that turns the bytes of a message into something that can be dispatched on.
//!
//! Every function validates the whole message and returns whether it was accepted, so that no work can be left out.

use crate::inputs::Receiver;

/// A contestant: its name and its work.
pub trait Peer {
    const NAME: &'static str;

    /// The state from one message to the next, as a program would keep it.
    type State: Default;

    fn accepts(state: &mut Self::State, message: &[u8], to: Receiver) -> bool;
}

/// `mcp_proto::rpc::Message`: envelope and validation in one pass, nothing allocated.
pub struct McpProto;

impl Peer for McpProto {
    const NAME: &'static str = if cfg!(feature = "simd") {
        "mcp-proto simd"
    } else {
        "mcp-proto"
    };
    type State = ();

    fn accepts((): &mut (), message: &[u8], _: Receiver) -> bool {
        let message = mcp_proto::rpc::Message::parse(message, mcp_proto::json::MAX_DEPTH);
        !matches!(
            std::hint::black_box(message),
            mcp_proto::rpc::Message::Invalid(_)
        )
    }
}
