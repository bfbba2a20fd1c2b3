//! Tests of the assertions that are enforced without the feature `schema`, and of the schemas with
//! which a tool is not registered then.

use std::collections::{BTreeMap, BTreeSet};

use mcp_proto::json::{Raw, RawBuf};
use schemars::JsonSchema;

use super::Assertions;
use crate::schema::{PublishError, ToolSchema};

fn raw(text: &str) -> Raw<'_> {
    Raw::parse(text.as_bytes(), 128).unwrap()
}

fn written(schema: &str) -> Result<Option<Assertions>, PublishError> {
    let schema = ToolSchema::from(RawBuf::parse(schema).unwrap());
    Assertions::of(&schema, "/inputSchema", true)
}

/// A value of a schema that was written by hand, and what is wrong with it.
#[track_caller]
fn check(schema: &str, value: &str, expected: &str) {
    let assertions = written(schema)
        .unwrap()
        .expect("there is something to check");
    let found = assertions.check(raw(value)).map_err(|it| it.to_string());
    assert_eq!(
        found.err().unwrap_or_default(),
        expected,
        "{schema} {value}"
    );
}

#[track_caller]
fn check_typed<T: JsonSchema>(value: &str, expected: &str) {
    let schema = ToolSchema::input::<T>().unwrap();
    let assertions = Assertions::of(&schema, "/inputSchema", true).unwrap();
    let assertions = assertions.expect("there is something to check");
    let found = assertions.check(raw(value)).map_err(|it| it.to_string());
    assert_eq!(found.err().unwrap_or_default(), expected, "{value}");
}

/// Nothing is left to check once a value was decoded.
#[track_caller]
fn check_free<T: JsonSchema>() {
    let schema = ToolSchema::output::<T>().unwrap();
    let assertions = Assertions::of(&schema, "/outputSchema", true).unwrap();
    assert!(assertions.is_none(), "{assertions:?}");
}

#[track_caller]
fn check_refused(assertions: Result<Option<Assertions>, PublishError>, expected: &str) {
    assert_eq!(assertions.unwrap_err().to_string(), expected);
}

#[test]
fn structure_that_was_written_by_hand() {
    let schema = r##"{"type":"object","title":"T","x-own":1,"required":["a"],
        "properties":{"a":{"type":["integer","null"]},"b":{"enum":["x",1,null,true]},
        "c":{"$ref":"#/$defs/c"},"d/":{"const":"y"}},"additionalProperties":false,
        "$defs":{"c":{"type":"array","items":{"type":"string"},"default":[1]}}}"##;
    check(schema, r#"{"a":1,"b":1.0,"c":["z"],"d/":"y"}"#, "");
    check(schema, r#"{"a":null,"b":null}"#, "");
    check(schema, r#"{"a":2.0,"b":true}"#, "");
    check(schema, "{}", "missing member `a`");
    check(schema, "[]", "expected object, found array");
    check(
        schema,
        r#"{"a":1.5}"#,
        "a: expected integer or null, found number",
    );
    check(
        schema,
        r#"{"a":1,"b":2}"#,
        "b: expected one of \"x\", 1, null, true",
    );
    check(
        schema,
        r#"{"a":1,"b":[]}"#,
        "b: expected one of \"x\", 1, null, true",
    );
    check(
        schema,
        r#"{"a":1,"c":["z",1]}"#,
        "c[1]: expected string, found number",
    );
    check(schema, r#"{"a":1,"d/":1}"#, "d/: expected one of \"y\"");
    check(schema, r#"{"a":1,"e":1}"#, "unknown member `e`");
    check(
        r#"{"type":"object","additionalProperties":{"type":"boolean"}}"#,
        r#"{"x":1}"#,
        "x: expected boolean, found number",
    );
}

#[test]
fn bounds() {
    let schema = r#"{"properties":{
        "n":{"minimum":-1,"exclusiveMaximum":2.5},"m":{"exclusiveMinimum":0,"maximum":18446744073709551615},
        "s":{"minLength":2,"maxLength":3},"f":{"format":"date"},
        "l":{"minItems":1,"maxItems":2,"uniqueItems":true,"prefixItems":[{"maximum":1}],"items":{"minimum":5}},
        "o":{"minProperties":1,"maxProperties":1}}}"#;
    for fits in [
        r#"{"n":-1,"m":18446744073709551615,"s":"\u00e4b","f":"2026-07-28","l":[1,5],"o":{"a":1}}"#,
        r#"{"n":2.4,"m":1e-9,"s":3,"f":3,"l":[-7],"o":[]}"#,
        "7",
    ] {
        check(schema, fits, "");
    }
    for (value, expected) in [
        (r#"{"n":-2}"#, "n: expected at least -1"),
        (r#"{"n":2.5}"#, "n: expected less than 2.5"),
        (r#"{"m":0}"#, "m: expected greater than 0"),
        (
            r#"{"m":18446744073709551616}"#,
            "m: expected at most 18446744073709551615",
        ),
        (r#"{"s":"a"}"#, "s: expected at least 2 characters, found 1"),
        (
            r#"{"s":"abcd"}"#,
            "s: expected at most 3 characters, found 4",
        ),
        (r#"{"f":"today"}"#, "f: expected the format date"),
        (r#"{"l":[]}"#, "l: expected at least 1 elements, found 0"),
        (
            r#"{"l":[1,5,6]}"#,
            "l: expected at most 2 elements, found 3",
        ),
        (r#"{"l":[2]}"#, "l[0]: expected at most 1"),
        (r#"{"l":[1,4]}"#, "l[1]: expected at least 5"),
        (r#"{"l":[1,1.0]}"#, "l: expected distinct elements"),
        (
            r#"{"l":[{"a":1,"b":[]},{"b":[],"\u0061":1e0}]}"#,
            "l: expected distinct elements",
        ),
        (r#"{"o":{}}"#, "o: expected at least 1 members, found 0"),
    ] {
        check(schema, value, expected);
    }
}

/// Numbers are compared by value, whatever their spelling.
#[test]
fn numbers_that_a_double_does_not_tell_apart() {
    let choice = r#"{"enum":[9007199254740993]}"#;
    check(choice, "9007199254740993", "");
    check(
        choice,
        "9007199254740992.0",
        "expected one of 9007199254740993",
    );
    check(
        r#"{"exclusiveMaximum":9007199254740993}"#,
        "9007199254740992.0",
        "",
    );
    check(
        r#"{"const":1.8446744073709552e19}"#,
        "18446744073709551615",
        "expected one of 18446744073709551616",
    );
    // A schema has no more of it than its double.
    check(
        r#"{"maximum":18446744073709551617}"#,
        "18446744073709551617",
        "",
    );
    let distinct = r#"{"uniqueItems":true}"#;
    check(distinct, "[0,-0.0]", "expected distinct elements");
    check(distinct, "[9007199254740993,9007199254740992.0]", "");
}

#[test]
fn members_that_assert_nothing_are_not_among_the_others() {
    for any in ["{}", "true", r#"{"title":"A"}"#] {
        let schema = format!(
            r#"{{"properties":{{"a":{any}}},"additionalProperties":{{"type":"integer"}}}}"#
        );
        check(&schema, r#"{"a":"x","b":1}"#, "");
        check(&schema, r#"{"b":"x"}"#, "b: expected integer, found string");
    }
}

#[test]
fn what_needs_the_validator_is_not_registered() {
    let only = |keyword: &str, place: &str| {
        format!("only the cargo feature `schema` enforces `{keyword}` at {place}")
    };
    for (field, keyword) in [
        (r#"{"pattern":"^a$"}"#, "pattern"),
        (r#"{"multipleOf":5}"#, "multipleOf"),
        (r#"{"format":"hostname"}"#, "format"),
        (r#"{"not":{}}"#, "not"),
        (r#"{"oneOf":[{"type":"string"}]}"#, "oneOf"),
        (r#"{"anyOf":[{"type":"string"},{"type":"array"}]}"#, "anyOf"),
        (r#"{"if":{}}"#, "if"),
        (r#"{"enum":[[]]}"#, "enum"),
        (r#"{"patternProperties":{}}"#, "patternProperties"),
        (r#"{"contains":{}}"#, "contains"),
        (r#"{"$id":"https://a.example"}"#, "$id"),
        (r#"{"$ref":"https://a.example"}"#, "$ref"),
        (r##"{"$ref":"#/$defs/none"}"##, "$ref"),
        (r##"{"$ref":"#anchor"}"##, "$ref"),
        (r##"{"$dynamicRef":"#a"}"##, "$dynamicRef"),
        (r#"{"minimum":"1"}"#, "minimum"),
    ] {
        let schema = format!(r#"{{"type":"object","properties":{{"a":{field}}}}}"#);
        check_refused(
            written(&schema),
            &only(keyword, "/inputSchema/properties/a"),
        );
    }
    check_refused(
        written(r#"{"$schema":"http://json-schema.org/draft-07/schema#"}"#),
        &only("$schema", "/inputSchema"),
    );
    check_refused(
        written(r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}"##),
        &only("$ref", "/inputSchema"),
    );
    check_refused(
        written(r#"{"properties":{"a":{"format":"idn-email"}}}"#),
        "nothing enforces `format` at /inputSchema/properties/a",
    );
    check_refused(
        written(r#"{"type":"object","type":"array"}"#),
        "/inputSchema has two members named `type`",
    );
    check_refused(written("[]"), "/inputSchema is not the schema of an object");
    let none = written(r#"{"title":"T","format":"markdown","properties":{"a":true}}"#);
    assert!(none.unwrap().is_none());
}

#[test]
fn a_schema_that_refers_to_itself() {
    let schema = r##"{"type":"object","properties":{"name":{"maxLength":2},
        "children":{"items":{"$ref":"#"}},"parent":{"anyOf":[{"$ref":"#"},{"type":"null"}]}}}"##;
    check(schema, r#"{"children":[{"name":"ab","parent":null}]}"#, "");
    check(
        schema,
        r#"{"children":[{},{"parent":{"name":"abc"}}]}"#,
        "children[1].parent.name: expected at most 2 characters, found 3",
    );
    let deep = ["{\"parent\":".repeat(100), "null".into(), "}".repeat(100)].concat();
    check(schema, &deep, "");
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is asked for")]
struct Address {
    #[schemars(length(max = 3))]
    city: String,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is asked for")]
enum Choice {
    A { x: u8, y: (u8, i32) },
    B(Option<Box<Free>>),
    C,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its shape is asked for")]
struct Free {
    a: u8,
    b: Option<i32>,
    c: Vec<u64>,
    d: f64,
    e: BTreeMap<u8, Choice>,
    f: core::num::NonZeroI32,
    g: (u8, u16),
    h: String,
    i: Option<Box<Self>>,
    #[serde(flatten)]
    j: BTreeMap<String, bool>,
}

/// A result of such a type is not looked at again.
#[test]
fn decoding_enforces_what_the_type_says() {
    check_free::<Free>();
    check_free::<Vec<Free>>();
    check_free::<Option<Choice>>();
    check_free::<serde_json::Value>();
}

#[test]
fn attributes_say_more_than_the_type() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct More {
        #[schemars(range(min = 1, max = 9))]
        count: Option<u32>,
        // The bounds of another type are no bounds of this one.
        #[schemars(range(min = 0, max = 255))]
        byte: u32,
        #[schemars(email)]
        mail: Option<String>,
        home: Address,
        job: Option<Address>,
        all: Vec<Address>,
        set: BTreeSet<u8>,
        named: BTreeMap<String, Address>,
    }
    check_typed::<More>(r#"{"count":1,"byte":255,"mail":null,"job":null}"#, "");
    // Decoding tells of what is of another type or missing.
    check_typed::<More>(r#"{"count":"1","home":[]}"#, "");
    for (value, expected) in [
        (r#"{"count":0}"#, "count: expected at least 1"),
        (r#"{"byte":256}"#, "byte: expected at most 255"),
        (r#"{"mail":"ada"}"#, "mail: expected the format email"),
        (
            r#"{"home":{"city":"long"}}"#,
            "home.city: expected at most 3 characters, found 4",
        ),
        (
            r#"{"job":{"city":"long"}}"#,
            "job.city: expected at most 3 characters, found 4",
        ),
        (
            r#"{"all":[{"city":"long"}]}"#,
            "all[0].city: expected at most 3 characters, found 4",
        ),
        (r#"{"set":[1,1]}"#, "set: expected distinct elements"),
        (
            r#"{"named":{"a/b":{"city":"long"}}}"#,
            "named.a/b.city: expected at most 3 characters, found 4",
        ),
    ] {
        check_typed::<More>(value, expected);
    }
    // TL-06: a type without fields is published as what takes no arguments.
    #[derive(JsonSchema)]
    struct Nothing {}
    check_typed::<Nothing>("{}", "");
    check_typed::<Nothing>(r#"{"a":1}"#, "unknown member `a`");
}

/// Which variant a value is of is not found out here.
#[test]
fn bounds_of_variants_need_the_validator() {
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    #[serde(tag = "kind")]
    enum Tagged {
        A {
            #[schemars(length(min = 2))]
            x: String,
        },
        B,
    }
    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    enum Either {
        One(Address),
        Other(u8),
    }
    let check = |schema: Result<ToolSchema, _>, expected: &str| {
        let found = Assertions::of(&schema.unwrap(), "/inputSchema", true);
        let text = found.unwrap_err().to_string();
        assert_eq!(
            text,
            format!("only the cargo feature `schema` enforces {expected}")
        );
    };
    check(
        ToolSchema::input::<Tagged>(),
        "`minLength` at /inputSchema/oneOf/0/properties/x",
    );
    check(
        ToolSchema::input::<Either>(),
        "`maxLength` at /inputSchema/$defs/Address/properties/city",
    );
}
