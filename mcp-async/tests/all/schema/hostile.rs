//! Schemas, patterns and values that were made to hang or to overflow what checks them.
//!
//! Each is used as it would come: as the schema of a server's tool that a client checks
//! structured content by, and as the arguments that a server checks by a schema of its own. A
//! thread with little stack has to answer; how long it takes is nobody's promise, so only an
//! answer that never comes is a failure.

use core::time::Duration;
use std::sync::mpsc;
use std::thread;

use mcp_async::schema::{SchemaError, SchemaLimits, Validator};
use mcp_proto::json::{MAX_DEPTH, Raw};

use crate::texts::rows;

/// How it ends.
#[derive(Debug, PartialEq)]
enum End {
    /// The schema is refused.
    Refused(SchemaError),
    /// The value is refused, by the limit of this name or by the schema.
    Limit(String),
    Unfit,
    Fit,
}

use End::{Fit, Limit, Refused, Unfit};

/// The stack of the threads of a runtime, on Windows, and half of it where frames are smaller.
const STACK: usize = if cfg!(windows) { 2 << 20 } else { 1 << 20 };

/// Compiles the schema and checks the value, in a thread with little stack.
fn run(schema: String, value: String) -> End {
    let (answer, answered) = mpsc::channel();
    let work = move || {
        let schema = Raw::parse(schema.as_bytes(), MAX_DEPTH).unwrap();
        let value = Raw::parse(value.as_bytes(), MAX_DEPTH).unwrap();
        let end = match Validator::compile(schema) {
            Err(error) => {
                assert!(error.to_string().len() < 1000);
                Refused(error)
            }
            Ok(validator) => match validator.check(value) {
                Ok(()) => Fit,
                Err(violation) => {
                    assert!(violation.to_string().len() < 2000);
                    if violation.is_limit() {
                        Limit(violation.text().to_owned())
                    } else {
                        Unfit
                    }
                }
            },
        };
        answer.send(end).unwrap();
    };
    thread::Builder::new()
        .stack_size(STACK)
        .spawn(work)
        .unwrap();
    // A guard against hanging for good; nothing is measured.
    let patience = Duration::from_secs(120);
    answered.recv_timeout(patience).expect("no answer")
}

fn check(schema: impl Into<String>, value: impl Into<String>, expected: End) {
    let schema = schema.into();
    let shown: String = schema.chars().take(120).collect();
    assert_eq!(run(schema, value.into()), expected, "{shown}");
}

fn limit(name: &str) -> End {
    Limit(format!(
        "the value cannot be checked within the limit of {name}"
    ))
}

/// The schema is beyond the limit of this name.
const fn beyond(name: &'static str) -> End {
    Refused(SchemaError::Limit(name))
}

/// Objects in objects, each as the member `a`.
fn objects(depth: usize) -> String {
    nested(depth, r#"{"a":"#, "1", "}")
}

/// `{"$ref": "#/$defs/d0", "$defs": {"d0": .., ..}}`, each made by `definition` from its number
/// and the reference to the next; the last is `last`.
fn chain(count: usize, last: &str, definition: impl Fn(usize, &str) -> String) -> String {
    let mut definitions = Vec::new();
    for index in 0..count {
        let next = format!(r##"{{"$ref":"#/$defs/d{}"}}"##, index + 1);
        definitions.push(format!(r#""d{index}":{}"#, definition(index, &next)));
    }
    definitions.push(format!(r#""d{count}":{last}"#));
    let definitions = definitions.join(",");
    format!(r##"{{"$ref":"#/$defs/d0","$defs":{{{definitions}}}}}"##)
}

/// `open` so often, `inner`, and as many `close`.
fn nested(depth: usize, open: &str, inner: &str, close: &str) -> String {
    [&open.repeat(depth), inner, &close.repeat(depth)].concat()
}

fn text(bytes: usize, of: &str) -> String {
    format!("\"{}\"", of.repeat(bytes / of.len()))
}

fn list(count: usize, element: impl Fn(usize) -> String) -> String {
    let elements: Vec<String> = (0..count).map(element).collect();
    format!("[{}]", elements.join(","))
}

#[test]
fn patterns_that_backtrack() {
    check(r#"{"pattern":"^(a+)+$"}"#, text(50_000, "a"), Fit);
    check(
        r#"{"pattern":"^(a+)+$"}"#,
        format!("\"{}b\"", "a".repeat(50_000)),
        Unfit,
    );
    for pattern in [
        "^(?=a)",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a)b",
        r"(a)\\1",
        r"(?<n>a)\\k<n>",
    ] {
        let refused = Refused(SchemaError::Pattern(pattern.replace(r"\\", r"\")));
        check(format!(r#"{{"pattern":"{pattern}"}}"#), r#""a""#, refused);
        let schema = format!(r#"{{"patternProperties":{{"{pattern}":true}}}}"#);
        let refused = Refused(SchemaError::Pattern(pattern.replace(r"\\", r"\")));
        check(schema, r#"{"a":1}"#, refused);
    }
}

#[test]
fn patterns_with_many_states() {
    // Linear in the text, but every byte takes as long as the pattern is large.
    let huge = "[ab]*a[ab]{20000}c";
    let refused = Refused(SchemaError::Pattern(huge.to_owned()));
    check(
        format!(r#"{{"pattern":"{huge}"}}"#),
        text(1_000_000, "ab"),
        refused,
    );
    let large = r#"{"pattern":"[ab]*a[ab]{500}c"}"#;
    check(large, text(1_000_000, "ab"), limit("evaluations"));
    check(large, text(4096, "ab"), Unfit);
    // As names of members.
    let schema = r#"{"patternProperties":{"[ab]*a[ab]{500}c":true}}"#;
    check(
        schema,
        format!("{{{}:1}}", text(1_000_000, "ab")),
        limit("evaluations"),
    );
    let schema = r#"{"propertyNames":{"pattern":"[ab]*a[ab]{500}c"}}"#;
    check(
        schema,
        format!("{{{}:1}}", text(1_000_000, "ab")),
        limit("evaluations"),
    );
    check(r"{}", format!("{{{}:1}}", text(1_000_000, "ab")), Fit);
}

#[test]
fn patterns_that_people_write() {
    for pattern in [
        "^.{1,256}$",
        r"^\\S{1,256}$",
        r"^\\w{1,64}$",
        "^[a-z0-9-]{1,64}$",
    ] {
        let schema = format!(r#"{{"pattern":"{pattern}"}}"#);
        check(&*schema, r#""a""#, Fit);
        check(schema, text(4096, " "), Unfit);
    }
    let schema =
        r#"{"properties":{"id":{"pattern":"^[a-z0-9-]{1,64}$"},"text":{"type":"string"}}}"#;
    check(
        schema,
        format!(r#"{{"id":"a-1","text":{}}}"#, text(8_000_000, "long")),
        Fit,
    );
}

#[test]
fn many_patterns_and_many_texts() {
    let patterns = list(1000, |index| {
        format!(r#"{{"pattern":"^(a+)+[ab]{{{}}}$"}}"#, index % 100)
    });
    let schema = format!(r#"{{"items":{{"anyOf":{patterns}}}}}"#);
    check(schema, list(5000, |_| text(50, "a")), limit("evaluations"));
    // Together they would take gigabytes.
    let large = |index| format!(r#"{{"pattern":"^.{{1,{}}}$"}}"#, 200 + index);
    let schema = format!(r#"{{"allOf":{}}}"#, list(100, large));
    check(schema, r#""a""#, beyond("patterns"));
    let long = "a".repeat(10_000);
    check(
        format!(r#"{{"pattern":"{long}"}}"#),
        r#""a""#,
        beyond("pattern"),
    );
}

#[test]
fn circles() {
    let schemas = r##"
        {"$ref":"#"}
        {"allOf":[{"$ref":"#"}]}
        {"not":{"anyOf":[{"if":{"$ref":"#"}}]}}
        {"dependentSchemas":{"a":{"$ref":"#"}}}
        {"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}
        {"$dynamicAnchor":"x","$dynamicRef":"#x"}
        {"$anchor":"x","oneOf":[{"$ref":"#x"}]}
        {"$id":"https://a.example/x","$ref":"x"}
        {"$schema":"https://json-schema.org/draft/2019-09/schema","$recursiveAnchor":true,"$recursiveRef":"#"}
        {"$schema":"http://json-schema.org/draft-07/schema#","$ref":"#"}
    "##;
    for [schema] in rows(schemas) {
        check(schema, "1", Refused(SchemaError::Circle));
    }
    // One that ends with the value is none.
    let value = objects(100);
    check(r##"{"properties":{"a":{"$ref":"#"}}}"##, value, Fit);
}

#[test]
fn forty_levels_of_two_arms() {
    for keyword in ["allOf", "anyOf", "oneOf"] {
        let schema = chain(40, r#"{"type":"object"}"#, |_, next| {
            format!(r#"{{"{keyword}":[{next},{next}]}}"#)
        });
        check(schema, "{}", beyond("evaluations"));
    }
    let schema = chain(40, "true", |_, next| {
        format!(r#"{{"if":{next},"then":{next},"else":{next}}}"#)
    });
    check(schema, "{}", beyond("evaluations"));
    let schema = chain(40, "true", |_, next| {
        format!(r#"{{"not":{next},"dependentSchemas":{{"a":{next}}}}}"#)
    });
    check(schema, "{}", beyond("evaluations"));
    // The same, a level of the value at a time.
    let schema = chain(40, "true", |_, next| {
        format!(r#"{{"properties":{{"a":{next}}},"patternProperties":{{"a":{next}}}}}"#)
    });
    check(&*schema, objects(39), limit("evaluations"));
    check(schema, r#"{"a":{"a":{"b":1}}}"#, Fit);
}

#[test]
fn two_arms_into_one_child() {
    let arm = r##"{"properties":{"a":{"$ref":"#"}}}"##;
    let schema = format!(r#"{{"type":"object","anyOf":[{arm},{arm}]}}"#);
    for (depth, end) in [
        (3, Unfit),
        (10, Unfit),
        (16, Unfit),
        (60, limit("evaluations")),
        (120, limit("evaluations")),
    ] {
        check(&*schema, objects(depth), end);
    }
    let schema = r##"{"items":{"$ref":"#"},"contains":{"$ref":"#"}}"##;
    check(schema, nested(60, "[", "1", "]"), limit("evaluations"));
}

#[test]
fn unevaluated_parts_are_evaluated_twice() {
    let arm = r##"{"properties":{"a":{"$ref":"#"}}}"##;
    let schema = format!(r#"{{"anyOf":[{arm},true],"unevaluatedProperties":false}}"#);
    check(&*schema, objects(8), Fit);
    check(schema, objects(60), limit("evaluations"));
    // The compiler follows every way to the arms.
    let schema = chain(40, "true", |_, next| {
        format!(r#"{{"allOf":[{next},{next}]}}"#)
    });
    let schema = format!(r#"{{"unevaluatedProperties":false,{}"#, &schema[1..]);
    check(schema, "{}", beyond("evaluations"));
    let schema = chain(14, "true", |_, next| {
        format!(r#"{{"allOf":[{next},{next}]}}"#)
    });
    let schema = format!(r#"{{"unevaluatedProperties":false,{}"#, &schema[1..]);
    check(schema, "{}", beyond("subschemas"));
    let schema = nested(
        20,
        r#"{"unevaluatedProperties":false,"allOf":["#,
        "true",
        "]}",
    );
    check(schema, "{}", beyond("subschemas"));
}

#[test]
fn chained_references() {
    for count in [1000, 100_000] {
        let schema = chain(count, "true", |_, next| next.to_owned());
        let limit = match count {
            1000 => "chained",
            _ => "bytes",
        };
        check(schema, "1", beyond(limit));
    }
    let short =
        (0..15_000).map(|index| format!(r##""{index}":{{"$ref":"#/$defs/{}"}}"##, index + 1));
    let short: Vec<String> = short.collect();
    let schema = format!(
        r##"{{"$ref":"#/$defs/0","$defs":{{{},"15000":true}}}}"##,
        short.join(",")
    );
    check(schema, "1", beyond("chained"));
    check(chain(100, "true", |_, next| next.to_owned()), "1", Fit);
    // Each with as many levels as a schema may have: the compiler goes down several at a time.
    let deep = |_: usize, next: &str| nested(60, r#"{"additionalProperties":"#, next, "}");
    let refused = || beyond("levels");
    check(chain(100, "true", deep), "{}", refused());
    check(chain(1, "true", deep), "{}", refused());
    let deep = |_: usize, next: &str| nested(40, r#"{"additionalProperties":"#, next, "}");
    check(chain(1, "true", deep), objects(120), Fit);
    let deep = |_: usize, next: &str| nested(12, r#"{"additionalProperties":"#, next, "}");
    check(chain(100, "true", deep), objects(120), Fit);
    let deep = |_: usize, next: &str| nested(30, r#"{"allOf":["#, next, "]}");
    check(chain(100, "true", deep), "1", beyond("chained"));
}

#[test]
fn references_through_many_bases() {
    // Two ways through each level, and the compiler tells the bases behind a reference apart.
    let mut definitions = Vec::new();
    for index in 0..24 {
        let next = index + 1;
        let loose = r##""z":{"$dynamicRef":"#n"}"##;
        definitions.push(format!(
            r##""d{index}":{{"$id":"https://a.example/d{index}","$dynamicAnchor":"n","properties":{{"a":{{"$ref":"e{index}"}},"b":{{"$ref":"d{next}"}},{loose}}}}},"e{index}":{{"$id":"https://a.example/e{index}","$dynamicAnchor":"n","properties":{{"b":{{"$ref":"d{next}"}},{loose}}}}}"##
        ));
    }
    let definitions = definitions.join(",");
    let schema = format!(
        r#"{{"$ref":"https://a.example/d0","$defs":{{{definitions},"d24":{{"$id":"https://a.example/d24","$dynamicAnchor":"n"}}}}}}"#
    );
    check(schema, "{}", beyond("subschemas"));
    let schema = format!(r#"{{"$id":"https://a.example/{}"}}"#, "a/".repeat(10_000));
    check(schema, "{}", beyond("identifiers"));
}

/// JR-42.
#[test]
fn deep_schemas_and_deep_values() {
    let schema = nested(60, r#"{"properties":{"a":"#, "true", "}}");
    check(schema, "{}", beyond("depth"));
    check(
        nested(120, r#"{"not":"#, "true", "}"),
        "{}",
        beyond("depth"),
    );
    check(nested(63, r#"{"not":"#, "true", "}"), "{}", Unfit);
    check(
        nested(31, r#"{"properties":{"a":"#, "true", "}}"),
        "{}",
        Fit,
    );
    // As many subschemas open at once as may be.
    let schema = r##"{"anyOf":[{"allOf":[{"allOf":[{"allOf":[{"allOf":[{"properties":{"a":{"$ref":"#"}}}]}]}]}]}]}"##;
    check(schema, objects(127), Fit);
    let schema = chain(64, r##"{"properties":{"a":{"$ref":"#"}}}"##, |_, next| {
        next.to_owned()
    });
    check(&*schema, objects(10), Fit);
    check(schema, objects(127), limit("nested"));
    // Nothing looks inside.
    check("{}", nested(128, "[", "", "]"), Fit);
    check(r#"{"const":1}"#, nested(128, "[", "", "]"), Unfit);
    check(r#"{"uniqueItems":true}"#, nested(128, "[", "", "]"), Fit);
}

#[test]
fn many_values_against_many() {
    let object = |index: usize| format!(r#"{{"a":{index}}}"#);
    let schema = format!(r#"{{"items":{{"enum":{}}}}}"#, list(20_000, object));
    check(
        &*schema,
        list(20_000, |_| r#"{"a":-1}"#.to_owned()),
        limit("evaluations"),
    );
    check(schema, list(100, |_| r#"{"a":7}"#.to_owned()), Fit);
    let schema = format!(
        r#"{{"items":{{"required":{}}}}}"#,
        list(20_000, |index| format!("\"p{index}\""))
    );
    check(
        schema,
        list(20_000, |_| "{}".to_owned()),
        limit("evaluations"),
    );
    check(r#"{"uniqueItems":true}"#, list(100_000, object), Fit);
    check(
        r##"{"uniqueItems":true,"items":{"$ref":"#"}}"##,
        nested(100, "[", &list(5_000, object), "]"),
        limit("evaluations"),
    );
    check(
        r#"{"items":true}"#,
        list(999_999, |_| "1".to_owned()),
        limit("evaluations"),
    );
    check("{}", list(999_999, |_| "1".to_owned()), Fit);
    check("{}", list(1_000_000, |_| "1".to_owned()), limit("values"));
}

/// JR-42.
#[test]
fn many_properties() {
    let property = |index: usize| format!(r#""p{index}":{{}}"#);
    let properties = |count| (0..count).map(property).collect::<Vec<_>>().join(",");
    let schema = format!(r#"{{"properties":{{{}}}}}"#, properties(200_000));
    check(schema, "{}", beyond("bytes"));
    let schema = format!(r#"{{"properties":{{{}}}}}"#, properties(50_000));
    check(schema, "{}", beyond("subschemas"));
    let schema = format!(r#"{{"properties":{{{}}}}}"#, properties(10_000));
    check(schema, format!("{{{}}}", properties(200_000)), Fit);
    // A value of many members against many arms that look for others.
    let arms = list(2_000, |index| {
        format!(r#"{{"properties":{{"q{index}":false}}}}"#)
    });
    let schema = format!(r#"{{"allOf":{arms}}}"#);
    check(
        schema,
        format!("{{{}}}", properties(100_000)),
        limit("evaluations"),
    );
}

#[test]
fn arms_that_are_told_apart_by_a_member() {
    // The compiler looks for such a member in everything that the arms lead to.
    let schema = chain(15, "true", |_, next| {
        format!(r#"{{"allOf":{}}}"#, list(10, |_| next.to_owned()))
    });
    let arm = r##"{"$ref":"#/$defs/d0"}"##;
    let schema = format!(r#"{{"oneOf":[{arm},{arm},{arm}],{}"#, &schema[1..]);
    check(schema, "{}", beyond("evaluations"));
}

/// JR-40, JR-41.
#[test]
fn references_out_of_the_schema() {
    let references = [
        "http://127.0.0.1:9/schema",
        "https://example.com/schema.json#/a",
        "file:///etc/hostname",
        "other.json",
        "#/nowhere",
        "#nobody",
        "//example.com/x",
        "https://json-schema.org/draft/2020-12/schema",
    ];
    for reference in references {
        for schema in [
            format!(r#"{{"$ref":"{reference}"}}"#),
            format!(r#"{{"properties":{{"a":{{"$ref":"{reference}"}}}}}}"#),
            format!(r#"{{"$dynamicRef":"{reference}"}}"#),
            format!(r#"{{"$id":"https://a.example/b","$ref":"{reference}"}}"#),
        ] {
            let end = run(schema, "1".to_owned());
            assert!(
                matches!(end, Refused(SchemaError::Reference(_))),
                "{reference}: {end:?}"
            );
        }
    }
}

#[test]
fn formats_of_long_texts() {
    for format in [
        "regex",
        "email",
        "uri",
        "hostname",
        "uri-template",
        "duration",
        "json-pointer",
    ] {
        let schema = format!(
            r#"{{"$schema":"http://json-schema.org/draft-07/schema#","format":"{format}"}}"#
        );
        for part in ["(", "[", "a@", "\\\\", "{a", "/~0", "1"] {
            let end = run(schema.clone(), text(200_000, part));
            assert!(matches!(end, Fit | Unfit), "{format} {part}: {end:?}");
        }
    }
}

#[test]
fn what_a_server_checks() {
    // Honest schemas, and arguments that were made for them.
    let tree = r##"{"type":"object","properties":{"name":{"type":"string","pattern":"^[a-z]+$"},"children":{"type":"array","items":{"$ref":"#"}}},"required":["name"],"additionalProperties":false}"##;
    let child = r#"{"name":"a","children":["#;
    check(tree, nested(60, child, "", "]}"), Fit);
    check(tree, nested(63, child, "1", "]}"), Unfit);
    check(
        tree,
        format!(r#"{{"name":{}}}"#, text(8_000_000, "a")),
        limit("evaluations"),
    );
    let wide = list(400_000, |_| r#"{"name":"a"}"#.to_owned());
    check(
        tree,
        format!(r#"{{"name":"a","children":{wide}}}"#),
        limit("evaluations"),
    );
    let wide = list(50_000, |_| r#"{"name":"a"}"#.to_owned());
    check(tree, format!(r#"{{"name":"a","children":{wide}}}"#), Fit);
    check(tree, "1e400", Unfit);
    check(tree, r#"{"name":"\ud800"}"#, Unfit);
    check(tree, r#"{"name":"a","name":"b"}"#, Unfit);
    let limits = SchemaLimits::default();
    assert!(limits.described < limits.evaluations);
}
