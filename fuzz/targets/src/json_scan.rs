//! The scanner and its views against `serde_json`.

use mcp_proto::json::{FaultKind, Kind, MAX_DEPTH, Raw, Str, Writer};
use serde::de::IgnoredAny;

/// The scanner accepts exactly the texts that are UTF-8 and that `serde_json` accepts, within the
/// depth; what it accepted can be walked, decoded and written again.
pub fn json_scan(text: &[u8]) {
    let accepted =
        core::str::from_utf8(text).is_ok() && serde_json::from_slice::<IgnoredAny>(text).is_ok();
    match Raw::parse(text, MAX_DEPTH) {
        Ok(raw) => {
            assert!(accepted, "the peer refuses what the scanner accepts");
            assert!(depth(text) <= usize::from(MAX_DEPTH));
            assert_eq!(raw.as_bytes(), text.trim_ascii());
            walk(raw);
            rewrite(raw);
        }
        Err(fault) => {
            assert!(fault.at <= text.len());
            if accepted {
                assert_eq!(
                    fault.kind,
                    FaultKind::Depth,
                    "the scanner refuses what the peer accepts"
                );
                assert!(depth(text) > usize::from(MAX_DEPTH));
            }
        }
    }
}

/// How deep a valid text nests.
fn depth(text: &[u8]) -> usize {
    let (mut deepest, mut depth, mut in_string, mut escaped) = (0, 0, false, false);
    for byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' if !in_string => depth -= 1,
            _ => {}
        }
    }
    deepest
}

/// Visits every value once; recursion is bounded by the depth that was accepted.
fn walk(raw: Raw<'_>) {
    match raw.kind() {
        Kind::Object => {
            let object = raw.object().unwrap();
            let mut last = None;
            for (key, value) in object.members() {
                text(key, None);
                walk(value);
                last = Some(key);
            }
            assert_eq!(object.is_empty(), last.is_none());
            if let Some(key) = last.filter(|key| key.is_exact()) {
                assert!(object.get(&key.to_cow()).is_some());
            }
        }
        Kind::Array => {
            let array = raw.array().unwrap();
            assert_eq!(array.elements().map(walk).count(), array.len());
        }
        Kind::String => text(raw.string().unwrap(), Some(raw.as_bytes())),
        Kind::Number => {
            let number = raw.number().unwrap();
            assert_eq!(number.as_bytes(), raw.as_bytes());
            assert_eq!(
                number.to_i64(),
                number.as_str().parse().ok().filter(|_| number.is_integer())
            );
        }
        Kind::Bool => assert!(raw.boolean().is_some()),
        Kind::Null => assert!(raw.is_null()),
    }
}

/// All ways to decode a text agree, with each other and with the peer.
fn text(text: Str<'_>, quoted: Option<&[u8]>) {
    let whole = text.to_cow();
    assert_eq!(whole.len(), text.decoded_len());
    assert!(text.chars().eq(whole.chars()));
    let mut scratch = vec![0; whole.len()];
    assert_eq!(text.decode(&mut scratch), Ok(&*whole));
    assert_eq!(
        text == *whole,
        text.is_exact(),
        "half a surrogate pair equals only itself"
    );
    if let Some(peer) = quoted.and_then(|quoted| serde_json::from_slice::<String>(quoted).ok()) {
        assert_eq!(peer, whole);
        assert!(text.is_exact());
    }
}

/// A value is written as it came, but for line breaks; no shorter buffer is enough.
fn rewrite(raw: Raw<'_>) {
    let mut out = vec![0; raw.as_bytes().len()];
    let mut writer = Writer::new(&mut out);
    writer.raw(raw);
    assert_eq!(writer.finish(), Ok(raw.as_bytes().len()));
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
    assert!(Raw::parse(&out, MAX_DEPTH).is_ok());
    let short = out.len() - 1;
    let mut writer = Writer::new(&mut out[..short]);
    writer.raw(raw);
    assert_eq!(writer.finish().unwrap_err().needed, raw.as_bytes().len());
}
