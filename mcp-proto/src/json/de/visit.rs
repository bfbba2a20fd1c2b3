//! Hands numbers and text to visitors.

use serde::de::Visitor;

use crate::json::error::{DecodeError, DecodeErrorKind};
use crate::json::{Number, Str};

pub(super) fn visit_number<'b, V: Visitor<'b>>(
    number: Number<'b>,
    visitor: V,
) -> Result<V::Value, DecodeError> {
    if let Some(value) = number.to_u64() {
        visitor.visit_u64(value)
    } else if let Some(value) = number.to_i64() {
        visitor.visit_i64(value)
    } else {
        let value = number.to_f64();
        if value.is_finite() {
            visitor.visit_f64(value)
        } else {
            Err(DecodeError::new(DecodeErrorKind::Range))
        }
    }
}

pub(super) fn visit_text<'b, V: Visitor<'b>>(
    text: Str<'b>,
    scratch: &mut [u8],
    visitor: V,
) -> Result<V::Value, DecodeError> {
    if let Some(plain) = text.as_plain() {
        return visitor.visit_borrowed_str(plain);
    }
    match text.decode(scratch) {
        Ok(decoded) => visitor.visit_str(decoded),
        #[cfg(feature = "alloc")]
        Err(_) => visitor.visit_string(text.to_cow().into_owned()),
        #[cfg(not(feature = "alloc"))]
        Err(error) => Err(error),
    }
}

/// A name that is looked for among known ones: those need no scratch, however they are escaped.
pub(super) fn visit_name<'b, V: Visitor<'b>>(
    text: Str<'b>,
    known: &'static [&'static str],
    scratch: &mut [u8],
    visitor: V,
) -> Result<V::Value, DecodeError> {
    if text.as_plain().is_none() {
        if let Some(name) = known.iter().find(|name| text == **name) {
            return visitor.visit_borrowed_str(name);
        }
        // An unknown member is mostly ignored, and must not fail for want of a scratch. As it
        // stands, with its backslash, it is still unknown.
        if !known.is_empty() && cfg!(not(feature = "alloc")) && text.decoded_len() > scratch.len() {
            return visitor.visit_bytes(text.content());
        }
    }
    visit_text(text, scratch, visitor)
}
