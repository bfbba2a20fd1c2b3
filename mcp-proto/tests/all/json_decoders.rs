//! Every decoder that a feature brings takes a text for the same.

use std::collections::BTreeMap;

use mcp_proto::json::Raw;

/// A line break, a quote, a whole emoji and a cut one, in a value and in a name.
const TEXT: &[u8] = br#"{"text":"a\n\"b\" \ud83d\ude00 \ud83d.","n\u0061m\u00e9\ud83d":"\ude00"}"#;

fn expected() -> BTreeMap<String, String> {
    BTreeMap::from([
        ("text".to_owned(), "a\n\"b\" 😀 \u{FFFD}.".to_owned()),
        ("namé\u{FFFD}".to_owned(), "\u{FFFD}".to_owned()),
    ])
}

fn raw() -> Raw<'static> {
    Raw::parse(TEXT, 8).unwrap()
}

#[test]
fn ours() {
    assert_eq!(raw().decode(&mut [0; 64]), Ok(expected()));
    let members = raw().object().unwrap().members();
    let members = members.map(|(name, value)| {
        let text = value.string().unwrap();
        (name.to_string(), text.chars().collect())
    });
    assert_eq!(members.collect::<BTreeMap<String, String>>(), expected());
}

#[test]
#[cfg(feature = "serde-json")]
fn serde_json() {
    let decoded: BTreeMap<String, String> = raw().decode_serde_json(&mut Vec::new()).unwrap();
    assert_eq!(decoded, expected());
    // Without a cut emoji nothing is copied, so text can be borrowed from the input.
    let mut copy = Vec::new();
    let raw = Raw::parse(br#"["plain"]"#, 1).unwrap();
    assert_eq!(
        raw.decode_serde_json::<Vec<&str>>(&mut copy).unwrap(),
        ["plain"]
    );
    assert_eq!(copy.capacity(), 0);
}

#[test]
#[cfg(feature = "simd-json")]
fn simd_json() {
    let decoded: BTreeMap<String, String> = raw().decode_simd_json(&mut Vec::new()).unwrap();
    assert_eq!(decoded, expected());
    let mut frame = TEXT.to_vec();
    let decoded: BTreeMap<&str, &str> =
        mcp_proto::json::decode_simd_json_in_place(&mut frame).unwrap();
    let decoded = decoded
        .into_iter()
        .map(|(k, v)| (k.to_owned(), v.to_owned()));
    assert_eq!(decoded.collect::<BTreeMap<_, _>>(), expected());
    let mut frame = b"[1,]".to_vec();
    mcp_proto::json::decode_simd_json_in_place::<Vec<u8>>(&mut frame).unwrap_err();
}

/// Texts and types of arguments: what one decoder refuses the other refuses, too.
#[test]
#[cfg(feature = "simd-json")]
fn simd_json_agrees_on_arguments() {
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Arguments {
        text: String,
        count: Option<u8>,
        #[serde(default)]
        ratio: f64,
        kind: Option<Kind>,
        point: Option<(i32, i32)>,
        #[serde(default)]
        more: BTreeMap<String, Vec<i64>>,
    }
    #[derive(Debug, PartialEq, serde::Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Kind {
        Plain,
        Sized(u32),
        Named { name: char },
    }
    let members = [
        ("", true),
        (r#","count":255,"ratio":1,"kind":"plain""#, true),
        (r#","count":null,"ratio":-0.5e-3,"kind":{"sized":7}"#, true),
        (
            r#","kind":{"named":{"name":"\u00e9"}},"point":[-1,2]"#,
            true,
        ),
        (
            r#","more":{"a":[],"\ud83d":[9007199254740993]},"other":[{}]"#,
            true,
        ),
        (r#","count":256"#, false),
        (r#","count":-1"#, false),
        (r#","count":1.0"#, false),
        (r#","count":"1""#, false),
        (r#","ratio":"1""#, false),
        (r#","kind":"sized""#, false),
        (r#","kind":{"plain":1}"#, false),
        (r#","kind":{"sized":7,"plain":null}"#, false),
        (r#","kind":{"named":{"name":"ab"}}"#, false),
        (r#","point":[1]"#, false),
        (r#","point":[1,2,3]"#, false),
        (r#","more":{"a":[18446744073709551615]}"#, false),
        (r#","text":"b""#, false),
    ];
    let decode = |text: &str| {
        let raw = Raw::parse(text.as_bytes(), 8).unwrap();
        let ours = raw.decode::<Arguments>(&mut [0; 64]);
        let theirs = raw.decode_simd_json::<Arguments>(&mut Vec::new());
        (ours.ok(), theirs.ok())
    };
    for (more, accepted) in members {
        let (ours, theirs) = decode(&format!(r#"{{"text":"a\n\ud83d\ude00"{more}}}"#));
        assert_eq!(ours.is_some(), accepted, "{more}");
        assert_eq!(ours, theirs, "{more}");
    }
    for text in ["[]", "1", r#"{"count":1}"#] {
        assert_eq!(decode(text), (None, None), "{text}");
    }
}

#[cfg(feature = "serde-json-core")]
mod serde_json_core {
    use super::{Raw, expected};
    use serde_json_core::de::Error;

    #[derive(Debug, PartialEq, serde::Deserialize)]
    struct Text {
        text: String,
    }

    #[test]
    fn agrees() {
        let json = br#"{"text":"a\n\"b\" \ud83d\ude00 \ud83d."}"#;
        let raw = Raw::parse(json, 8).unwrap();
        let decode = |copy: usize, unescaped: usize| {
            raw.decode_serde_json_core::<Text>(&mut vec![0; copy], &mut vec![0; unescaped])
                .map(|decoded| decoded.text)
        };
        let text = expected()["text"].clone();
        // The pair and its half take 18 bytes escaped and 7 as they are.
        let copied = json.len() - 18 + 7;
        assert_eq!(decode(copied, text.len()), Ok(text.clone()));
        for short in 0..copied {
            assert_eq!(
                decode(short, text.len()),
                Err(Error::EscapedStringIsTooLong)
            );
        }
        for short in 0..text.len() {
            assert_eq!(decode(copied, short), Err(Error::EscapedStringIsTooLong));
        }
    }

    /// Why it is only for users' own types, and not called directly.
    #[test]
    fn differs() {
        // It hands out escaped text where nobody lends it a buffer.
        let (text, _) = serde_json_core::from_slice::<&str>(br#""a\n""#).unwrap();
        assert_eq!(text, r"a\n");
        // It refuses both halves of a pair, even of a whole one.
        let direct = |json: &str| {
            serde_json_core::from_str_escaped::<String>(json, &mut [0; 16]).map(|(text, _)| text)
        };
        assert_eq!(direct(r#""\n\"""#), Ok("\n\"".to_owned()));
        direct(r#""\ud83d\ude00""#).unwrap_err();
        direct(r#""\ud83d""#).unwrap_err();
        // It cannot decode what describes itself.
        let value = serde_json_core::from_slice::<serde_json::Value>(b"1");
        assert_eq!(value.unwrap_err(), Error::AnyIsUnsupported);
    }
}
