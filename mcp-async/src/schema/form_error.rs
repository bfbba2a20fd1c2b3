//! The error of a type or a text that is no form.

use core::fmt;

/// The error of a type or a text that makes no form: the field, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormError {
    pub(super) field: Option<String>,
    pub(super) fault: FormFault,
}

impl FormError {
    pub(super) const fn whole(fault: FormFault) -> Self {
        Self { field: None, fault }
    }

    /// The field; `None` if it is the type as a whole.
    pub fn field(&self) -> Option<&str> {
        self.field.as_deref()
    }

    /// The reason.
    pub const fn fault(&self) -> &FormFault {
        &self.fault
    }
}

impl fmt::Display for FormError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.field {
            Some(field) => write!(f, "no form can ask for field `{field}`: {}", self.fault),
            None => write!(f, "no form can ask for this type: {}", self.fault),
        }
    }
}

impl core::error::Error for FormError {}

/// Reasons for which a type or a text makes no form.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FormFault {
    /// The type is no struct with named fields.
    NotObject,
    /// A field is a struct or a map: forms are flat.
    Object,
    /// A field is a list of something else than choices.
    List,
    /// A field may be of several types, or of any.
    Several,
    /// A field is of a type that forms do not have.
    Type(String),
    /// A field is bound by a keyword of JSON Schema that forms do not have.
    Keyword(String),
    /// A text has a format that forms do not have.
    Format(String),
    /// A text is nested too deeply to be sent.
    Deep,
}

impl fmt::Display for FormFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotObject => f.write_str("a form has named fields"),
            Self::Object => f.write_str("forms are flat, and it has fields of its own"),
            Self::List => f.write_str("a list has to be one of unit variants"),
            Self::Several => f.write_str("it may be of several types"),
            Self::Type(kind) => write!(f, "forms have no type `{kind}`"),
            Self::Keyword(keyword) => write!(f, "forms have no `{keyword}`"),
            Self::Format(format) => write!(f, "forms have no format `{format}`"),
            Self::Deep => f.write_str("it is nested too deeply"),
        }
    }
}
