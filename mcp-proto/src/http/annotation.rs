//! `x-mcp-header`: which arguments of a tool are repeated in headers (XH-01 to XH-06).
//!
//! The transports draft of spring 2026 lets numbers have headers, too; it has rules of its own
//! ([`Annotations::read_draft`]).

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::mirror::{self, MirrorError};
use crate::json::{Object, Raw, Str};

/// The annotated arguments of one tool, in the order of its schema.
///
/// ```
/// use mcp_proto::http::annotation::Annotations;
/// use mcp_proto::json::Raw;
///
/// let schema = br#"{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}"#;
/// let annotations = Annotations::read(Raw::parse(schema, 8)?)?;
/// let arguments = Raw::parse(br#"{"zone":"b"}"#, 8)?;
/// let zone = annotations.of(arguments.object()).next().unwrap();
/// let mut out = [0; 8];
/// let len = zone.write(&mut out)?.unwrap();
/// assert_eq!((zone.header, &out[..len]), ("Mcp-Param-Zone", &b"b"[..]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Annotations(Vec<Annotation>);

#[derive(Clone, Debug)]
struct Annotation {
    /// `Mcp-Param-` and the name.
    header: String,
    /// From the arguments down; never empty.
    path: Vec<String>,
    kind: Kind,
}

/// An annotated argument of one call.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a, 'b> {
    /// The name of its header.
    pub header: &'a str,
    /// The value of the argument in the call; without one, or with null, there is no header
    /// (XH-09).
    pub value: Option<Raw<'b>>,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A string, an integer or a boolean.
    Published,
    /// Any number.
    Number,
}

/// Faults of a tool's annotations: no client sends headers for such a tool (XH-07).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BadAnnotation {
    /// The name of a header is no token of RFC 9110 (XH-02).
    Name,
    /// Two properties have the same header (XH-03).
    Doubled,
    /// The property is no string, integer or boolean (XH-04).
    Type,
    /// The property is a number, which the draft alone has headers for.
    Number,
    /// It stands where no chain of `properties` leads (XH-06).
    Place,
    /// A key that matters stands twice in a schema, or is half a surrogate pair.
    Schema,
}

impl Annotations {
    /// Reads the annotations of an `inputSchema`.
    ///
    /// # Errors
    /// [`BadAnnotation`] with the first mistake: the tool has none then.
    pub fn read(schema: Raw<'_>) -> Result<Self, BadAnnotation> {
        Self::read_by(schema, &[Kind::Published])
    }

    /// Reads the annotations of an `inputSchema` of the transports draft of spring 2026, in which
    /// numbers have headers, too.
    ///
    /// # Errors
    /// Those of [`read`](Self::read) but [`BadAnnotation::Number`].
    pub fn read_draft(schema: Raw<'_>) -> Result<Self, BadAnnotation> {
        Self::read_by(schema, &[Kind::Published, Kind::Number])
    }

    /// Returns true if no argument has a header.
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Each annotated argument with the value at its exact path (XH-09).
    pub fn of<'a, 'b>(
        &'a self,
        arguments: Option<Object<'b>>,
    ) -> impl Iterator<Item = Argument<'a, 'b>> {
        self.0.iter().map(move |annotation| {
            let start = arguments.map(Object::as_raw);
            let value = annotation
                .path
                .iter()
                .try_fold(start, |at, key| Some(at?.object()?.get(key)));
            Argument {
                header: &annotation.header,
                value: value.flatten().filter(|value| !value.is_null()),
                kind: annotation.kind,
            }
        })
    }

    fn read_by(schema: Raw<'_>, allowed: &[Kind]) -> Result<Self, BadAnnotation> {
        let mut found = Self::default();
        found.walk(schema, Some(&mut Vec::new()), allowed)?;
        Ok(found)
    }

    /// Looks through one schema; `path` leads to it, if a chain of `properties` does. The depth
    /// of the text bounds the recursion.
    fn walk(
        &mut self,
        schema: Raw<'_>,
        mut path: Option<&mut Vec<String>>,
        allowed: &[Kind],
    ) -> Result<(), BadAnnotation> {
        let Some(schema) = schema.object() else {
            return Ok(());
        };
        let [annotation, kind, properties] = schema
            .find([KEY, "type", "properties"])
            .map_err(|_| BadAnnotation::Schema)?;
        if let Some(name) = annotation {
            match &path {
                Some(path) if !path.is_empty() => self.add(name, kind, path, allowed)?,
                _ => return Err(BadAnnotation::Place),
            }
        }
        for (name, property) in members(properties) {
            match &mut path {
                Some(path) => {
                    if !name.is_exact() {
                        // It has no path, so nothing below it has a header.
                        self.walk(property, None, allowed)?;
                        continue;
                    }
                    path.push(name.to_cow().into_owned());
                    self.walk(property, Some(path), allowed)?;
                    path.pop();
                }
                None => self.walk(property, None, allowed)?,
            }
        }
        for (keyword, value) in schema.members() {
            if keyword == "properties" || DATA.iter().any(|data| keyword == *data) {
                continue;
            }
            if NAMED.iter().any(|named| keyword == *named) {
                for (_, schema) in members(Some(value)) {
                    self.walk(schema, None, allowed)?;
                }
                continue;
            }
            self.walk(value, None, allowed)?;
            for schema in value.array().into_iter().flat_map(|list| list.elements()) {
                self.walk(schema, None, allowed)?;
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        name: Raw<'_>,
        kind: Option<Raw<'_>>,
        path: &[String],
        allowed: &[Kind],
    ) -> Result<(), BadAnnotation> {
        let name = name.string().map(Str::to_cow).unwrap_or_default();
        if name.is_empty() || !name.bytes().all(is_token) {
            return Err(BadAnnotation::Name);
        }
        let kind = kind.and_then(kind_of).ok_or(BadAnnotation::Type)?;
        if !allowed.contains(&kind) {
            return Err(BadAnnotation::Number);
        }
        let mut header = String::from(PREFIX);
        header.push_str(&name);
        let duplicate = |other: &Annotation| other.header.eq_ignore_ascii_case(&header);
        if self.0.iter().any(duplicate) {
            return Err(BadAnnotation::Doubled);
        }
        self.0.push(Annotation {
            header,
            path: path.to_vec(),
            kind,
        });
        Ok(())
    }
}

impl Argument<'_, '_> {
    /// Writes the text of its header and returns the length; `None` if it has none.
    ///
    /// # Errors
    /// Those of [`mirror::write`], and for numbers of [`mirror::write_number`].
    pub fn write(&self, out: &mut [u8]) -> Result<Option<usize>, MirrorError> {
        match (self.value, self.kind) {
            (None, _) => Ok(None),
            (Some(value), Kind::Published) => mirror::write(value, out),
            (Some(value), Kind::Number) => mirror::write_number(value, out),
        }
    }

    /// Returns true if the text of a header stands for the value of the call (XH-14).
    pub fn matches(&self, text: &[u8]) -> bool {
        self.value.is_some_and(|value| mirror::matches(text, value))
    }
}

impl fmt::Display for BadAnnotation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name => "the name of a header is empty or has characters that headers have not",
            Self::Doubled => "two properties have the same header",
            Self::Type => "a property with a header is no string, integer or boolean",
            Self::Number => {
                "a property with a header is a number, which the draft profile alone allows"
            }
            Self::Place => "a header is asked for where no chain of properties leads",
            Self::Schema => "the schema says something twice",
        })
    }
}

impl core::error::Error for BadAnnotation {}

fn members<'b>(object: Option<Raw<'b>>) -> impl Iterator<Item = (Str<'b>, Raw<'b>)> {
    object
        .and_then(Raw::object)
        .into_iter()
        .flat_map(Object::members)
}

/// XH-04, XH-24: one of the types, or one of them and null.
fn kind_of(kind: Raw<'_>) -> Option<Kind> {
    let of = |kind: Raw<'_>| {
        let kind = kind.string()?;
        let (_, found) = MIRRORED.iter().find(|(name, _)| kind == **name)?;
        Some(*found)
    };
    let Some(list) = kind.array() else {
        return of(kind);
    };
    let null = |kind: Raw<'_>| kind.string().is_some_and(|kind| kind == "null");
    let mut others = list.elements().filter(|kind| !null(*kind));
    let only = others.next().and_then(of);
    only.filter(|_| others.next().is_none())
}

/// `tchar` of RFC 9110, section 5.6.2.
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_'
        )
        || matches!(byte, b'`' | b'|' | b'~')
}

/// The annotation.
const KEY: &str = "x-mcp-header";
const PREFIX: &str = "Mcp-Param-";
const MIRRORED: &[(&str, Kind)] = &[
    ("string", Kind::Published),
    ("integer", Kind::Published),
    ("boolean", Kind::Published),
    ("number", Kind::Number),
];
/// Keywords whose values are data, whatever they look like.
const DATA: &[&str] = &["default", "const", "enum", "examples", "required", KEY];
/// Keywords whose values hold schemas under arbitrary names.
const NAMED: &[&str] = &[
    "$defs",
    "definitions",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
];

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;

    fn read(properties: &str) -> Result<Annotations, BadAnnotation> {
        let schema = format!(r#"{{"type":"object","properties":{{{properties}}}}}"#);
        Annotations::read(Raw::parse(schema.as_bytes(), 64).unwrap())
    }

    #[track_caller]
    fn check(properties: &str, arguments: &str, expected: &str) {
        let arguments = Raw::parse(arguments.as_bytes(), 64).unwrap();
        let annotations = read(properties).unwrap();
        let said: Vec<_> = annotations
            .of(arguments.object())
            .map(|argument| {
                let name = argument.header.strip_prefix("Mcp-Param-").unwrap();
                format!("{name}={}", argument.value.map_or("-", Raw::as_str))
            })
            .collect();
        assert_eq!(said.join(" "), expected);
    }

    #[track_caller]
    fn bad(properties: &str, expected: BadAnnotation) {
        assert_eq!(read(properties).unwrap_err(), expected);
        assert!(!expected.to_string().is_empty());
    }

    /// XH-01, XH-09, XH-24.
    #[test]
    fn annotated_arguments() {
        let zone = r#""zone":{"type":"string","x-mcp-header":"Zone"}"#;
        check(zone, r#"{"zone":"a","Zone":"b"}"#, r#"Zone="a""#);
        check(zone, r#"{"zone":null}"#, "Zone=-");
        check(zone, "{}", "Zone=-");
        check(zone, "[]", "Zone=-");
        check(
            r#""a":{"properties":{"b":{"type":["null","integer"],"x-mcp-header":"B"}}},"c":{"type":"boolean","x-mcp-header":"c"}"#,
            r#"{"a":{"b":7},"c":true}"#,
            "B=7 c=true",
        );
        check(r#""a":{"type":"object"}"#, "{}", "");
        // Names and data that only look like annotations are ignored.
        check(
            r#""x-mcp-header":{"type":"string"},"b":{"default":{"x-mcp-header":1},"enum":[{"x-mcp-header":1}]}"#,
            "{}",
            "",
        );
    }

    /// XH-02, XH-03, XH-04, XH-06, XH-24.
    #[test]
    fn what_breaks_a_tool() {
        for name in ["", "My Region", "Region:Primary", "Région", "Region\\t1"] {
            let property = format!(r#""a":{{"type":"string","x-mcp-header":"{name}"}}"#);
            bad(&property, BadAnnotation::Name);
        }
        bad(
            r#""a":{"type":"string","x-mcp-header":7}"#,
            BadAnnotation::Name,
        );
        for kind in [r#""object""#, "[]", r#"["string","integer"]"#] {
            let property = format!(r#""a":{{"type":{kind},"x-mcp-header":"A"}}"#);
            bad(&property, BadAnnotation::Type);
        }
        bad(r#""a":{"x-mcp-header":"A"}"#, BadAnnotation::Type);
        for kind in [r#""number""#, r#"["null","number"]"#] {
            let property = format!(r#""a":{{"type":{kind},"x-mcp-header":"A"}}"#);
            bad(&property, BadAnnotation::Number);
        }
        let annotated = r#"{"type":"string","x-mcp-header":"A"}"#;
        bad(
            &format!(
                r#""a":{annotated},"b":{}"#,
                annotated.replace("\"A\"", "\"a\"")
            ),
            BadAnnotation::Doubled,
        );
        for keyword in ["items", "not", "if", "additionalProperties", "x-own"] {
            bad(
                &format!(r#""a":{{"{keyword}":{annotated}}}"#),
                BadAnnotation::Place,
            );
        }
        for keyword in ["oneOf", "allOf", "prefixItems"] {
            bad(
                &format!(r#""a":{{"{keyword}":[{annotated}]}}"#),
                BadAnnotation::Place,
            );
        }
        for keyword in NAMED {
            let below = format!(r#""a":{{"{keyword}":{{"x-mcp-header":{annotated}}}}}"#);
            bad(&below, BadAnnotation::Place);
        }
        let items = format!(r#""a":{{"items":{{"properties":{{"b":{annotated}}}}}}}"#);
        bad(&items, BadAnnotation::Place);
        let root = Raw::parse(annotated.as_bytes(), 8).unwrap();
        assert_eq!(Annotations::read(root).unwrap_err(), BadAnnotation::Place);
        bad(
            r#""a":{"type":"string","type":"string","x-mcp-header":"A"}"#,
            BadAnnotation::Schema,
        );
        assert!(
            Annotations::read(Raw::parse(b"true", 1).unwrap())
                .unwrap()
                .is_empty()
        );
    }

    /// DF-05.
    #[test]
    fn numbers_of_the_draft() {
        let read = |properties: &str| {
            let schema = format!(r#"{{"properties":{{{properties}}}}}"#);
            Annotations::read_draft(Raw::parse(schema.as_bytes(), 64).unwrap())
        };
        let property = |kind: &str| format!(r#""a":{{"type":{kind},"x-mcp-header":"A"}}"#);
        let check = |kind: &str, value: &str, expected: Result<&str, MirrorError>| {
            let arguments = format!(r#"{{"a":{value}}}"#);
            let arguments = Raw::parse(arguments.as_bytes(), 8).unwrap();
            let annotations = read(&property(kind)).unwrap();
            let a = annotations.of(arguments.object()).next().unwrap();
            let mut out = [0; 64];
            let written = a.write(&mut out).map(|len| &out[..len.unwrap()]);
            assert_eq!(written, expected.map(str::as_bytes));
            assert!(written.is_err() || a.matches(written.unwrap()));
        };
        check(r#""number""#, "1.5", Ok("1.5"));
        check(r#"["number","null"]"#, "-2e3", Ok("-2000"));
        check(r#""number""#, r#""1.5""#, Err(MirrorError::Kind));
        // An integer is one in the draft, too.
        check(r#""integer""#, "7", Ok("7"));
        check(r#""integer""#, "1.5", Err(MirrorError::Kind));
        // And everything else is as it is elsewhere.
        let errors = [
            (r#"["number","integer"]"#, BadAnnotation::Type),
            (r#""object""#, BadAnnotation::Type),
        ];
        for (kind, error) in errors {
            assert_eq!(read(&property(kind)).unwrap_err(), error);
        }
        let below = format!(
            r#""b":{{"items":{}}}"#,
            r#"{"type":"number","x-mcp-header":"A"}"#
        );
        assert_eq!(read(&below).unwrap_err(), BadAnnotation::Place);
    }
}
