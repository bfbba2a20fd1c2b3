//! YAML as JSON, by the core schema of YAML 1.2, with bounds on depth and size.

use std::borrow::Cow;
use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

/// Reads a text of one document. The error is a text that says what is wrong, and where.
pub(crate) fn parse(text: &str) -> Result<Value, String> {
    let mut reader = Reader::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| error.to_string())?;
        reader
            .take(event)
            .map_err(|reason| format!("line {}: {reason}", span.start.line()))?;
    }
    Ok(reader.root.unwrap_or_default())
}

/// Builds a value of events, without recursion.
#[derive(Default)]
struct Reader {
    root: Option<Value>,
    /// The collections that are open.
    open: Vec<Collection>,
    /// The values that aliases stand for, by the numbers of their anchors.
    anchors: HashMap<usize, (Value, Measure)>,
    /// The weight of everything so far.
    weight: usize,
}

enum Collection {
    Sequence {
        anchor: usize,
        elements: Vec<Value>,
    },
    Mapping {
        anchor: usize,
        fields: Map<String, Value>,
        key: Option<String>,
    },
}

type Taken = Result<(), &'static str>;

impl Reader {
    fn take(&mut self, event: Event<'_>) -> Taken {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(text, style, tag.as_deref())?;
                self.value(value, anchor)
            }
            Event::SequenceStart(anchor, _) => self.open(Collection::Sequence {
                anchor,
                elements: Vec::new(),
            }),
            Event::MappingStart(anchor, _) => self.open(Collection::Mapping {
                anchor,
                fields: Map::new(),
                key: None,
            }),
            Event::SequenceEnd | Event::MappingEnd => match self.open.pop() {
                Some(Collection::Sequence { anchor, elements }) => {
                    self.value(Value::Array(elements), anchor)
                }
                Some(Collection::Mapping { anchor, fields, .. }) => {
                    self.value(Value::Object(fields), anchor)
                }
                None => Ok(()),
            },
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor);
                let (value, measure) = known.ok_or("an alias of something that is not complete")?;
                // Checked before the copy, whose cost it bounds.
                self.weight += measure.weight;
                if self.weight > MAX_WEIGHT {
                    return Err(TOO_LARGE);
                }
                if self.open.len() + measure.depth > MAX_DEPTH {
                    return Err(TOO_DEEP);
                }
                let value = value.clone();
                self.place(value)
            }
            Event::DocumentStart(_) if self.root.is_some() => Err("more than one document"),
            _ => Ok(()),
        }
    }

    fn open(&mut self, collection: Collection) -> Taken {
        if self.open.len() == MAX_DEPTH {
            return Err(TOO_DEEP);
        }
        if let Some(Collection::Mapping { key: None, .. }) = self.open.last() {
            return Err(NO_KEY);
        }
        self.open.push(collection);
        Ok(())
    }

    /// Takes a value that is complete.
    fn value(&mut self, value: Value, anchor: usize) -> Taken {
        self.weight += match &value {
            Value::String(text) => text.len() + 1,
            _ => 1,
        };
        if self.weight > MAX_WEIGHT {
            return Err(TOO_LARGE);
        }
        if anchor != 0 {
            let measure = Measure::of(&value);
            // Kept for each anchor, so it counts for each.
            self.weight += measure.weight;
            if self.weight > MAX_WEIGHT {
                return Err(TOO_LARGE);
            }
            self.anchors.insert(anchor, (value.clone(), measure));
        }
        self.place(value)
    }

    fn place(&mut self, value: Value) -> Taken {
        match self.open.last_mut() {
            None => self.root = Some(value),
            Some(Collection::Sequence { elements, .. }) => elements.push(value),
            Some(Collection::Mapping { fields, key, .. }) => match key.take() {
                None => *key = Some(key_of(value)?),
                Some(key) => {
                    if fields.insert(key, value).is_some() {
                        return Err("a key that stands twice");
                    }
                }
            },
        }
        Ok(())
    }
}

/// The name of a field: JSON has none that are no text.
fn key_of(value: Value) -> Result<String, &'static str> {
    match value {
        Value::String(text) => Ok(text),
        Value::Bool(_) | Value::Number(_) => Ok(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => Err(NO_KEY),
    }
}

fn scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<Value, &'static str> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => resolve(text),
            _ => Ok(text.into_owned().into()),
        };
    };
    let kind = match tag.is_yaml_core_schema() {
        true => &*tag.suffix,
        false => "str",
    };
    if !matches!(kind, "null" | "bool" | "int" | "float") {
        return Ok(text.into_owned().into());
    }
    let value = resolve(text)?;
    let fits = match kind {
        "null" => value.is_null(),
        "bool" => value.is_boolean(),
        "int" => value.is_i64() || value.is_u64(),
        _ => value.is_number(),
    };
    fits.then_some(value)
        .ok_or("a value that does not fit its tag")
}

/// Returns the value of a plain scalar in the core schema.
fn resolve(text: Cow<'_, str>) -> Result<Value, &'static str> {
    let value = match &*text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(true.into()),
        "false" | "False" | "FALSE" => Some(false.into()),
        plain => number(plain)?.map(Value::Number),
    };
    Ok(value.unwrap_or_else(|| text.into_owned().into()))
}

/// The number that a plain scalar is, if it is one.
fn number(text: &str) -> Result<Option<Number>, &'static str> {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") || matches!(text, ".nan" | ".NaN" | ".NAN") {
        return Err("a number that JSON does not have");
    }
    for (prefix, radix) in [("0o", 8), ("0x", 16)] {
        if let Some(rest) = text.strip_prefix(prefix)
            && !rest.is_empty()
            && rest.chars().all(|digit| digit.is_digit(radix))
        {
            let number = u64::from_str_radix(rest, radix);
            return number
                .map(|number| Some(number.into()))
                .map_err(|_| TOO_BIG);
        }
    }
    if digits(unsigned) {
        let text = text.strip_prefix('+').unwrap_or(text);
        let whole = text.parse::<i64>().map(Number::from);
        let whole = whole.or_else(|_| text.parse::<u64>().map(Number::from));
        if let Ok(whole) = whole {
            return Ok(Some(whole));
        }
    } else if !is_float(unsigned, digits) {
        return Ok(None);
    }
    let float = text.parse::<f64>().ok().and_then(Number::from_f64);
    float.map(Some).ok_or(TOO_BIG)
}

/// `[0-9]+(\.[0-9]*)?` or `\.[0-9]+`, and an exponent.
fn is_float(unsigned: &str, digits: impl Fn(&str) -> bool) -> bool {
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let whole = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    whole
        && exponent
            .is_none_or(|exponent| digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)))
}

/// The size of a value.
#[derive(Clone, Copy, Default)]
struct Measure {
    /// Its nodes, and the bytes of its texts.
    weight: usize,
    /// The levels to which its collections nest.
    depth: usize,
}

impl Measure {
    fn of(value: &Value) -> Self {
        match value {
            Value::String(text) => Self {
                weight: text.len() + 1,
                depth: 0,
            },
            Value::Array(elements) => Self::around(elements.iter(), 0),
            Value::Object(fields) => {
                Self::around(fields.values(), fields.keys().map(String::len).sum())
            }
            _ => Self {
                weight: 1,
                depth: 0,
            },
        }
    }

    /// A collection of these values; `keys` is the weight of its keys.
    fn around<'a>(values: impl Iterator<Item = &'a Value>, keys: usize) -> Self {
        values.map(Self::of).fold(
            Self {
                weight: keys + 1,
                depth: 1,
            },
            |sum, of| Self {
                weight: sum.weight + of.weight,
                depth: sum.depth.max(of.depth + 1),
            },
        )
    }
}

/// The levels to which collections may nest.
const MAX_DEPTH: usize = 32;
/// The nodes and bytes of text of a document together, with what aliases stand for.
const MAX_WEIGHT: usize = 256 << 10;

const TOO_DEEP: &str = "collections nest too deep";
const TOO_LARGE: &str = "aliases stand for too much";
const TOO_BIG: &str = "a number that is too big";
const NO_KEY: &str = "a key that is no text";

#[cfg(test)]
mod tests {
    use proptest::proptest;

    use super::*;

    fn check(yaml: &str, json: &str) {
        let expected: Value = serde_json::from_str(json).unwrap();
        assert_eq!(parse(yaml), Ok(expected), "{yaml}");
    }

    #[test]
    fn plain_scalars_follow_the_core_schema() {
        for (yaml, json) in [
            ("a: ", "null"),
            ("a: ~", "null"),
            ("a: TRUE", "true"),
            ("a: yes", "\"yes\""),
            ("a: on", "\"on\""),
            ("a: 2026-01-31", "\"2026-01-31\""),
            ("a: 12:30", "\"12:30\""),
            ("a: 017", "17"),
            ("a: 0o17", "15"),
            ("a: 0xff", "255"),
            ("a: 0x", "\"0x\""),
            ("a: +5", "5"),
            ("a: -5", "-5"),
            ("a: 18446744073709551615", "18446744073709551615"),
            ("a: 1.50", "1.5"),
            ("a: 1.", "1.0"),
            ("a: .5e-1", "0.05"),
            ("a: 1e3", "1000.0"),
            ("a: 1.2.3", "\"1.2.3\""),
            ("a: e3", "\"e3\""),
            ("a: .", "\".\""),
            ("a: '1'", "\"1\""),
            ("a: \"x\\u00e9\"", "\"xé\""),
            ("a: !!str 1", "\"1\""),
            ("a: !!float 1", "1"),
            ("a: !mine 1", "\"1\""),
            ("a: |\n  b\n  c\n", "\"b\\nc\\n\""),
            ("a: >-\n  b\n  c\n", "\"b c\""),
        ] {
            check(yaml, &format!("{{\"a\":{json}}}"));
        }
    }

    #[test]
    fn collections_and_aliases_are_read() {
        check("", "null");
        check(
            "a: &x [1, {b: c}]\nd: *x",
            r#"{"a":[1,{"b":"c"}],"d":[1,{"b":"c"}]}"#,
        );
        check("1: a\ntrue: b", r#"{"1":"a","true":"b"}"#);
        check(
            "metadata:\n  - a\n  - b: c\n",
            r#"{"metadata":["a",{"b":"c"}]}"#,
        );
        check("<<: a", r#"{"<<":"a"}"#);
    }

    fn refused(yaml: &str, reason: &str) {
        let error = parse(yaml).unwrap_err();
        assert!(
            error.contains(reason),
            "{error}: {}",
            &yaml[..yaml.len().min(80)]
        );
    }

    #[test]
    fn what_json_cannot_say_is_refused() {
        refused("a: .inf", "JSON does not have");
        refused("a: -.INF", "JSON does not have");
        refused("a: .nan", "JSON does not have");
        refused("a: 1e999", "too big");
        refused("a: 0xfffffffffffffffff", "too big");
        refused("a: 1\na: 2", "line 2: a key that stands twice");
        refused("? [a]\n: b", "no text");
        refused("~: b", "no text");
        refused("a: !!int x", "tag");
        refused("a: 1\n---\nb: 2", "more than one document");
        refused("a: [", "");
        refused("a: *b", "");
    }

    /// Aliases that double, nesting, and texts that many aliases repeat.
    #[test]
    fn bombs_are_refused() {
        let mut bomb = String::from("a0: &a0 [x]\n");
        for at in 1..40 {
            let one_before = at - 1;
            bomb += &format!("a{at}: &a{at} [*a{one_before}, *a{one_before}]\n");
        }
        refused(&bomb, "stand for too much");
        let text = "x".repeat(30_000);
        refused(
            &format!("a: &a {text}\nb: [{}]", "*a,".repeat(1000)),
            "stand for too much",
        );
        refused(&format!("a: {}", "[".repeat(200)), "nest too deep");
        refused(&format!("a: {}", "{b: ".repeat(200)), "nest too deep");
        let mut deep = String::from("a0: &a0 [x]\n");
        for at in 1..2000 {
            deep += &format!("a{at}: &a{at} [*a{}]\n", at - 1);
        }
        refused(&deep, "nest too deep");
        refused("a: &a [*a]", "");
    }

    proptest! {
        /// Texts of the characters that mean something in YAML.
        #[test]
        fn no_text_panics(text in r#"[-?:,\[\]{}#&*!|>'"%@` \t\n\r0-9a-c~.<é\u{feff}\u{0}]{0,60}"#) {
            let _ = parse(&text);
        }
    }

    /// As long as frontmatter may be, each in a fraction of a second.
    #[test]
    fn long_texts_of_one_kind_are_read_in_time() {
        let began = std::time::Instant::now();
        for part in [
            "? ", "- ", ": ", "a: ", "[", "{", "]", "&a ", "*a ", "!", "!a ", "\"", "'", "|\n",
            ">", "#", "\n", " ", "\t", "%", "---\n", "- a\n", "a: b\n ", "[a, ", "{a: ", "\r",
            "a\n  b\n", "\\", "@",
        ] {
            let _ = parse(&part.repeat((64 << 10) / part.len()));
        }
        assert!(began.elapsed() < core::time::Duration::from_secs(20));
    }
}
