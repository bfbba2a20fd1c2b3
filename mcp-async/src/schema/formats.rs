//! The formats of texts, and their checks.

use core::net::{Ipv4Addr, Ipv6Addr};

use mcp_proto::json::Str;
use mcp_proto::model::StringFormat;

/// The builds that enforce a `format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Enforcement {
    /// Every build.
    Always,
    /// Builds with the feature `schema`.
    Validator,
    /// No build: it needs Unicode tables.
    Never,
    /// JSON Schema does not define the format, so it is an annotation and promises nothing.
    Annotation,
}

impl Enforcement {
    pub(super) fn of(format: &str) -> Self {
        match format {
            "email" | "uri" | "date" | "date-time" | "ipv4" | "ipv6" | "uuid" => Self::Always,
            "time"
            | "duration"
            | "hostname"
            | "iri"
            | "iri-reference"
            | "uri-reference"
            | "uri-template"
            | "json-pointer"
            | "relative-json-pointer"
            | "regex" => Self::Validator,
            "idn-email" | "idn-hostname" => Self::Never,
            _ => Self::Annotation,
        }
    }
}

/// A format that is enforced without the feature `schema`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum TextFormat {
    Form(StringFormat<'static>),
    Ipv4,
    Ipv6,
    Uuid,
}

impl TextFormat {
    /// The format with this name; `None` for one that [`Enforcement`] leaves to others.
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "email" => Self::Form(StringFormat::Email),
            "uri" => Self::Form(StringFormat::Uri),
            "date" => Self::Form(StringFormat::Date),
            "date-time" => Self::Form(StringFormat::DateTime),
            "ipv4" => Self::Ipv4,
            "ipv6" => Self::Ipv6,
            "uuid" => Self::Uuid,
            _ => return None,
        })
    }

    pub(super) fn matches(self, text: Str<'_>) -> bool {
        match self {
            Self::Form(format) => format.matches(text),
            Self::Ipv4 => text.to_cow().parse::<Ipv4Addr>().is_ok(),
            Self::Ipv6 => text.to_cow().parse::<Ipv6Addr>().is_ok(),
            Self::Uuid => is_uuid(text),
        }
    }
}

/// Five groups of hexadecimal digits (RFC 9562).
fn is_uuid(text: Str<'_>) -> bool {
    let mut count = 0;
    let fits = text.chars().all(|char| {
        count += 1;
        match count {
            9 | 14 | 19 | 24 => char == '-',
            _ => char.is_ascii_hexdigit(),
        }
    });
    fits && count == 36
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_without_the_validator() {
        for (format, good, bad) in [
            ("email", "ada@example.com", "ada"),
            ("uri", "urn:x", "example.com"),
            ("date", "2026-07-28", "28.07.2026"),
            ("date-time", "2026-07-28T12:00:00Z", "2026-07-28"),
            ("ipv4", "127.0.0.1", "::1"),
            ("ipv6", "::1", "127.0.0.1"),
            (
                "uuid",
                "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
                "f81d4fae7dec11d0a76500a0c91e6bf6",
            ),
        ] {
            assert_eq!(Enforcement::of(format), Enforcement::Always);
            let format = TextFormat::of(format).unwrap();
            assert!(format.matches(good.into()), "{good}");
            assert!(!format.matches(bad.into()), "{bad}");
        }
        for format in ["hostname", "idn-email", "markdown"] {
            assert_ne!(Enforcement::of(format), Enforcement::Always);
            assert_eq!(TextFormat::of(format), None);
        }
    }
}
