//! The work of another library that turns a value into JSON.

use mcp_benches::arguments::Arguments;
use mcp_benches::encode::EncodePeer;

/// serde_json, into the same buffer.
pub struct SerdeJson;

impl EncodePeer for SerdeJson {
    const NAME: &'static str = "serde_json";

    fn encode(value: &Arguments, buffer: &mut [u8]) -> Option<usize> {
        let room = buffer.len();
        let mut left = buffer;
        serde_json::to_writer(&mut left, value).ok()?;
        Some(room - left.len())
    }
}

#[cfg(test)]
mod tests {
    use mcp_benches::encode::{McpProto, named};

    use super::*;

    fn encode<P: EncodePeer>(value: &Arguments) -> Vec<u8> {
        let mut buffer = vec![0; 64 << 10];
        let len = P::encode(value, &mut buffer).unwrap();
        buffer.truncate(len);
        buffer
    }

    #[test]
    fn both_write_the_same() {
        for name in ["small", "large", "escaped"] {
            let value = named(&format!("{name} value")).unwrap();
            let ours: Arguments = serde_json::from_slice(&encode::<McpProto>(&value)).unwrap();
            assert_eq!(ours, value, "{name}");
            let theirs: Arguments = serde_json::from_slice(&encode::<SerdeJson>(&value)).unwrap();
            assert_eq!(theirs, value, "{name}");
        }
    }
}
