//! Types from JSON and back, beside `serde_json`.

use core::fmt::Debug;
use std::collections::BTreeMap;

use mcp_proto::json::{
    DecodeErrorKind, EncodeError, Kind, List, Map, Number, Object, Raw, Str, Writer,
};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

/// Both decoders take the text for the same value, whether or not there is a scratch, and also
/// as a part of something else.
fn same<T: DeserializeOwned + PartialEq + Debug>(json: &str) {
    let expected: T = serde_json::from_str(json).unwrap_or_else(|error| panic!("{json}: {error}"));
    let raw = Raw::parse(json.as_bytes(), 64).unwrap();
    assert_eq!(
        raw.decode::<T>(&mut [0; 256]).as_ref(),
        Ok(&expected),
        "{json}"
    );
    #[cfg(feature = "alloc")]
    assert_eq!(raw.decode::<T>(&mut []).as_ref(), Ok(&expected), "{json}");
    let nested = format!("[{json},{{\"key\" : {json} }}]");
    let raw = Raw::parse(nested.as_bytes(), 64).unwrap();
    let (first, second): (T, BTreeMap<String, T>) = raw.decode(&mut [0; 256]).unwrap();
    assert_eq!(first, expected, "{json}");
    assert_eq!(second["key"], expected, "{json}");
}

/// Both decoders refuse the text.
fn refused<T: DeserializeOwned + Debug>(json: &str, kind: DecodeErrorKind) {
    serde_json::from_str::<T>(json).unwrap_err();
    let raw = Raw::parse(json.as_bytes(), 64).unwrap();
    assert_eq!(
        raw.decode::<T>(&mut [0; 256]).unwrap_err().kind(),
        kind,
        "{json}"
    );
}

/// Both encoders write the same text, with every buffer too small and then exactly enough.
fn encoded<T: Serialize>(value: T) {
    let expected = serde_json::to_string(&value).unwrap();
    let mut out = vec![0; expected.len()];
    for len in 0..out.len() {
        let mut writer = Writer::new(&mut out[..len]);
        writer.value(&value, None).unwrap();
        assert_eq!(writer.finish().unwrap_err().needed, expected.len());
    }
    let mut writer = Writer::new(&mut out);
    writer.value(&value, None).unwrap();
    assert_eq!(writer.finish(), Ok(expected.len()));
    assert_eq!(String::from_utf8(out).unwrap(), expected);
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record {
    first_name: String,
    age: Option<u8>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tags: Vec<String>,
    nested: Option<Box<Self>>,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Strict {
    only: bool,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Unit;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Wrapped(i32);

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Pair(i32, String);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Level {
    Debug,
    #[serde(rename = "é")]
    Odd,
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
enum Shape {
    Point,
    Circle(f64),
    Line(i32, i32),
    Box { width: u32, height: u32 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Tagged {
    Text { text: String },
    Number { value: i64 },
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum Untagged {
    Number(i64),
    Text(String),
    List(Vec<Self>),
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Flat {
    known: u8,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[test]
fn numbers() {
    for json in ["0", "1", "255"] {
        same::<u8>(json);
        same::<i64>(json);
        same::<f32>(json);
        same::<u128>(json);
    }
    same::<i8>("-128");
    same::<u64>("18446744073709551615");
    same::<i64>("-9223372036854775808");
    same::<i128>("-170141183460469231731687303715884105728");
    same::<u128>("340282366920938463463374607431768211455");
    for json in [
        "0.1",
        "-1.5e-7",
        "1e300",
        "123456789012345678901234567890",
        "5e-324",
        "1E2",
    ] {
        same::<f64>(json);
        same::<f32>("0.1");
        same::<serde_json::Value>(json);
    }
    refused::<u8>("256", DecodeErrorKind::Range);
    refused::<u8>("-1", DecodeErrorKind::Range);
    refused::<u64>("18446744073709551616", DecodeErrorKind::Type(Kind::Number));
    refused::<i64>("9223372036854775808", DecodeErrorKind::Range);
    refused::<i32>("1.0", DecodeErrorKind::Type(Kind::Number));
    refused::<f64>("1e400", DecodeErrorKind::Range);
    refused::<i128>(
        "170141183460469231731687303715884105728",
        DecodeErrorKind::Range,
    );
    refused::<u8>("\"1\"", DecodeErrorKind::Type(Kind::String));
    encoded((0u8, -1i8, u64::MAX, i64::MIN, u128::MAX, i128::MIN));
    encoded((0.1f32, 0.1f64, -2.5, f64::NAN, f32::INFINITY));
}

/// Floats are written in other words than `serde_json`'s, and read back as the same.
#[test]
fn floats() {
    let check = |value: f64| {
        let mut out = [0; 32];
        let mut writer = Writer::new(&mut out);
        writer.value(&value, None).unwrap();
        let len = writer.finish().unwrap();
        let raw = Raw::parse(&out[..len], 0).unwrap();
        assert_eq!(raw.decode::<f64>(&mut []), Ok(value), "{}", raw.as_str());
        let short = value as f32;
        let mut writer = Writer::new(&mut out);
        writer.value(&short, None).unwrap();
        let len = writer.finish().unwrap();
        if short.is_finite() {
            let raw = Raw::parse(&out[..len], 0).unwrap();
            assert_eq!(raw.as_str().parse(), Ok(short));
        } else {
            assert_eq!(&out[..len], b"null");
        }
    };
    for value in [
        0.0,
        1.0,
        1e15,
        1e16,
        1e20,
        1e21,
        1e300,
        5e-324,
        123456.78,
        f64::MAX,
    ] {
        for value in [value, -value, 1.0 / (value + 0.1)] {
            check(value);
        }
    }
    for power in 50..70 {
        let value = 2f64.powi(power);
        [value, value - 1.0, value + 1.0, -value]
            .into_iter()
            .for_each(check);
    }
}

#[test]
fn text() {
    same::<String>(r#""plain, é, 好, 😀""#);
    same::<String>(r#""\"\\\/\b\f\n\r\t\u0000\u00e9\ud83d\ude00""#);
    same::<char>(r#""x""#);
    same::<char>(r#""\ud83d\ude00""#);
    refused::<char>(r#""xy""#, DecodeErrorKind::Value);
    refused::<char>(r#""""#, DecodeErrorKind::Value);
    refused::<String>("1", DecodeErrorKind::Type(Kind::Number));
    refused::<String>("1e400", DecodeErrorKind::Type(Kind::Number));
    refused::<String>("null", DecodeErrorKind::Type(Kind::Null));
    encoded((
        "plain",
        "\"\\/\u{8}\u{C}\n\r\t\0\u{1F}\u{7F}é好😀",
        'x',
        '\n',
    ));

    let cut = Raw::parse(br#""cut \ud83d""#, 0).unwrap();
    assert!(cut.has_lone_surrogate());
    assert_eq!(cut.decode(&mut [0; 16]), Ok("cut \u{FFFD}".to_owned()));
}

#[test]
fn borrowed_text() {
    let raw = Raw::parse(br#"["plain", "es\u0063aped"]"#, 1).unwrap();
    let error = raw.decode::<(&str, &str)>(&mut [0; 16]).unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::Type(Kind::String));
    let (plain, _): (&str, IgnoredAny) = raw.decode(&mut []).unwrap();
    assert_eq!(plain, "plain");
    let (bytes, list): (&[u8], Vec<u8>) = Raw::parse(b"[\"plain\", [1, 2]]", 2)
        .unwrap()
        .decode(&mut [])
        .unwrap();
    assert_eq!((bytes, list), (&b"plain"[..], vec![1, 2]));
}

#[test]
#[cfg(not(feature = "alloc"))]
fn scratch() {
    let raw = Raw::parse(br#"{"k":"\u00e9\u00e9"}"#, 1).unwrap();
    let error = raw
        .decode::<BTreeMap<String, String>>(&mut [0; 3])
        .unwrap_err();
    assert_eq!(error.kind(), DecodeErrorKind::ScratchFull { needed: 4 });
    raw.decode::<BTreeMap<String, String>>(&mut [0; 4]).unwrap();
}

/// Escaped names of members need no scratch: the known ones are compared, others ignored.
#[test]
fn escaped_names() {
    let json = br#"{"f\u0069rstName":"x","\ud83d unknown and long":1,"\u0061ge":3}"#;
    let record: Record = Raw::parse(json, 1).unwrap().decode(&mut []).unwrap();
    assert_eq!((record.first_name.as_str(), record.age), ("x", Some(3)));
    let shape: Shape = Raw::parse(br#"{"C\u0069rcle":2}"#, 1)
        .unwrap()
        .decode(&mut [])
        .unwrap();
    assert_eq!(shape, Shape::Circle(2.0));
    let level: Level = Raw::parse(br#""\u00e9""#, 1)
        .unwrap()
        .decode(&mut [])
        .unwrap();
    assert_eq!(level, Level::Odd);
}

#[test]
fn structs() {
    same::<Record>(r#"{"firstName":"a","age":1,"tags":["x","\n"],"nested":null}"#);
    same::<Record>(r#" { "firstName" : "a" , "nested" : { "firstName" : "b", "age":null } } "#);
    same::<Record>(r#"{"other":[{"firstName":1}],"firstName":"a"}"#);
    same::<Record>(r#"["a",1,["x"],null]"#);
    same::<Strict>(r#"{"only":true}"#);
    same::<Wrapped>("7");
    same::<Pair>(r#"[1,"x"]"#);
    same::<Unit>("null");
    same::<()>("null");
    same::<Flat>(r#"{"a":[1,{"b":null}],"known":3,"c":"x\ty","d":-1.5}"#);
    refused::<Record>("{}", DecodeErrorKind::MissingField("firstName"));
    refused::<Record>(r#"{"firstName":"a","firstName":"b"}"#, {
        DecodeErrorKind::DuplicateField("firstName")
    });
    refused::<Record>("\"a\"", DecodeErrorKind::Type(Kind::String));
    refused::<Strict>(r#"{"only":true,"more":1}"#, DecodeErrorKind::UnknownField);
    refused::<Strict>(r#"{"only":1}"#, DecodeErrorKind::Type(Kind::Number));
    refused::<Pair>("[1]", DecodeErrorKind::Length);
    refused::<Pair>(r#"[1,"x",2]"#, DecodeErrorKind::Length);
    refused::<Pair>("{}", DecodeErrorKind::Type(Kind::Object));
    refused::<()>("0", DecodeErrorKind::Type(Kind::Number));
    encoded(Record {
        first_name: "a".into(),
        age: Some(1),
        tags: vec!["x".into(), "\"".into()],
        nested: Some(Box::new(Record {
            first_name: String::new(),
            age: None,
            tags: vec![],
            nested: None,
        })),
    });
    encoded((
        Unit,
        Wrapped(1),
        Pair(2, "x".into()),
        (),
        Some(1),
        None::<u8>,
        [0u8; 0],
    ));
}

#[test]
fn enums() {
    same::<Level>("\"debug\"");
    same::<Shape>("\"Point\"");
    same::<Shape>(r#"{"Point":null}"#);
    same::<Shape>(r#"{ "Circle" : 1.5 }"#);
    same::<Shape>(r#"{"Line":[1,2]}"#);
    same::<Shape>(r#"{"Box":{"height":1,"width":2}}"#);
    same::<Tagged>(r#"{"text":"x\n","type":"text"}"#);
    same::<Tagged>(r#"{"type":"number","value":-1,"more":{}}"#);
    same::<Untagged>(r#"[1,"x",[["\u0041"]]]"#);
    refused::<Level>("\"info\"", DecodeErrorKind::UnknownVariant);
    refused::<Level>("1", DecodeErrorKind::Type(Kind::Number));
    refused::<Shape>("\"Circle\"", DecodeErrorKind::Type(Kind::String));
    refused::<Shape>("{}", DecodeErrorKind::Length);
    refused::<Shape>(r#"{"Point":null,"Circle":1}"#, DecodeErrorKind::Length);
    refused::<Shape>(r#"{"Point":1}"#, DecodeErrorKind::Type(Kind::Number));
    refused::<Shape>(r#"{"Line":[1]}"#, DecodeErrorKind::Length);
    encoded((
        Level::Odd,
        Shape::Point,
        Shape::Circle(1.5),
        Shape::Line(1, 2),
    ));
    encoded((
        Shape::Box {
            width: 1,
            height: 2,
        },
        Tagged::Text { text: "x".into() },
    ));
}

#[test]
fn maps() {
    same::<BTreeMap<String, u8>>(r#"{"a":1,"\u0062":2}"#);
    same::<BTreeMap<i16, String>>(r#"{"-1":"x","20":"y"}"#);
    same::<BTreeMap<bool, u8>>(r#"{"true":1}"#);
    same::<BTreeMap<Level, u8>>(r#"{"debug":1,"é":2}"#);
    same::<BTreeMap<String, Option<bool>>>(r#"{"a":null,"b":true}"#);
    refused::<BTreeMap<u8, u8>>(r#"{"x":1}"#, DecodeErrorKind::Type(Kind::String));
    refused::<BTreeMap<u8, u8>>(r#"{" 1":1}"#, DecodeErrorKind::Type(Kind::String));
    encoded(BTreeMap::from([("a", 1), ("\n", 2)]));
    encoded((BTreeMap::from([(-1, 'x')]), BTreeMap::from([(true, 1)])));
    encoded((
        BTreeMap::from([(Level::Odd, 1)]),
        BTreeMap::from([(Some("k"), 1)]),
    ));
    encoded(BTreeMap::from([('c', 1u8)]));
    let mut writer = Writer::counting();
    let keyed = BTreeMap::from([([1u8], 1)]);
    assert_eq!(writer.value(&keyed, None), Err(EncodeError::Key));
}

#[test]
fn views() {
    #[derive(Debug, Serialize, Deserialize)]
    struct Views<'b> {
        #[serde(borrow)]
        raw: Raw<'b>,
        #[serde(borrow)]
        object: Object<'b>,
        #[serde(borrow)]
        text: Str<'b>,
        #[serde(borrow)]
        number: Number<'b>,
        #[serde(borrow)]
        list: List<'b, Str<'b>>,
        #[serde(borrow)]
        map: Map<'b, u8>,
        #[serde(borrow)]
        none: Option<Str<'b>>,
    }
    let json = r#"{"raw": [1, "\ud83d"] ,"object":{"a" :1},"text":"\u0061\n","number":1e400,
        "list":["x","\n",3],"map":{"\u0061":1,"b":"x"},"none":null}"#;
    let raw = Raw::parse(json.as_bytes(), 8).unwrap();
    let views: Views<'_> = raw.decode(&mut []).unwrap();
    assert_eq!(views.raw.as_str(), r#"[1, "\ud83d"]"#);
    assert!(views.raw.has_lone_surrogate());
    assert!(!views.object.as_raw().has_lone_surrogate());
    assert_eq!(views.text, "a\n");
    assert_eq!(views.number.as_str(), "1e400");
    let items: Vec<_> = views.list.iter().map(Result::ok).collect();
    assert_eq!(items, [Some(Str::new("x")), Some(Str::new("\n")), None]);
    let entries: Vec<_> = views
        .map
        .iter()
        .map(|(name, value)| (name, value.ok()))
        .collect();
    assert_eq!(entries, [(Str::new("a"), Some(1)), (Str::new("b"), None)]);
    assert!(views.none.is_none());

    let mut out = [0; 256];
    let mut writer = Writer::new(&mut out);
    writer.value(&views, None).unwrap();
    let len = writer.finish().unwrap();
    let expected = r#"{"raw":[1, "\ud83d"],"object":{"a" :1},"text":"\u0061\n","number":1e400,"list":["x","\n",3],"map":{"\u0061":1,"b":"x"},"none":null}"#;
    assert_eq!(core::str::from_utf8(&out[..len]), Ok(expected));

    let number = Raw::parse(b"1", 0).unwrap();
    let error = number.decode::<Object<'_>>(&mut []).unwrap_err();
    assert_eq!(error.to_string(), "expected an object, found number");

    serde_json::from_str::<Raw<'_>>("1").unwrap_err();
    serde_json::from_str::<Str<'_>>("\"x\"").unwrap_err();
    // Another deserializer gets nothing; another serializer gets the meaning, not the text.
    let raw = Raw::parse(br#"{"\u0061": [1, -1, 1.5, "\ud83d\n", true, null]}"#, 8).unwrap();
    let expected = "{\"a\":[1,-1,1.5,\"\u{FFFD}\\n\",true,null]}";
    let written = serde_json::to_string(&raw).ok();
    assert_eq!(
        written,
        cfg!(feature = "alloc").then(|| expected.to_owned())
    );
}

#[test]
fn our_own_lists() {
    let check = |value: &dyn Fn(&mut Writer<'_>), expected: &str| {
        let mut out = [0; 64];
        let mut writer = Writer::new(&mut out);
        value(&mut writer);
        let len = writer.finish().unwrap();
        assert_eq!(core::str::from_utf8(&out[..len]), Ok(expected));
    };
    check(
        &|w| w.value(&List::from(&["a", "\n"]), None).unwrap(),
        r#"["a","\n"]"#,
    );
    check(&|w| w.value(&List::<u8>::default(), None).unwrap(), "[]");
    check(
        &|w| w.value(&Map::from(&[("a", 1)]), None).unwrap(),
        r#"{"a":1}"#,
    );
    check(&|w| w.value(&Map::<u8>::default(), None).unwrap(), "{}");
    check(&|w| w.value(&Str::new("\"\n"), None).unwrap(), r#""\"\n""#);
}

/// Errors name the members of types, never those of the peer.
#[test]
fn paths() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "decoded for the paths of its errors")]
    struct Outer {
        items: Vec<BTreeMap<String, Inner>>,
    }
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "decoded for the paths of its errors")]
    struct Inner {
        value: u8,
        shape: Option<Shape>,
    }
    let check = |json: &str, expected: &str| {
        let raw = Raw::parse(json.as_bytes(), 16).unwrap();
        let message = raw.decode::<Outer>(&mut []).unwrap_err().to_string();
        assert!(message.starts_with(expected), "{message}");
        assert!(!message.contains("secret"), "{message}");
    };
    check(r#"{}"#, "missing member `items`");
    check(r#"{"items":1}"#, "items: ");
    check(r#"{"items":[{},{"secret":1}]}"#, "items[1].*: ");
    check(
        r#"{"items":[{"secret":{"value":"secret"}}]}"#,
        "items[0].*.value: ",
    );
    check(
        r#"{"items":[{"s":{"value":1,"shape":{"Circle":[]}}}]}"#,
        "items[0].*.shape..: ",
    );
    #[cfg(feature = "alloc")]
    check(
        r#"{"items":[{"s":{"value":"x"}}]}"#,
        "items[0].*.value: expected u8, found string",
    );
}
