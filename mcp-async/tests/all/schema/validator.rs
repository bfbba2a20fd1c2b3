//! What passes, what does not, and what is said then.

use mcp_async::schema::{SchemaError, SchemaLimits, Validator};
use mcp_proto::json::Raw;

use crate::texts::rows;

fn raw(text: &str) -> Raw<'_> {
    Raw::parse(text.as_bytes(), 128).unwrap()
}

fn check(schema: &str, value: &str, expected: Result<(), &str>) {
    let validator = Validator::compile(raw(schema)).unwrap();
    let found = validator.check(raw(value));
    let found = found.map_err(|violation| violation.to_string());
    assert_eq!(
        found.as_ref().copied().map_err(String::as_str),
        expected,
        "{schema} {value}"
    );
}

/// Checks the schema and the value of each row; the last cell is empty if the value fits.
fn check_rows(table: &str) {
    for [schema, value, text] in rows(table) {
        check(
            schema,
            value,
            if text.is_empty() { Ok(()) } else { Err(text) },
        );
    }
}

#[test]
fn what_fits_and_what_does_not() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"items":{"enum":["x",1]}}},"required":["a"],"additionalProperties":false}"#;
    let values = r#"
        SCHEMA | {"a":1,"b":["x",1.0]}  |
        SCHEMA | {"a":1.5}              | a: expected integer, found number
        SCHEMA | {}                     | missing member `a`
        SCHEMA | {"a":1,"b":["x","y"]}  | b[1]: expected one of "x", 1
        SCHEMA | {"a":1,"c":1}          | unknown member `c`
        SCHEMA | []                     | expected object, found array
    "#;
    check_rows(&values.replace("SCHEMA", schema));
    check_rows(
        r#"
        true                   | []     |
        false                  | []     | expected no such value
        {}                     | 1e400  |
        {"maximum":10}         | 1e400  | expected at most 10
        {"type":"integer"}     | 1e400  |
        "#,
    );
    // A path with names that a pointer escapes.
    check_rows(
        r#"{"properties":{"a/b~":{"type":"null"}}} | {"a/b~":1} | a/b~: expected null, found number"#,
    );
}

#[test]
fn the_text_of_a_value_is_not_repeated() {
    let validator = Validator::compile(raw(r#"{"items":{"type":"integer"}}"#)).unwrap();
    let violation = validator.check(raw(r#"["secret"]"#)).unwrap_err();
    assert!(!violation.to_string().contains("secret"));
    assert_eq!((violation.path(), violation.is_limit()), ("/0", false));
}

#[test]
fn one_name_twice() {
    check_rows(r#"{"type":"object"} | {"a":1,"\u0061":2} | member `a` stands twice"#);
    let error = Validator::compile(raw(r#"{"type":"object","type":"array"}"#)).unwrap_err();
    assert_eq!(error, SchemaError::Duplicate("type".to_owned()));
}

/// JR-37, JR-38.
#[test]
fn dialects() {
    let check = |dialect: &str, items: &str, fits: bool| {
        let schema = format!(r#"{{"$schema":"{dialect}","items":[{{"type":"null"}}],{items}}}"#);
        let found = Validator::compile(raw(&schema))
            .map(|validator| validator.check(raw("[null,1]")).is_ok());
        assert_eq!(found, Ok(fits), "{schema}");
    };
    for dialect in [
        "https://json-schema.org/draft/2019-09/schema",
        "http://json-schema.org/draft-07/schema#",
        "http://json-schema.org/draft-06/schema#",
        "http://json-schema.org/draft-04/schema#",
    ] {
        check(dialect, r#""additionalItems":{"type":"string"}"#, false);
        check(dialect, r#""additionalItems":{"type":"number"}"#, true);
    }
    // A list of items is of older dialects, and 2020-12 is the one that nobody names (JR-37).
    assert!(matches!(
        Validator::compile(raw(r#"{"items":[true]}"#)).unwrap_err(),
        SchemaError::Invalid(_)
    ));
    for dialect in [
        "",
        r#""$schema":"https://json-schema.org/draft/2020-12/schema","#,
    ] {
        let schema = format!(r#"{{{dialect}"prefixItems":[{{"type":"null"}}]}}"#);
        let validator = Validator::compile(raw(&schema)).unwrap();
        assert_eq!(validator.check(raw("[1]")).unwrap_err().path(), "/0");
    }
}

/// JR-38.
#[test]
fn unknown_dialects() {
    for [schema, dialect] in rows(
        r#"
        {"$schema":"https://example.com/own"}                 | https://example.com/own
        {"$schema":"http://json-schema.org/draft-03/schema#"} | http://json-schema.org/draft-03/schema#
        {"properties":{"a":{"$schema":"http://json-schema.org/draft-07/schema#"}}} | http://json-schema.org/draft-07/schema#
        "#,
    ) {
        let error = Validator::compile(raw(schema)).unwrap_err();
        assert_eq!(error, SchemaError::Dialect(dialect.to_owned()));
        assert!(error.to_string().contains("dialect"));
    }
}

#[test]
fn references() {
    let defs = r##""$defs":{"a":{"$anchor":"x","type":"integer"},"b":{"$id":"https://a.example/b","$defs":{"c":{"type":"integer"}},"$ref":"#/$defs/c"}}"##;
    for reference in [
        "#/$defs/a",
        "#x",
        "https://a.example/b",
        "https://a.example/b#/$defs/c",
        "#/$defs/b/$defs/c",
    ] {
        let schema = format!(r#"{{"properties":{{"p":{{"$ref":"{reference}"}}}},{defs}}}"#);
        check(&schema, r#"{"p":1}"#, Ok(()));
        check(
            &schema,
            r#"{"p":""}"#,
            Err("p: expected integer, found string"),
        );
    }
}

#[test]
fn a_type_that_mentions_itself() {
    let schema = r##"{"$ref":"#/$defs/n","$defs":{"n":{"type":["object","null"],"properties":{"a":{"$ref":"#/$defs/n"}}}}}"##;
    let deep = format!("{}null{}", r#"{"a":"#.repeat(100), "}".repeat(100));
    check(schema, &deep, Ok(()));
    let wrong = deep.replace("null", "1");
    let path = format!(
        "a{}: expected null or object, found number",
        ".a".repeat(99)
    );
    let shown: String = path.chars().take(200).collect();
    let found = Validator::compile(raw(schema))
        .unwrap()
        .check(raw(&wrong))
        .unwrap_err();
    assert!(found.to_string().starts_with(&shown), "{found}");
}

#[test]
fn what_is_no_schema() {
    let kind = |text: &str| Validator::compile(raw(text)).unwrap_err();
    assert_eq!(kind("null"), SchemaError::Kind);
    assert_eq!(kind("[]"), SchemaError::Kind);
    assert_eq!(kind("1e400"), SchemaError::Kind);
    assert!(matches!(kind(r#"{"type":1}"#), SchemaError::Invalid(_)));
    assert!(matches!(
        kind(r#"{"properties":[]}"#),
        SchemaError::Invalid(_)
    ));
    assert!(matches!(
        kind(r#"{"pattern":"("}"#),
        SchemaError::Pattern(_)
    ));
}

#[test]
fn patterns_are_those_of_ecmascript() {
    check_rows(
        r#"
        {"pattern":"^\\d+$"} | "12"     |
        {"pattern":"^\\d+$"} | "\u0967" | expected a match of ^\d+$
        {"patternProperties":{"^x-":{"type":"null"}}} | {"x-a":1} | x-a: expected null, found number
        "#,
    );
    check(
        r#"{"pattern":"^.{1,256}$"}"#,
        &format!("\"{}\"", "é".repeat(256)),
        Ok(()),
    );
    check(
        r#"{"pattern":"^[a-z]*$"}"#,
        &format!("\"{}\"", "a".repeat(1_000_000)),
        Ok(()),
    );
}

#[test]
fn limits_are_the_callers() {
    let compile = |limits| Validator::with_limits(raw(r#"{"items":{"enum":[1,2,3]}}"#), limits);
    let limits = SchemaLimits::default();
    assert!(compile(limits).is_ok());
    let limit = |limits| compile(limits).unwrap_err();
    assert_eq!(
        limit(SchemaLimits {
            bytes: 10,
            ..limits
        }),
        SchemaError::Limit("bytes")
    );
    assert_eq!(
        limit(SchemaLimits { depth: 2, ..limits }),
        SchemaError::Limit("depth")
    );
    assert_eq!(
        limit(SchemaLimits {
            subschemas: 1,
            ..limits
        }),
        SchemaError::Limit("subschemas")
    );
    let validator = compile(SchemaLimits {
        evaluations: 4,
        ..limits
    })
    .unwrap();
    assert!(validator.check(raw("[1,2,3]")).is_ok());
    let violation = validator.check(raw("[1,2,3,1]")).unwrap_err();
    assert!(violation.is_limit());
    assert_eq!(
        violation.text(),
        "the value cannot be checked within the limit of evaluations"
    );
    let validator = compile(SchemaLimits {
        described: 3,
        ..limits
    })
    .unwrap();
    assert_eq!(validator.check(raw("[5]")).unwrap_err().path(), "/0");
    let violation = validator.check(raw("[1,1,5]")).unwrap_err();
    assert_eq!(violation.to_string(), "the value does not fit its schema");
    assert!(!violation.is_limit());
}
