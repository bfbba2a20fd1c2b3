//! Errors between JSON and types.

use core::fmt;

use serde::{de, ser};

use super::Kind;
use crate::SendError;

/// The reason for which JSON did not decode into a type, and the place.
///
/// Its text names the path of members and indexes, never a value, so it may be shown to the
/// peer: `days: expected u8, found string`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecodeError {
    kind: DecodeErrorKind,
    path: Path,
    /// The message of the type's `Deserialize`. Only with an allocator: firmware has no room for
    /// prose.
    #[cfg(feature = "alloc")]
    detail: Option<alloc::boxed::Box<str>>,
}

/// Reasons for which a value did not decode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DecodeErrorKind {
    /// A string holds escapes, and the scratch lent for decoding is shorter than its text.
    ScratchFull {
        /// The bytes that the decoded text takes.
        needed: usize,
    },
    /// A text that must be exact holds half a surrogate pair.
    LoneSurrogate,
    /// A value of another kind was expected.
    Type(Kind),
    /// A value of the right kind that the type refuses.
    Value,
    /// An array or object with too few or too many entries.
    Length,
    /// A number that the type has no place for.
    Range,
    /// A member that the type needs is absent.
    MissingField(&'static str),
    /// A member of the type stands twice.
    DuplicateField(&'static str),
    /// A member that the type does not have, where it refuses those.
    UnknownField,
    /// An unknown name for an enum.
    UnknownVariant,
    /// The type wants what JSON does not have, or [`Raw`](super::Raw) and
    /// [`Str`](super::Str) were to be filled by a foreign deserializer.
    Unsupported,
}

impl DecodeError {
    #[cold]
    pub(super) const fn new(kind: DecodeErrorKind) -> Self {
        Self {
            kind,
            path: Path::EMPTY,
            #[cfg(feature = "alloc")]
            detail: None,
        }
    }

    /// A value of another kind than is expected.
    #[cold]
    pub(super) fn mismatch(found: Kind, expected: &dyn de::Expected) -> Self {
        Self::new(DecodeErrorKind::Type(found)).with_detail(expected)
    }

    #[cold]
    pub(super) const fn scratch(needed: usize) -> Self {
        Self::new(DecodeErrorKind::ScratchFull { needed })
    }

    #[cold]
    pub(super) const fn lone_surrogate() -> Self {
        Self::new(DecodeErrorKind::LoneSurrogate)
    }

    /// Returns the reason.
    pub const fn kind(&self) -> DecodeErrorKind {
        self.kind
    }

    /// Puts a step before the path, on the way out of a container.
    #[cold]
    pub(super) fn within(mut self, step: Step) -> Self {
        self.path.prepend(step);
        self
    }

    #[cold]
    fn with_detail(self, detail: impl fmt::Display) -> Self {
        #[cfg(feature = "alloc")]
        {
            let detail = Some(alloc::string::ToString::to_string(&detail).into());
            Self { detail, ..self }
        }
        #[cfg(not(feature = "alloc"))]
        {
            let _ = detail;
            self
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        #[cfg(feature = "alloc")]
        if let Some(detail) = &self.detail {
            return match self.kind {
                DecodeErrorKind::Type(found) => write!(f, "expected {detail}, found {found}"),
                _ => f.write_str(detail),
            };
        }
        match self.kind {
            DecodeErrorKind::ScratchFull { needed } => {
                write!(f, "escaped text needs a scratch of {needed} bytes")
            }
            DecodeErrorKind::LoneSurrogate => f.write_str("half a surrogate pair in the text"),
            DecodeErrorKind::Type(found) => write!(f, "unexpected {found}"),
            DecodeErrorKind::Value => f.write_str("unsuitable value"),
            DecodeErrorKind::Length => f.write_str("wrong number of entries"),
            DecodeErrorKind::Range => f.write_str("number out of range"),
            DecodeErrorKind::MissingField(name) => write!(f, "missing member `{name}`"),
            DecodeErrorKind::DuplicateField(name) => write!(f, "member `{name}` stands twice"),
            DecodeErrorKind::UnknownField => f.write_str("unknown member"),
            DecodeErrorKind::UnknownVariant => f.write_str("unknown name"),
            DecodeErrorKind::Unsupported => f.write_str("the type cannot be filled from JSON"),
        }
    }
}

impl core::error::Error for DecodeError {}

impl de::Error for DecodeError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(DecodeErrorKind::Value).with_detail(message)
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let kind = match unexpected {
            de::Unexpected::Bool(_) => Kind::Bool,
            de::Unexpected::Unsigned(_) | de::Unexpected::Signed(_) | de::Unexpected::Float(_) => {
                Kind::Number
            }
            de::Unexpected::Unit | de::Unexpected::Option => Kind::Null,
            de::Unexpected::Seq => Kind::Array,
            de::Unexpected::Map => Kind::Object,
            _ => Kind::String,
        };
        Self::mismatch(kind, expected)
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        let kind = match unexpected {
            de::Unexpected::Unsigned(_) | de::Unexpected::Signed(_) | de::Unexpected::Float(_) => {
                DecodeErrorKind::Range
            }
            _ => DecodeErrorKind::Value,
        };
        Self::new(kind).with_detail(format_args!("expected {expected}"))
    }

    fn invalid_length(_: usize, expected: &dyn de::Expected) -> Self {
        Self::new(DecodeErrorKind::Length).with_detail(format_args!("expected {expected}"))
    }

    fn unknown_variant(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(DecodeErrorKind::UnknownVariant).with_detail(OneOf(expected))
    }

    fn unknown_field(_: &str, expected: &'static [&'static str]) -> Self {
        Self::new(DecodeErrorKind::UnknownField).with_detail(OneOf(expected))
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(DecodeErrorKind::MissingField(field))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(DecodeErrorKind::DuplicateField(field))
    }
}

/// Reasons for which a value could not be written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// A map has a key that is no text, number or boolean.
    Key,
    /// The type's own `Serialize` failed.
    Custom,
    /// Containers nest deeper than [`MAX_DEPTH`](super::MAX_DEPTH).
    Depth,
}

impl fmt::Display for EncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Key => "a key of a map is no text",
            Self::Custom => "the value refused to be serialized",
            Self::Depth => "the value nests too deep",
        })
    }
}

impl core::error::Error for EncodeError {}

impl ser::Error for EncodeError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self::Custom
    }
}

impl From<EncodeError> for SendError {
    fn from(_: EncodeError) -> Self {
        Self::Encode
    }
}

/// A step from a container to what is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A member that the type knows by name.
    Field(&'static str),
    /// An element of an array.
    Index(u32),
}

impl Step {
    /// A member of a map: its name is the peer's and is not repeated.
    pub(super) const ENTRY: Self = Self::Field("*");
}

/// The outermost steps to a value. Deeper ones are elided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Path {
    steps: [Step; 4],
    /// The number of steps, counting one that was elided.
    len: u8,
}

impl Path {
    const EMPTY: Self = Self {
        steps: [Step::ENTRY; 4],
        len: 0,
    };

    const fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn prepend(&mut self, step: Step) {
        let [first, second, third, _] = self.steps;
        self.steps = [step, first, second, third];
        self.len = self.len.saturating_add(1).min(5);
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for step in self.steps.iter().take(self.len.into()) {
            match step {
                Step::Field(name) => write!(f, "{separator}{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
            separator = ".";
        }
        f.write_str(if self.len > 4 { ".." } else { "" })
    }
}

/// The names that would have been right.
struct OneOf(&'static [&'static str]);

impl fmt::Display for OneOf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unknown name")?;
        let mut separator = ", expected one of";
        for name in self.0 {
            write!(f, "{separator} `{name}`")?;
            separator = ",";
        }
        Ok(())
    }
}
