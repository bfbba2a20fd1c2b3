//! Values as the validator takes them.

use mcp_proto::json::{Kind, Number, Raw};
use serde_json::{Map, Value};

/// Converts a checked value, which nests no deeper than the scanner allowed.
///
/// Every number is taken: one that is too large for a double is the largest of them, and one
/// that is too precise is rounded, as JavaScript would.
pub(super) fn value(raw: Raw<'_>, most: usize) -> Result<Value, Unusable> {
    Converter { left: most }.value(raw)
}

/// Why a value was not converted.
#[derive(Debug)]
pub(super) enum Unusable {
    /// Two members have one name. One reader takes the first, another the last: a value must
    /// not be checked by the one and used by the other.
    Duplicate(String),
    /// It has more parts than allowed.
    Large,
}

struct Converter {
    left: usize,
}

impl Converter {
    fn value(&mut self, raw: Raw<'_>) -> Result<Value, Unusable> {
        self.left = self.left.checked_sub(1).ok_or(Unusable::Large)?;
        Ok(match raw.kind() {
            Kind::Null => Value::Null,
            Kind::Bool => Value::Bool(raw.boolean().unwrap_or_default()),
            Kind::Number => raw.number().map_or(Value::Null, number),
            Kind::String => Value::String(raw.string().unwrap_or_default().to_cow().into_owned()),
            Kind::Array => {
                let mut array = Vec::new();
                for element in raw.array().unwrap_or_default().elements() {
                    array.push(self.value(element)?);
                }
                Value::Array(array)
            }
            Kind::Object => {
                let mut object = Map::new();
                for (name, member) in raw.object().unwrap_or_default().members() {
                    let name = name.to_cow().into_owned();
                    let member = self.value(member)?;
                    if object.contains_key(&name) {
                        return Err(Unusable::Duplicate(name));
                    }
                    object.insert(name, member);
                }
                Value::Object(object)
            }
        })
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
}
