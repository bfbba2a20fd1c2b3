//! The scanner, the walk, the decoder and the writer beside naive twins, on arbitrary input.

use core::str;

use mcp_proto::json::{Raw, Str, Writer};
use proptest::prelude::*;
use serde::de::IgnoredAny;

/// What `serde_json` accepts, if it is UTF-8: its `IgnoredAny` does not look into strings.
fn twin_accepts(text: &[u8]) -> bool {
    str::from_utf8(text).is_ok() && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

fn check(text: &[u8]) -> Result<(), TestCaseError> {
    let ours = Raw::parse(text, 128);
    prop_assert_eq!(ours.is_ok(), twin_accepts(text), "{:?} {:?}", ours, text);
    let Ok(raw) = ours else {
        return Ok(());
    };
    prop_assert_eq!(raw.as_bytes(), text.trim_ascii());
    // `serde_json` refuses half a surrogate pair and numbers out of range.
    match serde_json::from_slice::<serde_json::Value>(text) {
        Ok(expected) => {
            prop_assert_eq!(raw.decode(&mut [0; 1024]), Ok(expected.clone()));
            // Written by a foreign serializer, it still means the same.
            #[cfg(feature = "alloc")]
            prop_assert_eq!(serde_json::to_value(raw).unwrap(), expected);
        }
        Err(_) => {
            let _ = raw.decode::<serde_json::Value>(&mut [0; 1024]);
            prop_assert!(raw.has_lone_surrogate() || raw.as_str().contains(['e', 'E']));
        }
    }
    Ok(())
}

/// Pieces of JSON, right and wrong.
fn token() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        " ",
        "\n",
        "\t",
        "\"",
        "\"a\"",
        "\"\"",
        "\"key\":",
        "null",
        "true",
        "false",
        "0",
        "-1",
        "1.5",
        "1e9",
        "-0.0E+1",
        "01",
        "\\",
        "\\n",
        "\\u0041",
        "\\ud83d",
        "\\ude00",
        "\\ud83d\\ude00",
        "\\uD8",
        "a longer run of plain text, 40 bytes",
        "é",
        "好好好好好好好好好好好好",
        "😀",
        "\u{FEFF}",
        "\u{7F}",
        "\u{0}",
        "\u{1f}",
    ]);
    prop_oneof![
        12 => whole.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 1..4),
    ]
}

/// A valid value.
fn value() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<u64>().prop_map(Into::into),
        any::<f64>().prop_map(Into::into),
        ".{0,80}".prop_map(Into::into),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Into::into),
            prop::collection::vec((".{0,12}", inner), 0..6)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The text as JSON, with escapes in the places that `choices` tells.
fn escape(text: &str, choices: &[u8]) -> String {
    let mut json = String::from("\"");
    for (char, choice) in text.chars().zip(choices.iter().cycle()) {
        if *choice == 0 || char < ' ' || char == '"' || char == '\\' {
            for unit in char.encode_utf16(&mut [0; 2]) {
                json += &format!("\\u{unit:04x}");
            }
        } else {
            json.push(char);
        }
    }
    json + "\""
}

proptest! {
    #[test]
    fn arbitrary_bytes(text in prop::collection::vec(any::<u8>(), 0..40)) {
        check(&text)?;
    }

    #[test]
    fn arbitrary_tokens(tokens in prop::collection::vec(token(), 0..24)) {
        check(&tokens.concat())?;
    }

    #[test]
    fn arbitrary_strings(tokens in prop::collection::vec(token(), 0..24)) {
        let content = tokens.concat();
        check(&[b"[\"", content.as_slice(), b"\"]"].concat())?;
    }

    /// A byte of a valid value replaced, removed or doubled.
    #[test]
    fn nearly_valid(value in value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let text = serde_json::to_vec(&value).unwrap();
        check(&text)?;
        let at = at.index(text.len());
        let mut replaced = text.clone();
        replaced[at] = byte;
        check(&replaced)?;
        let mut removed = text.clone();
        removed.remove(at);
        check(&removed)?;
        let mut doubled = text;
        doubled.insert(at, byte);
        check(&doubled)?;
    }

    #[test]
    fn values_survive(value in value()) {
        let expected = serde_json::to_string(&value).unwrap();
        let mut out = vec![0; 2 * expected.len() + 1024];
        let mut writer = Writer::new(&mut out);
        writer.value(&value, None).unwrap();
        let len = writer.finish().unwrap();
        let raw = Raw::parse(&out[..len], 128).unwrap();
        let mut counting = Writer::counting();
        counting.value(&raw, None).unwrap();
        prop_assert_eq!(counting.len(), len);
        // Whole floats are written without a fraction, so numbers are compared as text.
        let ours: serde_json::Value = serde_json::from_slice(&out[..len]).unwrap();
        prop_assert_eq!(flat(&ours), flat(&value));
    }

    #[test]
    fn texts(text in ".{0,100}", other in ".{0,3}", choices in prop::collection::vec(0u8..4, 1..9)) {
        let json = escape(&text, &choices);
        let theirs = Raw::parse(json.as_bytes(), 0).unwrap().string().unwrap();
        prop_assert_eq!(theirs, Str::from(text.as_str()));
        prop_assert_eq!(theirs.hash32(), Str::from(text.as_str()).hash32());
        prop_assert_eq!(theirs.decoded_len(), text.len());
        prop_assert!(theirs.is_exact());
        let mut scratch = [0; 400];
        prop_assert_eq!(theirs.decode(&mut scratch).unwrap(), text.as_str());
        prop_assert_eq!(theirs == *other, text == other);
        let again = escape(&text, &[0]);
        prop_assert_eq!(theirs, Raw::parse(again.as_bytes(), 0).unwrap().string().unwrap());

        let mut out = [0; 800];
        let mut writer = Writer::new(&mut out);
        writer.string(&text);
        let len = writer.finish().unwrap();
        prop_assert_eq!(str::from_utf8(&out[..len]).unwrap(), serde_json::to_string(&text).unwrap());
    }

    /// Members are found as a map of them would find them.
    #[test]
    fn members(members in prop::collection::vec(("[ab]{0,2}", value()), 0..8)) {
        let text = members.iter().map(|(name, value)| {
            format!("{} : {value}", escape(name, &[0, 1]))
        });
        let json = format!("{{ {} }}", text.collect::<Vec<_>>().join(" , "));
        let object = Raw::parse(json.as_bytes(), 128).unwrap().object().unwrap();
        let times = |key: &str| members.iter().filter(|(name, _)| name == key).count();
        match object.find(["a", "ab"]) {
            Ok(found) => for (key, value) in ["a", "ab"].into_iter().zip(found) {
                let expected = members.iter().find(|(name, _)| name == key);
                prop_assert_eq!(times(key), usize::from(value.is_some()));
                let value = value.map(|value| value.as_str().to_owned());
                prop_assert_eq!(value, expected.map(|(_, value)| value.to_string()));
            },
            Err(double) => prop_assert!(times(["a", "ab"][double.key]) > 1),
        }
        prop_assert_eq!(object.members().count(), members.len());
    }
}

/// The value with every number as the float it is nearest to.
fn flat(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::Number(number) => {
            let value = number.as_f64().unwrap();
            format!("{:e}", value + 0.0).into()
        }
        serde_json::Value::Array(items) => items.iter().map(flat).collect(),
        serde_json::Value::Object(members) => members
            .iter()
            .map(|(name, value)| (name.clone(), flat(value)))
            .collect(),
        other => other.clone(),
    }
}
