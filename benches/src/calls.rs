//! The work that turns the bytes of a call into the name of its tool and a type with its arguments.

use std::hint::black_box;

use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::rpc::{Message, Method};
use serde::Deserialize;

use crate::inputs;

/// The arguments of a tool that says a text again.
#[derive(Deserialize)]
pub struct Said {
    pub text: String,
}

/// A contestant: its name and its work.
pub trait CallPeer {
    const NAME: &'static str;

    /// Returns the arguments of a call of the tool `echo`; `None` for any other message.
    fn arguments(message: &[u8]) -> Option<Said>;
}

/// `mcp_proto::rpc::Message`, `Object::find` and `Raw::decode`.
pub struct McpProto;

impl CallPeer for McpProto {
    const NAME: &'static str = "mcp-proto";

    fn arguments(message: &[u8]) -> Option<Said> {
        let Message::Request(request) = Message::parse(message, MAX_DEPTH) else {
            return None;
        };
        let keys = ["name", "arguments", "_meta"];
        let [name, arguments, _] = request.params?.find(keys).ok()?;
        let is_echo = name.and_then(Raw::string)? == "echo";
        if request.method != Method::ToolsCall || !is_echo {
            return None;
        }
        arguments?.decode(&mut []).ok()
    }
}

pub(crate) fn repeat<P: CallPeer>(times: u32) {
    let text = "Good morning, Kyoto!";
    let message = inputs::echo(text);
    for _ in 0..times {
        let said = P::arguments(black_box(message.as_bytes()));
        assert!(black_box(said).is_some_and(|said| said.text == text));
    }
}
