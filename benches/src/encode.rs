//! The work that turns a value of a type into JSON, which is a result of a tool as it is written into the outbox.

use std::hint::black_box;

use mcp_proto::json::{MAX_DEPTH, Raw, Writer};

use crate::arguments::{self, Arguments};

/// A contestant: its name and its work.
pub trait EncodePeer {
    const NAME: &'static str;

    /// Writes a value into a buffer that is large enough, and returns its length.
    fn encode(value: &Arguments, buffer: &mut [u8]) -> Option<usize>;
}

/// `Writer::value`, the encoder of the core.
pub struct McpProto;

impl EncodePeer for McpProto {
    const NAME: &'static str = "mcp-proto";

    fn encode(value: &Arguments, buffer: &mut [u8]) -> Option<usize> {
        let mut writer = Writer::new(buffer);
        writer.value(value, None).ok()?;
        writer.finish().ok()
    }
}

/// The value of this name.
pub fn named(name: &str) -> Option<Arguments> {
    let text = arguments::named(&name.replace("value", "arguments"))?;
    let raw = Raw::parse(text.as_bytes(), MAX_DEPTH).ok()?;
    raw.decode(&mut []).ok()
}

pub(crate) fn repeat<P: EncodePeer>(value: &Arguments, times: u32) {
    let mut buffer = vec![0; 64 << 10];
    for _ in 0..times {
        assert!(black_box(P::encode(black_box(value), &mut buffer)).is_some());
    }
}
