//! The expectation of a schema about a value, in the words of a
//! [`DecodeError`](mcp_proto::json::DecodeError): the place, what is expected, and what was found.

use core::fmt::{self, Write as _};

use crate::error::Printable;

/// A step from a value to a part of it.
#[derive(Debug)]
pub(super) enum Segment {
    Member(String),
    Element(usize),
}

/// Writes a place: `days[0].name`.
pub(super) fn place<'a>(segments: impl Iterator<Item = &'a Segment>) -> String {
    let mut place = String::new();
    for segment in segments {
        let written = match segment {
            Segment::Element(index) => write!(place, "[{index}]"),
            Segment::Member(name) if place.is_empty() => write!(place, "{}", cut(name)),
            Segment::Member(name) => write!(place, ".{}", cut(name)),
        };
        // A string takes everything.
        written.unwrap_or_default();
    }
    place
}

pub(super) fn types(expected: impl Iterator<Item = String>, found: &str) -> String {
    let expected = Vec::from_iter(expected).join(" or ");
    format!("expected {expected}, found {found}")
}

/// The choices are texts of JSON.
pub(super) fn one_of(choices: impl Iterator<Item = String>) -> String {
    cut(&format!(
        "expected one of {}",
        Vec::from_iter(choices).join(", ")
    ))
}

pub(super) fn bound(words: &str, bound: &dyn fmt::Display) -> String {
    format!("expected {words} {bound}")
}

pub(super) fn count(words: &str, bound: u64, unit: &str, found: usize) -> String {
    format!("expected {words} {bound} {unit}, found {found}")
}

pub(super) fn format(name: &str) -> String {
    format!("expected the format {}", cut(name))
}

pub(super) fn missing(name: &str) -> String {
    format!("missing member `{}`", cut(name))
}

pub(super) fn unknown(name: &str) -> String {
    format!("unknown member `{}`", cut(name))
}

/// A text of a peer, cut to what a person reads.
pub(super) fn cut(text: &str) -> String {
    let shown = Printable {
        text,
        longest: LONGEST,
    };
    shown.to_string()
}

/// The characters of a text that are shown.
const LONGEST: usize = 200;

pub(super) const DISTINCT: &str = "expected distinct elements";
