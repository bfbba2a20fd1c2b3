//! Schemas of arguments and of structured content.

#![expect(dead_code, reason = "only the shapes of these types are asked for")]

use std::collections::BTreeMap;

use mcp_async::schema::{self, TypeError};
use mcp_proto::json::RawBuf;
use schemars::JsonSchema;

/// What it is about.
#[derive(JsonSchema)]
struct Forecast {
    city: String,
    days: Option<u8>,
}

#[derive(JsonSchema)]
struct Nothing {}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct StrictlyNothing {}

#[derive(JsonSchema)]
#[schemars(tag = "kind")]
enum Tagged {
    A { x: u8 },
    B { y: u8 },
}

#[derive(JsonSchema)]
struct Tree {
    children: Vec<Self>,
    parent: Option<Box<Self>>,
}

fn root(schema: &RawBuf, member: &str) -> Option<String> {
    let value = schema.as_raw().object().unwrap().get(member)?;
    Some(value.as_str().to_owned())
}

#[test]
fn arguments_are_an_object() {
    fn check<T: JsonSchema>() {
        let schema = schema::input::<T>().unwrap();
        assert_eq!(root(&schema, "type").as_deref(), Some("\"object\""));
        assert_eq!(root(&schema, "title"), None);
    }
    check::<Forecast>();
    check::<Nothing>();
    check::<Tagged>();
    check::<Tree>();
    check::<Option<Forecast>>();
    check::<Option<Box<Tree>>>();
    check::<BTreeMap<String, u8>>();
    check::<serde_json::Value>();
}

#[test]
fn what_else_is_said_of_arguments() {
    let schema = schema::input::<Forecast>().unwrap();
    let dialect = root(&schema, "$schema");
    let expected = "\"https://json-schema.org/draft/2020-12/schema\"";
    assert_eq!(dialect.as_deref(), Some(expected));
    let description = root(&schema, "description");
    assert_eq!(description.as_deref(), Some("\"What it is about.\""));

    #[derive(JsonSchema)]
    #[schemars(title = "My own")]
    struct Titled {
        a: u8,
    }
    let schema = schema::input::<Titled>().unwrap();
    assert_eq!(root(&schema, "title").as_deref(), Some("\"My own\""));
}

/// JSON Schema has no formats of numbers. Types of 64 bits have bounds that not every reader of
/// JSON can represent.
#[test]
fn numbers_have_bounds_and_no_formats() {
    #[derive(JsonSchema)]
    struct Numbers {
        a: i8,
        b: u16,
        c: i32,
        d: Option<u32>,
        e: u64,
        f: i64,
        g: f32,
        h: Vec<f64>,
        #[schemars(range(min = 1, max = 9))]
        i: u32,
        j: BTreeMap<String, usize>,
        k: (u8, i128),
        l: Tagged,
    }
    let expected = [
        r#""a":{"maximum":127,"minimum":-128,"type":"integer"}"#,
        r#""b":{"maximum":65535,"minimum":0,"type":"integer"}"#,
        r#""c":{"maximum":2147483647,"minimum":-2147483648,"type":"integer"}"#,
        r#""d":{"maximum":4294967295,"minimum":0,"type":["integer","null"]}"#,
        r#""e":{"minimum":0,"type":"integer"}"#,
        r#""f":{"type":"integer"}"#,
        r#""g":{"type":"number"}"#,
        r#""h":{"items":{"type":"number"},"type":"array"}"#,
        r#""i":{"maximum":9,"minimum":1,"type":"integer"}"#,
        r#""j":{"additionalProperties":{"minimum":0,"type":"integer"},"type":"object"}"#,
        r#""k":{"maxItems":2,"minItems":2,"prefixItems":[{"maximum":255,"minimum":0,"type":"integer"},{"type":"integer"}],"type":"array"}"#,
        r#""x":{"maximum":255,"minimum":0,"type":"integer"}"#,
    ];
    for schema in [schema::input::<Numbers>(), schema::output::<Numbers>()] {
        let schema = schema.unwrap();
        let text = schema.as_raw().as_str();
        for part in expected {
            assert!(text.contains(part), "{part} in {text}");
        }
        assert!(!text.contains("format"), "{text}");
    }
}

#[test]
fn no_arguments() {
    // TL-06 gives the text.
    fn check<T: JsonSchema>() {
        let expected = r#"{"type":"object","additionalProperties":false}"#;
        assert_eq!(schema::input::<T>().unwrap().as_raw().as_str(), expected);
    }
    check::<Nothing>();
    check::<StrictlyNothing>();
}

#[test]
fn what_is_no_object_has_no_names() {
    fn check<T: JsonSchema>() {
        assert_eq!(schema::input::<T>().unwrap_err(), TypeError::NotObject);
    }
    check::<String>();
    check::<()>();
    check::<Option<u8>>();
    check::<Vec<Forecast>>();
    check::<(Forecast, Forecast)>();
}

#[test]
fn content_may_be_anything() {
    fn check<T: JsonSchema>(kind: Option<&str>) {
        let schema = schema::output::<T>().unwrap();
        assert_eq!(root(&schema, "type").as_deref(), kind);
    }
    check::<Forecast>(Some("\"object\""));
    check::<Tagged>(Some("\"object\""));
    check::<Tree>(Some("\"object\""));
    check::<Vec<Forecast>>(Some("\"array\""));
    check::<u8>(Some("\"integer\""));
    check::<Option<Forecast>>(None);
    check::<serde_json::Value>(None);
}
