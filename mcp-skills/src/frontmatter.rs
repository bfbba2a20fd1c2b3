//! The frontmatter of `SKILL.md`.

use core::fmt;
use core::str::Utf8Error;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use crate::yaml;

/// The frontmatter of a skill: its YAML as JSON, with every field.
///
/// YAML is read by the core schema of version 1.2: `yes` and `2026-01-31` are text, `1.50` is a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Frontmatter(Map<String, Value>);

impl Frontmatter {
    /// Returns the field `name`, if it is text.
    pub fn name(&self) -> Option<&str> {
        self.0.get("name")?.as_str()
    }

    /// Returns the field `description`, if it is text.
    pub fn description(&self) -> Option<&str> {
        self.0.get("description")?.as_str()
    }

    /// Returns all fields.
    pub const fn fields(&self) -> &Map<String, Value> {
        &self.0
    }

    /// Returns the name of a field that differs in content, or that one of the two lacks.
    /// The order of fields has no meaning, and `1` is equal to `1.0`.
    pub fn difference<'a>(&'a self, other: &'a Self) -> Option<&'a str> {
        let differs = |(name, value): &(&String, &Value)| {
            !other.0.get(*name).is_some_and(|other| same(value, other))
        };
        let added = |name: &&String| !self.0.contains_key(*name);
        let changed = self.0.iter().find(differs).map(|(name, _)| name);
        changed
            .or_else(|| other.0.keys().find(added))
            .map(String::as_str)
    }
}

/// Reads the frontmatter of the bytes of a `SKILL.md`: YAML between two lines `---`, the first of
/// which begins the file. A byte order mark before it and line ends of Windows are accepted.
///
/// The frontmatter has at most 64 KiB, and its depth and the size of what its aliases stand for are
/// bounded, so that a hostile file costs little.
///
/// ```
/// use mcp_skills::parse_frontmatter;
///
/// let file = "---\nname: refunds\ndescription: Handles refunds\n---\n# Refunds\n";
/// let frontmatter = parse_frontmatter(file.as_bytes())?;
/// assert_eq!(frontmatter.name(), Some("refunds"));
/// # Ok::<(), mcp_skills::FrontmatterError>(())
/// ```
///
/// # Errors
/// The file has no frontmatter, or one that is no YAML, has no JSON form, or lacks `name` or
/// `description`.
pub fn parse_frontmatter(bytes: &[u8]) -> Result<Frontmatter, FrontmatterError> {
    let text = core::str::from_utf8(bytes).map_err(FrontmatterError::NotText)?;
    read_text(text).map(|(frontmatter, _)| frontmatter)
}

/// The frontmatter of a text, and what follows it.
pub(crate) fn read_text(text: &str) -> Result<(Frontmatter, &str), FrontmatterError> {
    let (yaml, body) = split(text)?;
    Ok((read(yaml)?, body))
}

/// The YAML between the two lines, and the text after the second.
fn split(text: &str) -> Result<(&str, &str), FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().filter(|line| is_fence(line));
    let start = first.ok_or(FrontmatterError::Missing)?.len();
    let mut end = start;
    for line in lines {
        if end - start > MAX_BYTES {
            return Err(FrontmatterError::TooLong);
        }
        if is_fence(line) {
            return Ok((&text[start..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err(FrontmatterError::Unclosed)
}

fn is_fence(line: &str) -> bool {
    line.trim_end_matches([' ', '\t', '\r', '\n']) == "---"
}

fn read(yaml: &str) -> Result<Frontmatter, FrontmatterError> {
    if yaml.len() > MAX_BYTES {
        return Err(FrontmatterError::TooLong);
    }
    let value = yaml::parse(yaml).map_err(FrontmatterError::Yaml)?;
    let Value::Object(fields) = value else {
        return Err(FrontmatterError::NotFields);
    };
    let has_text = |field: &str| {
        let text = fields.get(field).and_then(Value::as_str);
        text.is_some_and(|text| !text.trim().is_empty())
    };
    match ["name", "description"]
        .into_iter()
        .find(|field| !has_text(field))
    {
        Some(field) => Err(FrontmatterError::Field(field)),
        None => Ok(Frontmatter(fields)),
    }
}

/// Returns true if two values are equal in content.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => same_number(one, other),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let equal = |(name, value): (&String, &Value)| {
                other.get(name).is_some_and(|other| same(value, other))
            };
            one.len() == other.len() && one.iter().all(equal)
        }
        _ => one == other,
    }
}

/// Whole numbers are compared exactly, others as they are rounded.
fn same_number(one: &Number, other: &Number) -> bool {
    one == other || ((one.is_f64() || other.is_f64()) && one.as_f64() == other.as_f64())
}

/// Reasons for which a `SKILL.md` has no valid frontmatter.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FrontmatterError {
    /// The file is not UTF-8.
    NotText(Utf8Error),
    /// The file does not begin with a line `---`.
    Missing,
    /// A second line `---` is missing.
    Unclosed,
    /// It has more than 64 KiB.
    TooLong,
    /// It is no YAML, has no JSON form, or exceeds a bound; the text says what and where.
    Yaml(String),
    /// It is YAML of another kind than fields with values.
    NotFields,
    /// This field is missing, empty or no text.
    Field(&'static str),
}

impl fmt::Display for FrontmatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText(_) => f.write_str("SKILL.md is not UTF-8"),
            Self::Missing => f.write_str("SKILL.md does not begin with a line `---`"),
            Self::Unclosed => f.write_str("the frontmatter has no second line `---`"),
            Self::TooLong => f.write_str("the frontmatter has more than 64 KiB"),
            Self::Yaml(reason) => write!(f, "the frontmatter cannot be read: {reason}"),
            Self::NotFields => f.write_str("the frontmatter has no fields"),
            Self::Field(name) => {
                write!(
                    f,
                    "the field `{name}` of the frontmatter is missing, empty or no text"
                )
            }
        }
    }
}

impl core::error::Error for FrontmatterError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::NotText(error) => Some(error),
            _ => None,
        }
    }
}

const MAX_BYTES: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Frontmatter, FrontmatterError> {
        parse_frontmatter(text.as_bytes())
    }

    fn of(json: &str) -> Frontmatter {
        serde_json::from_str(json).unwrap()
    }

    /// SK-04, SK-45
    #[test]
    fn sk_45_frontmatter_is_what_stands_between_the_fences() {
        let expected = of(r#"{"name":"a","description":"d\n---"}"#);
        for text in [
            "---\nname: a\ndescription: \"d\\n---\"\n---\nbody",
            "\u{feff}---\nname: a\ndescription: \"d\\n---\"\n---\nbody",
            "---\r\nname: a\r\ndescription: \"d\\n---\"\r\n---\r\nbody",
            "---  \nname: a\ndescription: \"d\\n---\"\n---",
            "---\nname: a\ndescription: |-\n  d\n  ---\n---\nbody",
        ] {
            assert_eq!(parse(text), Ok(expected.clone()), "{text:?}");
        }
        let (_, body) = read_text("---\r\nname: a\r\ndescription: d\r\n---\r\nbody\r\n").unwrap();
        assert_eq!(body, "body\r\n");
    }

    /// SK-04
    #[test]
    fn sk_04_a_file_without_frontmatter_is_refused() {
        let check = |text: &str, expected: FrontmatterError| {
            assert_eq!(parse(text), Err(expected), "{text:?}");
        };
        check("", FrontmatterError::Missing);
        check("# Title\n", FrontmatterError::Missing);
        check("\n---\nname: a\n---\n", FrontmatterError::Missing);
        check("----\nname: a\n---\n", FrontmatterError::Missing);
        check("---\nname: a\ndescription: b\n", FrontmatterError::Unclosed);
        check("---\nname: a\n ---\n", FrontmatterError::Unclosed);
        check("---\n---\n", FrontmatterError::NotFields);
        check("---\n- a\n---\n", FrontmatterError::NotFields);
        check(
            "---\nname: a\n---\n",
            FrontmatterError::Field("description"),
        );
        check(
            "---\ndescription: a\n---\n",
            FrontmatterError::Field("name"),
        );
        check(
            "---\nname: 1\ndescription: a\n---\n",
            FrontmatterError::Field("name"),
        );
        check(
            "---\nname: a\ndescription: ' '\n---\n",
            FrontmatterError::Field("description"),
        );
        let long = format!("---\nname: {}\n---\n", "a\n".repeat(40_000));
        check(&long, FrontmatterError::TooLong);
        let line = format!("---\nname: {}\n---\n", "a".repeat(70_000));
        check(&line, FrontmatterError::TooLong);
        assert!(matches!(
            parse_frontmatter(b"---\nname: \xff\n---\n"),
            Err(FrontmatterError::NotText(_))
        ));
    }

    /// SK-33
    #[test]
    fn sk_33_fields_are_compared_by_content() {
        let check = |one: &str, other: &str, expected: Option<&str>| {
            let (one, other) = (of(one), of(other));
            assert_eq!(one.difference(&other), expected);
            assert_eq!(other.difference(&one), expected);
        };
        check(r#"{"a":1,"b":2}"#, r#"{"b":2.0,"a":1}"#, None);
        check(r#"{"a":[1,{"b":0.5}]}"#, r#"{"a":[1.0,{"b":5e-1}]}"#, None);
        check(r#"{"a":1}"#, r#"{"a":"1"}"#, Some("a"));
        check(r#"{"a":1}"#, r#"{"a":1,"b":null}"#, Some("b"));
        check(r#"{"a":[1,2]}"#, r#"{"a":[2,1]}"#, Some("a"));
        check(r#"{"a":[1]}"#, r#"{"a":[1,1]}"#, Some("a"));
        check(r#"{"a":{"b":1}}"#, r#"{"a":{"b":1,"c":1}}"#, Some("a"));
        check(
            r#"{"a":9007199254740993}"#,
            r#"{"a":9007199254740992}"#,
            Some("a"),
        );
    }
}
