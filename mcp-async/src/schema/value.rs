//! Values in the form that the validator takes.

use mcp_proto::json::{MAX_DEPTH, Number, Raw};
use serde_json::{Map, Value};

/// Converts a checked value, in one pass and without recursion.
///
/// Every number is taken: one that is too large for a double is the largest of them, and one
/// that is too precise is rounded, as JavaScript would. Decoders refuse the first, and what
/// looks into members by itself walks over the inner ones once for each level.
pub(super) fn value(raw: Raw<'_>, most: usize) -> Result<Value, Unusable> {
    let mut left = most;
    let mut open: Vec<Open> = Vec::new();
    let mut rest = raw.as_bytes();
    while let Some((first, behind)) = rest.split_first() {
        // The grammar was checked, so separators say nothing that is not known.
        let (token, after) = match first {
            b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => {
                rest = behind;
                continue;
            }
            b'"' => rest.split_at_checked(string_end(rest)),
            b'{' | b'[' | b'}' | b']' => rest.split_at_checked(1),
            _ => rest.split_at_checked(scalar_end(rest)),
        }
        .unwrap_or((rest, &[]));
        rest = after;
        if token == b"{" || token == b"[" {
            left = left.checked_sub(1).ok_or(Unusable::Large)?;
            open.push(match first {
                b'{' => Open::Object(Map::new(), None),
                _ => Open::Array(Vec::new()),
            });
            continue;
        }
        let done = if token == b"}" || token == b"]" {
            match open.pop() {
                Some(Open::Object(members, _)) => Value::Object(members),
                Some(Open::Array(elements)) => Value::Array(elements),
                None => Value::Null,
            }
        } else {
            let scalar = scalar(token);
            if let Some(Open::Object(members, name @ None)) = open.last_mut() {
                let Value::String(text) = scalar else {
                    continue;
                };
                if members.contains_key(&text) {
                    return Err(Unusable::Duplicate(text));
                }
                *name = Some(text);
                continue;
            }
            left = left.checked_sub(1).ok_or(Unusable::Large)?;
            scalar
        };
        match open.last_mut() {
            Some(Open::Object(members, name)) => {
                members.insert(name.take().unwrap_or_default(), done);
            }
            Some(Open::Array(elements)) => elements.push(done),
            None => return Ok(done),
        }
    }
    Ok(Value::Null)
}

/// Reasons for which a value was not converted.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Two members have one name. One reader takes the first, another the last: a value must
    /// not be checked by the one and used by the other.
    Duplicate(String),
    /// It has more parts than allowed.
    Large,
}

/// A container whose end has not come, and the name of the member that comes next.
enum Open {
    Object(Map<String, Value>, Option<String>),
    Array(Vec<Value>),
}

fn scalar(token: &[u8]) -> Value {
    let raw = Raw::parse(token, MAX_DEPTH).unwrap_or_default();
    if let Some(text) = raw.string() {
        return text.to_cow().into_owned().into();
    }
    match (raw.number(), raw.boolean()) {
        (Some(number), _) => self::number(number),
        (None, Some(boolean)) => boolean.into(),
        (None, None) => Value::Null,
    }
}

fn number(number: Number<'_>) -> Value {
    if let Some(unsigned) = number.to_u64() {
        return unsigned.into();
    }
    if let Some(signed) = number.to_i64() {
        return signed.into();
    }
    number.to_f64().clamp(f64::MIN, f64::MAX).into()
}

/// The bytes of the string that begins a text, with its quotes.
fn string_end(text: &[u8]) -> usize {
    let mut at = 1;
    while let Some(stop) = text
        .get(at..)
        .and_then(|rest| rest.iter().position(|byte| matches!(byte, b'"' | b'\\')))
    {
        at += stop;
        if text.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    text.len()
}

/// The bytes of the number or word that begins a text.
fn scalar_end(text: &[u8]) -> usize {
    text.iter()
        .position(|byte| matches!(byte, b' ' | b'\n' | b'\r' | b'\t' | b',' | b']' | b'}'))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_has_a_value() {
        let check = |text: &str, expected: Value| {
            let raw = Raw::parse(text.as_bytes(), 128).unwrap();
            assert_eq!(value(raw, 100).unwrap(), expected, "{text}");
        };
        check("1e400", f64::MAX.into());
        check("-1e400", f64::MIN.into());
        check("1e-400", 0.0.into());
        check("-0", 0.into());
        check("18446744073709551615", u64::MAX.into());
        check("-9223372036854775808", i64::MIN.into());
        check("18446744073709551616", 18_446_744_073_709_551_616.0.into());
        check(r#""\ud83d \ud83d\ude00""#, "\u{FFFD} 😀".into());
        check(" [ ] ", serde_json::json!([]));
        check(r#""a\"\\""#, "a\"\\".into());
        check(
            r#"{ "" : {"b":[[],{}]} , "c\"}" : -1.5e0 }"#,
            serde_json::json!({"": {"b": [[], {}]}, "c\"}": -1.5}),
        );
        check(
            r#"{"a\u0041":[null,true]}"#,
            serde_json::json!({"aA": [null, true]}),
        );
    }

    #[test]
    fn two_members_of_one_name() {
        for text in [
            r#"{"a":1,"a":1}"#,
            r#"[{"a":1,"\u0061":2}]"#,
            r#"{"\ud800":1,"\ud801":2}"#,
        ] {
            let raw = Raw::parse(text.as_bytes(), 128).unwrap();
            assert!(
                matches!(value(raw, 100), Err(Unusable::Duplicate(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn no_more_parts_than_allowed() {
        let raw = Raw::parse(br#"[{"a":1},2]"#, 8).unwrap();
        assert!(value(raw, 4).is_ok());
        assert!(matches!(value(raw, 3), Err(Unusable::Large)));
    }

    #[test]
    fn the_deepest_text() {
        let text = [[b'['; 128], [b']'; 128]].concat();
        let raw = Raw::parse(&text, 128).unwrap();
        assert!(value(raw, 1000).is_ok());
    }

    #[test]
    fn what_others_read_is_read_alike() {
        for text in [
            r#"[[],[[]],{},{"a":[{"b":null}]},"",1,-1,0.5,1E2,true,false,null]"#,
            r#"{"a":"\\","b":"\"","c":"\u00e9é","d":{"e":{"f":[1,[2,[3]]]}}}"#,
            "\n[\t1 ,\r2 ]\n",
        ] {
            let raw = Raw::parse(text.as_bytes(), 128).unwrap();
            let twin: Value = serde_json::from_str(text).unwrap();
            assert_eq!(value(raw, 100).unwrap(), twin, "{text}");
        }
    }
}
