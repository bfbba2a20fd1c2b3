//! Forms from types.

#![expect(dead_code, reason = "only the shapes of these types are asked for")]

use core::net::IpAddr;
use core::num::NonZeroU8;
use std::collections::{BTreeMap, BTreeSet};

use mcp_async::schema::{self, FormFault};
use mcp_proto::Revision;
use mcp_proto::json::Writer;
use mcp_proto::model::ElicitationSchema;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// A struct of one field named `a`.
#[derive(Deserialize, JsonSchema)]
struct One<T> {
    a: T,
}

#[derive(Deserialize, Serialize, JsonSchema, Default, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Color {
    #[default]
    Red,
    Green,
}

/// How large it is.
#[derive(Deserialize, JsonSchema)]
enum Size {
    /// Tiny
    S,
    #[schemars(title = "Large")]
    L,
    M,
}

#[derive(Deserialize, JsonSchema)]
enum Only {
    This,
}

#[derive(Deserialize, JsonSchema)]
struct Inner {
    x: u8,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
enum Either {
    Text(String),
    Number(f64),
}

#[test]
fn fields_of_every_kind() {
    let check = |form: Result<mcp_proto::json::RawBuf, _>, field: &str, required: bool| {
        let form = form.unwrap();
        let required = if required { r#","required":["a"]"# } else { "" };
        let expected = format!(r#"{{"type":"object","properties":{{"a":{field}}}{required}}}"#);
        assert_eq!(form.as_raw().as_str(), expected);
    };
    macro_rules! check {
        ($type:ty, $field:literal) => {
            check(schema::form::<One<$type>>(), $field, true);
            check(schema::form::<One<Option<$type>>>(), $field, false);
            check(schema::form::<One<Box<$type>>>(), $field, true);
        };
    }
    check!(String, r#"{"type":"string"}"#);
    check!(char, r#"{"type":"string","minLength":1,"maxLength":1}"#);
    check!(bool, r#"{"type":"boolean"}"#);
    check!(f64, r#"{"type":"number"}"#);
    check!(
        i32,
        r#"{"type":"integer","minimum":-2147483648,"maximum":2147483647}"#
    );
    check!(i64, r#"{"type":"integer"}"#);
    check!(u64, r#"{"type":"integer","minimum":0}"#);
    check!(NonZeroU8, r#"{"type":"integer","minimum":1,"maximum":255}"#);
    check!(Color, r#"{"type":"string","enum":["red","green"]}"#);
    check!(Only, r#"{"type":"string","enum":["This"]}"#);
    check!(
        Vec<Color>,
        r#"{"type":"array","items":{"type":"string","enum":["red","green"]}}"#
    );
    check!(
        BTreeSet<Color>,
        r#"{"type":"array","items":{"type":"string","enum":["red","green"]}}"#
    );
    // A variant without words of its own is shown by its name, as soon as one has some.
    check!(
        Size,
        r#"{"type":"string","description":"How large it is.","oneOf":[{"const":"M","title":"M"},{"const":"S","title":"Tiny"},{"const":"L","title":"Large"}]}"#
    );
    check!(
        Vec<Size>,
        r#"{"type":"array","items":{"anyOf":[{"const":"M","title":"M"},{"const":"S","title":"Tiny"},{"const":"L","title":"Large"}]}}"#
    );
    // Its format is none of the four that a form knows: the decoder will tell.
    check!(IpAddr, r#"{"type":"string"}"#);
}

#[test]
fn what_a_field_says_of_itself() {
    #[derive(Deserialize, JsonSchema)]
    struct Booking {
        /// Where to?
        when: Option<Color>,
        #[schemars(title = "To", email, length(min = 3, max = 9))]
        mail: String,
        #[schemars(range(min = 0.5, max = 2.0))]
        factor: f64,
        #[serde(default)]
        color: Color,
        #[serde(default = "seven")]
        nights: u8,
        #[serde(default)]
        maybe: Option<bool>,
        #[serde(default)]
        colors: Vec<Color>,
        #[schemars(extend("format" = "date"), extend("x-own" = 1))]
        day: String,
        #[schemars(length(min = 1, max = 2))]
        two: Vec<Color>,
    }
    fn seven() -> u8 {
        7
    }
    let form = schema::form::<Booking>().unwrap();
    // In the order of the struct, not of the alphabet.
    let expected = concat!(
        r#"{"type":"object","properties":{"#,
        r#""when":{"type":"string","description":"Where to?","enum":["red","green"]},"#,
        r#""mail":{"type":"string","title":"To","minLength":3,"maxLength":9,"format":"email"},"#,
        r#""factor":{"type":"number","minimum":0.5,"maximum":2.0},"#,
        r#""color":{"type":"string","enum":["red","green"],"default":"red"},"#,
        r#""nights":{"type":"integer","minimum":0,"maximum":255,"default":7},"#,
        r#""maybe":{"type":"boolean"},"#,
        r#""colors":{"type":"array","items":{"type":"string","enum":["red","green"]},"default":[]},"#,
        r#""day":{"type":"string","format":"date"},"#,
        r#""two":{"type":"array","items":{"type":"string","enum":["red","green"]},"minItems":1,"maxItems":2}},"#,
        r#""required":["mail","factor","day","two"]}"#,
    );
    assert_eq!(form.as_raw().as_str(), expected);
}

#[test]
fn what_no_form_can_ask_for() {
    fn check<T: JsonSchema + DeserializeOwned>(field: Option<&str>, fault: FormFault) {
        let error = schema::form::<T>().unwrap_err();
        assert_eq!((error.field(), error.fault()), (field, &fault), "{error}");
        assert!(error.to_string().contains(field.unwrap_or("this type")));
    }
    check::<One<Inner>>(Some("a"), FormFault::Object);
    check::<One<Option<Inner>>>(Some("a"), FormFault::Object);
    check::<One<BTreeMap<String, u8>>>(Some("a"), FormFault::Object);
    check::<One<Vec<String>>>(Some("a"), FormFault::List);
    check::<One<Vec<Vec<Color>>>>(Some("a"), FormFault::List);
    check::<One<(u8, u8)>>(Some("a"), FormFault::List);
    check::<One<Either>>(Some("a"), FormFault::Several);
    check::<One<serde_json::Value>>(Some("a"), FormFault::Several);
    check::<One<()>>(Some("a"), FormFault::Type("null".to_owned()));

    check::<String>(None, FormFault::NotObject);
    check::<Vec<One<u8>>>(None, FormFault::NotObject);
    check::<Option<String>>(None, FormFault::NotObject);
    check::<BTreeMap<String, String>>(None, FormFault::NotObject);

    #[derive(Deserialize, JsonSchema)]
    struct Code {
        free: String,
        #[schemars(regex(pattern = "^[A-Z]{3}$"))]
        code: String,
    }
    check::<Code>(Some("code"), FormFault::Keyword("pattern".to_owned()));

    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Tagged {
        A { x: u8 },
        B { y: u8 },
    }
    #[derive(Deserialize, JsonSchema)]
    struct Flat {
        z: u8,
        #[serde(flatten)]
        tagged: Tagged,
    }
    check::<Flat>(None, FormFault::Keyword("oneOf".to_owned()));
}

#[test]
fn flattened_fields_are_fields() {
    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        z: u8,
    }
    assert!(schema::form::<Strict>().is_ok());

    #[derive(Deserialize, JsonSchema)]
    struct Outer {
        z: bool,
        #[serde(flatten)]
        inner: One<bool>,
    }
    let form = schema::form::<Outer>().unwrap();
    let expected = r#"{"type":"object","properties":{"a":{"type":"boolean"},"z":{"type":"boolean"}},"required":["a","z"]}"#;
    assert_eq!(form.as_raw().as_str(), expected);
}

#[test]
fn the_rules_of_a_revision_apply() {
    // EL-17: the first revision with forms has neither several choices nor titles in them.
    #[derive(Deserialize, JsonSchema)]
    struct Sizes {
        #[serde(default)]
        color: Color,
        size: Size,
        sizes: Vec<Color>,
    }
    let check = |revision, expected: &str| {
        let form = schema::form::<Sizes>().unwrap();
        let form: ElicitationSchema<'_> = form.as_raw().decode(&mut []).unwrap();
        let mut out = [0; 1024];
        let mut writer = Writer::new(&mut out);
        writer.value(&form, Some(revision)).unwrap();
        let len = writer.finish().unwrap();
        assert_eq!(str::from_utf8(&out[..len]).unwrap(), expected);
    };
    check(
        Revision::V2025_06_18,
        concat!(
            r#"{"type":"object","properties":{"color":{"type":"string","enum":["red","green"]},"#,
            r#""size":{"type":"string","description":"How large it is.","enum":["M","S","L"],"enumNames":["M","Tiny","Large"]},"#,
            r#""sizes":{"type":"string"}},"required":["size","sizes"]}"#
        ),
    );
    check(
        Revision::V2025_11_25,
        concat!(
            r#"{"type":"object","properties":{"color":{"type":"string","enum":["red","green"],"default":"red"},"#,
            r#""size":{"type":"string","description":"How large it is.","oneOf":[{"const":"M","title":"M"},{"const":"S","title":"Tiny"},{"const":"L","title":"Large"}]},"#,
            r#""sizes":{"type":"array","items":{"type":"string","enum":["red","green"]}}},"required":["size","sizes"]}"#
        ),
    );
}
