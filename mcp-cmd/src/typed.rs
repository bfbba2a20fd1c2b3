//! From words to the arguments of a tool, as its schema types them.

use super::fields::{Fields, Value};
use super::json::Members;
use super::words::Word;
use mcp_tokio::json::{Raw, RawBuf};

/// Returns whether the words can be understood without the tool's schema.
pub(crate) fn is_whole(words: &[Word]) -> bool {
    words.iter().any(|word| matches!(word, Word::All(_)))
}

/// The arguments that the words say, typed by the schema of the tool. A whole object goes as it
/// is: what is wrong with it is for the server to say.
///
/// # Errors
///
/// Names the argument that does not fit, is unknown or missing.
pub(crate) fn arguments(words: Vec<Word>, schema: Raw<'_>) -> Result<RawBuf, String> {
    if is_whole(&words) {
        return whole(words);
    }
    let fields = Fields::of(schema);
    let mut arguments = Members::default();
    let mut lists: Vec<(String, Vec<RawBuf>)> = Vec::new();
    for word in words {
        let (key, value) = match word {
            Word::All(_) => continue,
            Word::Json { key, value } => (key, Value::Whole(value)),
            Word::Text { key, text } => {
                let value = fields.value(&key, &text)?;
                (key, value)
            }
        };
        let list = lists.iter_mut().find(|(name, _)| *name == key);
        match (value, list) {
            (Value::Element(value), Some((_, list))) => list.push(value),
            (Value::Element(value), None) if arguments.get(&key).is_none() => {
                lists.push((key, vec![value]));
            }
            (Value::Whole(value), None) if arguments.get(&key).is_none() => {
                arguments.put(&key, value);
            }
            _ => return Err(format!("{key} is given twice")),
        }
    }
    for (key, list) in lists {
        let list = RawBuf::encode(&list).map_err(|error| error.to_string())?;
        arguments.put(&key, list);
    }
    let required = fields.required().into_iter();
    let missing: Vec<String> = required
        .filter(|name| arguments.get(name).is_none())
        .collect();
    if !missing.is_empty() {
        return Err(format!(
            "missing: {}; it takes {}",
            missing.join(", "),
            fields.usage()
        ));
    }
    arguments.object().map_err(|error| error.to_string())
}

fn whole(words: Vec<Word>) -> Result<RawBuf, String> {
    let mut words = words.into_iter();
    match (words.next(), words.next()) {
        (Some(Word::All(object)), None) => Ok(object),
        _ => Err("a JSON object says all arguments: nothing goes beside it".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::words;
    use super::*;

    const SCHEMA: &str = r##"{
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer"},
            "scale": {"type": "number"},
            "exact": {"type": "boolean"},
            "unit": {"$ref": "#/$defs/Unit"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "sizes": {"type": ["array", "null"], "items": {"type": "integer"}},
            "options": {"type": "object"},
            "note": {"type": ["string", "null"]},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "either": {"type": ["string", "integer"]},
            "anything": {}
        },
        "required": ["city"],
        "additionalProperties": false,
        "$defs": {"Unit": {"type": "string", "enum": ["celsius", "kelvin"]}}
    }"##;

    fn read(schema: &str, given: &[&str]) -> Result<String, String> {
        let given: Vec<String> = given.iter().map(|&word| word.to_owned()).collect();
        let words = words::parse(&given, std::io::empty()).unwrap();
        let schema = RawBuf::parse(schema).unwrap();
        let arguments = arguments(words, schema.as_raw())?;
        Ok(arguments.as_raw().as_str().to_owned())
    }

    #[test]
    fn values_become_what_the_schema_says() {
        let check = |word: &str, expected: &str| {
            let found = read(SCHEMA, &["city=Kyoto", word]).unwrap();
            assert_eq!(
                found,
                format!("{{\"city\":\"Kyoto\",{expected}}}"),
                "{word}"
            );
        };
        check("days=3", r#""days":3"#);
        check("days=-0", r#""days":-0"#);
        check("scale=1e400", r#""scale":1e400"#);
        check("exact=false", r#""exact":false"#);
        check("unit=kelvin", r#""unit":"kelvin""#);
        check("tags=12", r#""tags":["12"]"#);
        check("tags=[\"a\",\"b\"]", r#""tags":["a","b"]"#);
        check("sizes=1", r#""sizes":[1]"#);
        check("sizes=null", r#""sizes":null"#);
        check("options={\"a\":[]}", r#""options":{"a":[]}"#);
        check("note=null", r#""note":"null""#);
        check("note:=null", r#""note":null"#);
        check("limit=null", r#""limit":null"#);
        check("limit=7", r#""limit":7"#);
        check("either=7", r#""either":7"#);
        check("either=7a", r#""either":"7a""#);
        check("anything=7", r#""anything":7"#);
        check("anything=[", r#""anything":"[""#);
        // What is said as JSON is not looked at.
        check("days:=\"many\"", r#""days":"many""#);
        check("other:=1", r#""other":1"#);
    }

    #[test]
    fn a_list_grows_word_by_word() {
        let found = read(SCHEMA, &["tags=a", "city=Kyoto", "tags=b"]);
        assert_eq!(found.unwrap(), r#"{"city":"Kyoto","tags":["a","b"]}"#);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let check = |given: &[&str], expected: &str| {
            let found = read(SCHEMA, given).unwrap_err();
            assert!(found.contains(expected), "{given:?}: {found}");
        };
        check(&["days=soon"], "days: `soon` is no integer");
        check(&["days=1.5"], "days: `1.5` is no integer");
        check(&["scale=.5"], "scale: `.5` is no number");
        check(&["exact=yes"], "exact: `yes` is no boolean");
        check(
            &["unit=rankine"],
            "unit: `rankine` is none of celsius, kelvin",
        );
        check(&["sizes=x"], "sizes: `x` is no integer");
        check(&["tags=[1"], "tags: `[1` is no JSON array");
        check(&["options=1"], "options: `1` is no JSON object");
        check(&["limit=x"], "limit: `x` is no integer or null");
        check(
            &["town=Kyoto"],
            "there is no argument town; it takes city=STRING [days=INTEGER]",
        );
        check(&["city=a", "city=b"], "city is given twice");
        check(&["city=a", "city:=\"b\""], "city is given twice");
        check(&["tags:=[]", "tags=b"], "tags is given twice");
        check(&["days=1"], "missing: city; it takes city=STRING");
        check(&[], "missing: city; it takes city=STRING");
        check(&["{}", "city=a"], "nothing goes beside it");
    }

    #[test]
    fn a_whole_object_goes_as_it_is() {
        assert_eq!(
            read(SCHEMA, &["{\"days\" : \"x\"}"]).unwrap(),
            "{\"days\" : \"x\"}"
        );
        assert_eq!(read("{}", &[]).unwrap(), "{}");
    }

    #[test]
    fn a_schema_that_says_little() {
        let check = |schema: &str, word: &str, expected: &str| {
            assert_eq!(read(schema, &[word]).unwrap(), expected, "{schema}");
        };
        check("{}", "a=1", r#"{"a":1}"#);
        check("{}", "a=x", r#"{"a":"x"}"#);
        check("{}", "a=tru", r#"{"a":"tru"}"#);
        check(
            r#"{"additionalProperties":{"type":"string"}}"#,
            "a=1",
            r#"{"a":"1"}"#,
        );
        check(r#"{"properties":{"a":true}}"#, "b=null", r#"{"b":null}"#);
    }
}
