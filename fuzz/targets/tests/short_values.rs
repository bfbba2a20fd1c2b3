//! Every short value, decoded into types and compared with `serde_json`.

use core::any::type_name;
use core::fmt::Debug;
use std::collections::BTreeMap;

use mcp_proto::json::{MAX_DEPTH, Raw};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Values that contain no others: of each kind, with the bounds of small integers, both forms of a text, and space. `-0` is left
/// out: the library decodes it as an integer, `serde_json` as a float.
const SCALARS: [&str; 15] = [
    "null",
    "true",
    " false",
    "0",
    "127",
    "-128",
    "-129",
    "255 ",
    "256",
    "0.5",
    "2e0",
    "1e999",
    r#""""#,
    r#""a""#,
    r#""\u0062\n""#,
];

/// Names of members, some of which the types know, one with an escape.
const KEYS: [&str; 4] = [r#""a":"#, r#""b" : "#, r#""\u0061":"#, r#""c":"#];

/// `SHORT_VALUES` is the number of tokens of the longest value: scalars, names, brackets and commas.
#[test]
fn every_short_value() {
    let longest = std::env::var("SHORT_VALUES").map_or(6, |most| most.parse().expect("a number"));
    let mut values = 0_u64;
    value(&mut Vec::new(), longest, &mut |text, _| {
        values += 1;
        compare(text);
    });
    println!("{values} values, {} decodings", values * TYPES.len() as u64);
    let expected = match longest {
        6 => 524,
        14 => 142_259_689,
        _ => values,
    };
    assert_eq!(values, expected);
}

/// Calls `then` with the text and each value of at most so many tokens after it, and with the number of tokens left.
fn value(text: &mut Vec<u8>, most: u32, then: &mut dyn FnMut(&mut Vec<u8>, u32)) {
    for scalar in SCALARS {
        append(text, most, scalar, then);
    }
    append(text, most, "[", &mut |text, most| {
        append(text, most, " ]", then);
        entries(text, most, &[""], "]", then);
    });
    append(text, most, "{", &mut |text, most| {
        append(text, most, "}", then);
        entries(text, most, &KEYS, "\n}", then);
    });
}

/// As [`value`], for the entries and the end of a container that is not empty.
fn entries(
    text: &mut Vec<u8>,
    most: u32,
    keys: &[&str],
    end: &str,
    then: &mut dyn FnMut(&mut Vec<u8>, u32),
) {
    // The end needs a token, too.
    let Some(most) = most.checked_sub(1) else {
        return;
    };
    for key in keys {
        let mut with_value = |text: &mut Vec<u8>, most| {
            value(text, most, &mut |text, most| {
                append(text, most + 1, end, then);
                append(text, most + 1, ",", &mut |text, most| {
                    entries(text, most, keys, end, then);
                });
            });
        };
        match *key {
            "" => with_value(text, most),
            key => append(text, most, key, &mut with_value),
        }
    }
}

/// As [`value`], for one token.
fn append(text: &mut Vec<u8>, most: u32, token: &str, then: &mut dyn FnMut(&mut Vec<u8>, u32)) {
    if let Some(most) = most.checked_sub(1) {
        let length = text.len();
        text.extend_from_slice(token.as_bytes());
        then(text, most);
        text.truncate(length);
    }
}

fn compare(text: &[u8]) {
    let raw = Raw::parse(text, MAX_DEPTH).expect("a value");
    for compare in TYPES {
        compare(raw, text);
    }
}

/// Functions that compare a type of each kind.
const TYPES: [fn(Raw<'_>, &[u8]); 8] = [
    decode::<i8>,
    decode::<String>,
    decode::<Option<f64>>,
    decode::<Vec<u8>>,
    decode::<BTreeMap<String, bool>>,
    decode::<Pair>,
    decode::<Choice>,
    decode::<Value>,
];

#[derive(Debug, PartialEq, Deserialize)]
struct Pair {
    a: i64,
    b: Option<Box<Self>>,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Choice {
    A,
    B(u8),
    C { a: bool },
}

fn decode<T: DeserializeOwned + PartialEq + Debug>(raw: Raw<'_>, text: &[u8]) {
    let value = raw.decode::<T>(&mut []).ok();
    let other = serde_json::from_slice::<T>(text).ok();
    assert_eq!(value, other, "{} as {}", raw.as_str(), type_name::<T>());
}
