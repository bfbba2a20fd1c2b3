//! The own rules and the validator have the same verdicts.

use mcp_proto::json::{Raw, RawBuf};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::Assertions;
use crate::schema::{Enforcer, PublishError, ToolSchema, whole};

/// Texts of numbers, among them several of one number.
const NUMBERS: [&str; 24] = [
    "0",
    "-0",
    "-0.0",
    "1",
    "1.0",
    "1e0",
    "10e-1",
    "-1",
    "2",
    "1.5",
    "15e-1",
    "0.1",
    "0.10",
    "1e-400",
    "1e400",
    "2e400",
    "-1e400",
    "9007199254740992",
    "9007199254740993",
    "9007199254740992.0",
    "18446744073709551615",
    "18446744073709551616",
    "1.8446744073709552e19",
    "340282366920938463463374607431768211456",
];

/// Texts of strings, with the same ones spelled differently.
const STRINGS: [&str; 10] = [
    r#""""#,
    r#""a""#,
    r#""\u0061""#,
    r#""é""#,
    r#""e\u0301""#,
    r#""😀""#,
    r#""\ud83d\ude00""#,
    r#""ab""#,
    r#""127.0.0.1""#,
    r#""2026-07-28""#,
];

fn scalar() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(&NUMBERS[..]).prop_map(str::to_owned),
        2 => select(&STRINGS[..]).prop_map(str::to_owned),
        1 => select(&["null", "true", "false"][..]).prop_map(str::to_owned),
    ]
}

/// A value, as text.
fn value() -> impl Strategy<Value = String> {
    scalar().prop_recursive(2, 8, 3, |inner| {
        let member = (select(&["a", "b", "c"][..]), inner.clone());
        let object = vec(member, 0..3).prop_map(|members| {
            let mut known = Vec::new();
            let members = members.iter().filter(|(name, _)| {
                let is_new = !known.contains(name);
                known.push(*name);
                is_new
            });
            let members = members.map(|(name, value)| format!("\"{name}\":{value}"));
            format!("{{{}}}", members.collect::<Vec<_>>().join(","))
        });
        let array = vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![array, object]
    })
}

fn number() -> impl Strategy<Value = Value> {
    let numbers = [
        json!(0),
        json!(-0.0),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_992.0),
        json!(9_007_199_254_740_993_u64),
        json!(u64::MAX),
        json!(18_446_744_073_709_551_616.0),
        json!(1e308),
    ];
    select(numbers.to_vec())
}

fn chosen() -> impl Strategy<Value = Value> {
    let others = [json!(null), json!(true), json!("a"), json!("é"), json!("")];
    prop_oneof![number(), select(others.to_vec())]
}

/// One keyword and its value; `inner` makes schemas.
fn keyword(inner: BoxedStrategy<Value>) -> BoxedStrategy<(&'static str, Value)> {
    let types = [
        "null", "boolean", "integer", "number", "string", "array", "object",
    ];
    let kinds = || select(types.to_vec()).prop_map(|kind| json!(kind));
    let pair = |name: &'static str| move |value: Value| (name, value);
    let bounds = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"];
    let counts = [
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "minProperties",
        "maxProperties",
    ];
    let formats = ["email", "uri", "date", "date-time", "ipv4", "ipv6", "uuid"];
    let simple = prop_oneof![
        kinds().prop_map(pair("type")),
        vec(kinds(), 0..3).prop_map(|kinds| ("type", json!(kinds))),
        vec(chosen(), 0..3).prop_map(|values| ("enum", json!(values))),
        chosen().prop_map(pair("const")),
        (select(bounds.to_vec()), number()),
        (
            select(counts.to_vec()),
            (0..3).prop_map(|count| json!(count))
        ),
        any::<bool>().prop_map(|unique| ("uniqueItems", json!(unique))),
        vec(select(vec!["a", "b"]), 0..3).prop_map(|names| ("required", json!(names))),
        select(formats.to_vec()).prop_map(|format| ("format", json!(format))),
        Just(("$ref", json!("#/$defs/d"))),
        Just(("title", json!("T"))),
    ];
    let several = vec((select(vec!["a", "b"]), inner.clone()), 0..3);
    let compound = prop_oneof![
        several.prop_map(|members| {
            let members = members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value));
            ("properties", Value::Object(members.collect()))
        }),
        inner.clone().prop_map(pair("additionalProperties")),
        inner.clone().prop_map(pair("items")),
        vec(inner.clone(), 1..3).prop_map(|items| ("prefixItems", json!(items))),
        inner
            .clone()
            .prop_map(|arm| ("anyOf", json!([arm, {"type": "null"}]))),
        inner.prop_map(|arm| ("allOf", json!([arm]))),
    ];
    prop_oneof![1 => simple, 1 => compound].boxed()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => Just(json!({})),
        1 => Just(json!(true)),
        1 => Just(json!(false)),
    ];
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        vec(keyword(inner.boxed()), 0..3)
            .prop_map(|keywords| {
                let keywords = keywords
                    .into_iter()
                    .map(|(name, value)| (name.to_owned(), value));
                Value::Object(keywords.collect::<Map<_, _>>())
            })
            .boxed()
    });
    (vec(keyword(inner.clone().boxed()), 1..4), inner).prop_map(|(keywords, target)| {
        let mut root = Map::new();
        for (name, value) in keywords {
            root.insert(name.to_owned(), value);
        }
        root.insert("$defs".to_owned(), json!({"d": target}));
        Value::Object(root)
    })
}

/// Returns how the two differ. There is no second verdict where the validator refuses the schema: it is not a schema, or a
/// definition that no value reaches is a circle.
fn difference(schema: &Value, value: &str) -> Option<String> {
    let schema = ToolSchema::from(RawBuf::parse(&*schema.to_string()).unwrap());
    let own = Assertions::of(&schema, "/inputSchema", false).ok()?;
    let validator = whole::compile(&schema, "/inputSchema").ok()?;
    let value = Raw::parse(value.as_bytes(), 128).unwrap();
    let own = own.map_or(Ok(()), |own| own.check(value).map_err(|it| it.to_string()));
    let other = validator.check(value).map_err(|it| it.to_string());
    (own.is_ok() != other.is_ok()).then(|| format!("{own:?} {other:?}"))
}

/// Own rules would read these, and take no notice of what is wrong.
#[test]
fn what_is_no_schema_is_refused() {
    for schema in [
        r#"{"properties":{"a":"string"}}"#,
        r#"{"properties":{"a":{"anyOf":[{"type":"null"},"string"]}}}"#,
        r#"{"type":"object","title":5}"#,
        r#"{"type":[]}"#,
        r#"{"required":["a","a"]}"#,
        r#"{"$defs":{"a":{"type":"text"}}}"#,
    ] {
        let schema = ToolSchema::from(RawBuf::parse(schema).unwrap());
        let enforcer = Enforcer::of(&schema, "/inputSchema").map(drop);
        let error = enforcer.unwrap_err();
        assert!(matches!(error, PublishError::Refused { .. }), "{error:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(200)
    })]

    #[test]
    fn own_rules_and_the_validator_agree(schema in schema(), values in vec(value(), 20)) {
        for value in values {
            prop_assert_eq!(difference(&schema, &value), None, "{} {}", schema, value);
        }
    }
}
