//! Errors of schemas and of values.

use core::fmt;

use jsonschema::ValidationError;

use super::expected::cut;

/// Reasons for which a schema is not used to check values. Texts of the schema are cut to a few
/// words.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaError {
    /// It is neither an object nor `true` nor `false`.
    Kind,
    /// It breaks the rules of its dialect.
    Invalid(String),
    /// Its dialect is unknown.
    Dialect(String),
    /// A reference leads nowhere, or out of the schema: nothing is fetched and no file is read.
    Reference(String),
    /// It says of a value only that it has to fit the schema itself, without end.
    Circle,
    /// A pattern that cannot be matched in time linear in the text: it is no regular expression,
    /// looks around, refers back, or is too large when compiled.
    Pattern(String),
    /// An object in it has two members of one name, which two readers may read as two schemas.
    Duplicate(String),
    /// It is larger than the limit with this name: a field of
    /// [`SchemaLimits`](super::SchemaLimits), or one that is fixed: the bytes of all
    /// `identifiers` (8 KiB) and of one of the `references` (2 KiB), the `levels` that the
    /// compiler goes down (128, where each of up to eight references adds those of its target).
    Limit(&'static str),
}

impl SchemaError {
    /// The error of a schema that breaks the rules of its dialect.
    pub(super) fn invalid(error: &ValidationError<'_>) -> Self {
        Self::Invalid(cut(&error.masked().to_string()))
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kind => f.write_str("a schema is an object or a boolean"),
            Self::Invalid(text) => write!(f, "not a schema: {text}"),
            Self::Dialect(uri) => write!(f, "unsupported dialect `{uri}`"),
            Self::Reference(text) => write!(f, "reference out of the schema: {text}"),
            Self::Circle => f.write_str("a circle of references"),
            Self::Pattern(pattern) => write!(f, "unsupported pattern `{pattern}`"),
            Self::Duplicate(name) => write!(f, "two members named `{name}`"),
            Self::Limit(limit) => write!(f, "the schema is beyond the limit of {limit}"),
        }
    }
}

impl core::error::Error for SchemaError {}

/// The reason for which a value does not fit its schema, and the place in the value.
///
/// The text names what the schema wants and no text of the value but names of members, so it
/// can be sent to the peer and logged: `days[0]: expected integer, found string`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    path: String,
    place: String,
    text: String,
    limit: bool,
}

impl Violation {
    /// The place is given as a JSON Pointer and as its text.
    pub(super) fn new(path: &str, place: &str, text: &str) -> Self {
        Self {
            path: cut(path),
            place: cut(place),
            text: cut(text),
            limit: false,
        }
    }

    pub(super) fn limit(limit: &str) -> Self {
        Self {
            path: String::new(),
            place: String::new(),
            text: format!("the value cannot be checked within the limit of {limit}"),
            limit: true,
        }
    }

    /// The place, as a JSON Pointer (RFC 6901): `/days/0`. Empty for the value as a whole, and
    /// where finding the place would cost more than
    /// [`SchemaLimits::described`](super::SchemaLimits::described).
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The description of the violation.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns true if a limit ended the check: the value may fit or not.
    pub const fn is_limit(&self) -> bool {
        self.limit
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.place.is_empty() {
            f.write_str(&self.text)
        } else {
            write!(f, "{}: {}", self.place, self.text)
        }
    }
}

impl core::error::Error for Violation {}
