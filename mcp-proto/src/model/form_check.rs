//! Checks the answer to a form against the form (EL-09).

use core::fmt;

use super::{
    Choices, ElicitationSchema, EnumSchema, MultiEnumSchema, NumberSchema, NumberType,
    PrimitiveSchema, StringFormat, StringSchema,
};
use crate::json::{Number, Object, Raw, Str};

/// A field of an answer that is not what the form asks for.
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::model::{ElicitationSchema, FieldFault};
///
/// let form = br#"{"type":"object","properties":{"age":{"type":"integer","minimum":0}}}"#;
/// let form: ElicitationSchema<'_> = Raw::parse(form, 8)?.decode(&mut [])?;
/// let content = Raw::parse(br#"{"age":-1}"#, 8)?.object().unwrap();
/// let mismatch = form.check(content).unwrap_err();
/// assert_eq!(mismatch.fault, FieldFault::Range);
/// assert_eq!(mismatch.to_string(), "age: the number is out of range");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldMismatch<'b> {
    /// The name of the field, as the form has it.
    pub field: Str<'b>,
    /// The fault of the value.
    pub fault: FieldFault,
}

/// Faults of the value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldFault {
    /// The form requires it.
    Missing,
    /// It occurs twice: one reader would take the first, another the last.
    Duplicate,
    /// It is of another type.
    Type,
    /// The text is shorter or longer than allowed.
    Length,
    /// The text is not of the format that the form names.
    Format,
    /// The number is less or more than allowed.
    Range,
    /// It is not among the choices.
    Choice,
    /// There are fewer or more choices than allowed.
    Count,
}

impl<'b> ElicitationSchema<'b> {
    /// Checks the content of an answer. A member that is `null` counts as absent, and members
    /// that the form does not have are not looked at.
    ///
    /// # Errors
    ///
    /// The first field that is not what the form asks for.
    pub fn check(&self, content: Object<'_>) -> Result<(), FieldMismatch<'b>> {
        self.check_given(content)?;
        for name in self.required.into_iter().flat_map(|names| names.iter()) {
            let Ok(field) = name else { continue };
            let mut members = content.members();
            if !members.any(|(name, value)| name == field && !value.is_null()) {
                return Err(FieldMismatch {
                    field,
                    fault: FieldFault::Missing,
                });
            }
        }
        Ok(())
    }

    /// Checks the fields that are there, and demands none.
    ///
    /// # Errors
    ///
    /// The first field that is not what the form asks for.
    pub fn check_given(&self, content: Object<'_>) -> Result<(), FieldMismatch<'b>> {
        for (field, schema) in self.properties.iter() {
            let mut values = content.members().filter(|(name, _)| *name == field);
            let value = values.next().map(|(_, value)| value);
            let fault = if values.next().is_some() {
                Err(FieldFault::Duplicate)
            } else {
                match (value.filter(|value| !value.is_null()), schema) {
                    (Some(value), Ok(schema)) => check(&schema, value),
                    // A part of the form that cannot be read is no rule.
                    (None, _) | (Some(_), Err(_)) => Ok(()),
                }
            };
            fault.map_err(|fault| FieldMismatch { field, fault })?;
        }
        Ok(())
    }
}

fn check(schema: &PrimitiveSchema<'_>, value: Raw<'_>) -> Result<(), FieldFault> {
    match schema {
        PrimitiveSchema::String(schema) => text(schema, value),
        PrimitiveSchema::Number(schema) => number(schema, value),
        PrimitiveSchema::Boolean(_) => {
            value.boolean().ok_or(FieldFault::Type)?;
            Ok(())
        }
        PrimitiveSchema::Enum(EnumSchema { choices, .. }) => one_of(choices, value),
        PrimitiveSchema::MultiEnum(schema) => several_of(schema, value),
        PrimitiveSchema::Other(_) => Ok(()),
    }
}

fn text(schema: &StringSchema<'_>, value: Raw<'_>) -> Result<(), FieldFault> {
    let text = value.string().ok_or(FieldFault::Type)?;
    let length = text.chars().count() as u64;
    if schema.min_length.is_some_and(|least| length < least)
        || schema.max_length.is_some_and(|most| length > most)
    {
        return Err(FieldFault::Length);
    }
    let fits = schema.format.is_none_or(|format| format.matches(text));
    fits.then_some(()).ok_or(FieldFault::Format)
}

impl StringFormat<'_> {
    /// Returns whether a text has this format. A format that no revision defines allows every text.
    pub fn matches(self, text: Str<'_>) -> bool {
        match self {
            Self::Email => is_email(text),
            Self::Uri => is_uri(text),
            Self::Date => is_date(&mut text.chars()) && text.chars().count() == DATE,
            Self::DateTime => is_date_time(text),
            Self::Other(_) => true,
        }
    }
}

fn number(schema: &NumberSchema<'_>, value: Raw<'_>) -> Result<(), FieldFault> {
    let number = value.number().ok_or(FieldFault::Type)?;
    let value = number.to_f64();
    if schema.kind == NumberType::Integer && !is_integer(number) {
        return Err(FieldFault::Type);
    }
    if schema.minimum.is_some_and(|least| value < least)
        || schema.maximum.is_some_and(|most| value > most)
    {
        return Err(FieldFault::Range);
    }
    Ok(())
}

/// Returns true if the number has no fraction: `1.0` and `1e3` have none.
fn is_integer(number: Number<'_>) -> bool {
    number.to_i64().is_some() || number.to_u64().is_some() || {
        let value = number.to_f64();
        value.is_finite() && value % 1.0 == 0.0
    }
}

fn one_of(choices: &Choices<'_>, value: Raw<'_>) -> Result<(), FieldFault> {
    let chosen = value.string().ok_or(FieldFault::Type)?;
    let among = match choices {
        Choices::Untitled(values) | Choices::Named { values, .. } => values
            .iter()
            .any(|value| value.is_ok_and(|value| value == chosen)),
        Choices::Titled(choices) => choices
            .iter()
            .any(|choice| choice.is_ok_and(|choice| choice.value == chosen)),
    };
    among.then_some(()).ok_or(FieldFault::Choice)
}

fn several_of(schema: &MultiEnumSchema<'_>, value: Raw<'_>) -> Result<(), FieldFault> {
    let chosen = value.array().ok_or(FieldFault::Type)?;
    let mut count = 0;
    for value in chosen.elements() {
        one_of(&schema.choices, value)?;
        count += 1;
    }
    if schema.min_items.is_some_and(|least| count < least)
        || schema.max_items.is_some_and(|most| count > most)
    {
        return Err(FieldFault::Count);
    }
    Ok(())
}

/// One `@` with something on both sides of it, and no white space.
fn is_email(text: Str<'_>) -> bool {
    let mut chars = text.chars().peekable();
    let (mut before, mut after, mut signs) = (0, 0, 0);
    for char in &mut chars {
        match char {
            '@' => signs += 1,
            char if char.is_whitespace() || char.is_control() => return false,
            _ if signs == 0 => before += 1,
            _ => after += 1,
        }
    }
    // A quoted name may hold further signs.
    signs > 0 && before > 0 && after > 0
}

/// A scheme and a colon, and no white space (RFC 3986).
fn is_uri(text: Str<'_>) -> bool {
    let mut chars = text.chars();
    if !chars
        .next()
        .is_some_and(|first| first.is_ascii_alphabetic())
    {
        return false;
    }
    let scheme = |char: &char| char.is_ascii_alphanumeric() || matches!(char, '+' | '-' | '.');
    chars.find(|char| !scheme(char)) == Some(':')
        && text
            .chars()
            .all(|char| !char.is_whitespace() && !char.is_control())
}

/// `2026-07-28`, of the characters that come next.
fn is_date(chars: &mut impl Iterator<Item = char>) -> bool {
    let year = digits(chars, 4);
    let dash = chars.next();
    let month = digits(chars, 2);
    let dashes = dash == Some('-') && chars.next() == Some('-');
    let day = digits(chars, 2);
    let (Some(year), Some(month), Some(day)) = (year, month, day) else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 31,
    };
    dashes && (1..=12).contains(&month) && (1..=days).contains(&day)
}

/// A date, `T`, a time of day, and `Z` or an offset (RFC 3339).
fn is_date_time(text: Str<'_>) -> bool {
    let chars = &mut text.chars();
    if !is_date(chars) || !matches!(chars.next(), Some('T' | 't' | ' ')) {
        return false;
    }
    let (Some(0..=23), Some(':'), Some(0..=59), Some(':'), Some(0..=60)) = (
        digits(chars, 2),
        chars.next(),
        digits(chars, 2),
        chars.next(),
        digits(chars, 2),
    ) else {
        return false;
    };
    let mut next = chars.next();
    if next == Some('.') {
        let mut any = false;
        next = chars.find(|char| {
            any |= char.is_ascii_digit();
            !char.is_ascii_digit()
        });
        if !any {
            return false;
        }
    }
    match next {
        Some('Z' | 'z') => chars.next().is_none(),
        Some('+' | '-') => matches!(
            (
                digits(chars, 2),
                chars.next(),
                digits(chars, 2),
                chars.next()
            ),
            (Some(0..=23), Some(':'), Some(0..=59), None)
        ),
        _ => false,
    }
}

/// The number that the next `count` characters are, if all of them are digits.
fn digits(chars: &mut impl Iterator<Item = char>, count: u32) -> Option<u32> {
    (0..count).try_fold(0, |number: u32, _| {
        let digit = chars.next()?.to_digit(10)?;
        Some(number.saturating_mul(10).saturating_add(digit))
    })
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "a value is required",
            Self::Duplicate => "the field occurs twice",
            Self::Type => "the value is of another type",
            Self::Length => "the text is too short or too long",
            Self::Format => "the text is of another format",
            Self::Range => "the number is out of range",
            Self::Choice => "the value is not among the choices",
            Self::Count => "there are too few or too many choices",
        })
    }
}

impl fmt::Display for FieldMismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.fault)
    }
}

impl core::error::Error for FieldMismatch<'_> {}

/// The characters of a date.
const DATE: usize = 10;

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;

    /// Expects this fault of a value of the field `f` with this schema.
    #[track_caller]
    fn check(schema: &str, value: &str, expected: Option<FieldFault>) {
        let form = std::format!(r#"{{"type":"object","properties":{{"f":{schema}}}}}"#);
        let content = std::format!(r#"{{"f":{value},"other":[]}}"#);
        let form = Raw::parse(form.as_bytes(), 16).unwrap();
        let form: ElicitationSchema<'_> = form.decode(&mut []).unwrap();
        let content = Raw::parse(content.as_bytes(), 16).unwrap();
        let fault = form.check(content.object().unwrap()).err();
        assert_eq!(fault.map(|it| it.fault), expected, "{schema} {value}");
    }

    #[test]
    fn texts() {
        let fault = Some(FieldFault::Length);
        let schema = r#"{"type":"string","minLength":2,"maxLength":3}"#;
        check(schema, r#""ab""#, None);
        check(schema, r#""a""#, fault);
        check(schema, r#""\ud83d\udc4bäö""#, None);
        check(schema, r#""abcd""#, fault);
        check(schema, "7", Some(FieldFault::Type));
        check(schema, "null", None);
    }

    #[test]
    fn formats() {
        let of = |format: &str, text: &str, fits: bool| {
            let schema = std::format!(r#"{{"type":"string","format":"{format}"}}"#);
            let fault = (!fits).then_some(FieldFault::Format);
            check(&schema, &std::format!("\"{text}\""), fault);
        };
        of("email", "ada@example.com", true);
        for text in ["ada", "@example.com", "ada@", "ada @example.com"] {
            of("email", text, false);
        }
        of("uri", "https://example.com/", true);
        of("uri", "urn:x", true);
        for text in ["example.com", "//example.com", "1x:y", "x:a b", ""] {
            of("uri", text, false);
        }
        for text in ["2026-07-28", "2024-02-29", "2000-02-29"] {
            of("date", text, true);
        }
        for text in [
            "2026-7-28",
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-04-31",
            "2026-07-28T",
            "28.07.2026",
        ] {
            of("date", text, false);
        }
        for text in [
            "2026-07-28T12:00:00Z",
            "2026-07-28t23:59:60.123+05:30",
            "2026-07-28 00:00:00-00:00",
        ] {
            of("date-time", text, true);
        }
        for text in [
            "2026-07-28",
            "2026-07-28T12:00:00",
            "2026-07-28T24:00:00Z",
            "2026-07-28T12:00:00.Z",
            "2026-07-28T12:00:00Zx",
            "2026-07-28T12:00:00+5:30",
        ] {
            of("date-time", text, false);
        }
        of("hostname", "anything at all", true);
    }

    #[test]
    fn numbers() {
        let schema = r#"{"type":"integer","minimum":-2,"maximum":5}"#;
        for value in ["-2", "5", "5.0", "1e0"] {
            check(schema, value, None);
        }
        check(schema, "-3", Some(FieldFault::Range));
        check(schema, "6", Some(FieldFault::Range));
        check(schema, "1.5", Some(FieldFault::Type));
        check(schema, "\"1\"", Some(FieldFault::Type));
        check(r#"{"type":"number"}"#, "1.5", None);
        check(r#"{"type":"boolean"}"#, "false", None);
        check(r#"{"type":"boolean"}"#, "0", Some(FieldFault::Type));
    }

    #[test]
    fn choices() {
        for schema in [
            r#"{"type":"string","enum":["a","b"]}"#,
            r#"{"type":"string","enum":["a","b"],"enumNames":["A","B"]}"#,
            r#"{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}"#,
        ] {
            check(schema, r#""\u0061""#, None);
            check(schema, r#""A""#, Some(FieldFault::Choice));
            check(schema, "1", Some(FieldFault::Type));
        }
        let schema = r#"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b"]}}"#;
        check(schema, r#"["a","b"]"#, None);
        check(schema, "[]", Some(FieldFault::Count));
        check(schema, r#"["a","b","a"]"#, Some(FieldFault::Count));
        check(schema, r#"["c"]"#, Some(FieldFault::Choice));
        check(schema, r#""a""#, Some(FieldFault::Type));
    }

    #[test]
    fn what_is_required_is_there_once() {
        let form = r#"{"type":"object","properties":{"f":{"type":"string"},"g":{"type":"string"}},"required":["f"]}"#;
        let form: ElicitationSchema<'_> = Raw::parse(form.as_bytes(), 16)
            .unwrap()
            .decode(&mut [])
            .unwrap();
        let check = |content: &str, expected: &str| {
            let content = Raw::parse(content.as_bytes(), 16).unwrap();
            let found = form.check(content.object().unwrap());
            assert_eq!(
                found.map_or_else(|it| it.to_string(), |()| "".into()),
                expected
            );
        };
        check(r#"{"f":"x"}"#, "");
        check(r#"{"f":"x","g":null}"#, "");
        check("{}", "f: a value is required");
        check(r#"{"f":null}"#, "f: a value is required");
        check(r#"{"f":"x","g":"y","g":"y"}"#, "g: the field occurs twice");
    }
}
