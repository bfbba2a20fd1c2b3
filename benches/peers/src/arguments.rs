//! The work of each library that turns the arguments of a tool into a type.

use mcp_benches::arguments::{ArgumentPeer, Arguments};
use mcp_proto::json::Raw;

/// serde_json, as the feature `serde-json` of the core calls it.
pub struct SerdeJson;

impl ArgumentPeer for SerdeJson {
    const NAME: &'static str = "serde_json";
    type State = Vec<u8>;

    fn decode(copy: &mut Vec<u8>, raw: Raw<'_>) -> Option<Arguments> {
        raw.decode_serde_json(copy).ok()
    }
}

/// simd-json, as the feature `simd-json` of the core calls it, with the copy that it works on kept.
pub struct SimdJson;

impl ArgumentPeer for SimdJson {
    const NAME: &'static str = "simd-json";
    type State = Vec<u8>;

    fn decode(copy: &mut Vec<u8>, raw: Raw<'_>) -> Option<Arguments> {
        raw.decode_simd_json(copy).ok()
    }
}

/// serde-json-core, as the feature `serde-json-core` of the core calls it, with its two buffers kept.
pub struct SerdeJsonCore;

impl ArgumentPeer for SerdeJsonCore {
    const NAME: &'static str = "serde-json-core";
    type State = (Vec<u8>, Vec<u8>);

    fn decode((copy, unescaped): &mut Self::State, raw: Raw<'_>) -> Option<Arguments> {
        for buffer in [&mut *copy, &mut *unescaped] {
            buffer.resize(raw.as_bytes().len(), 0);
        }
        raw.decode_serde_json_core(copy, unescaped).ok()
    }
}

#[cfg(test)]
mod tests {
    use mcp_benches::arguments::{McpProto, named};

    use super::*;

    fn decode<P: ArgumentPeer>(text: &str) -> Option<Arguments> {
        let raw = Raw::parse(text.as_bytes(), 8).unwrap();
        P::decode(&mut P::State::default(), raw)
    }

    #[test]
    fn all_decode_the_same() {
        for (name, size) in [("small", 39), ("large", 8_948), ("escaped", 9_799)] {
            let text = named(&format!("{name} arguments")).unwrap();
            assert_eq!(text.len(), size, "{name}");
            let ours = decode::<McpProto>(&text);
            assert!(ours.is_some(), "{name}");
            assert_eq!(decode::<SerdeJson>(&text), ours, "{name}");
            assert_eq!(decode::<SimdJson>(&text), ours, "{name}");
            assert_eq!(decode::<SerdeJsonCore>(&text), ours, "{name}");
        }
    }
}
