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
