//! Deserializes types from validated JSON.

mod access;
mod key;

use serde::de::{self, Visitor};

use self::access::{Entries, Variant};
use super::error::{DecodeError, DecodeErrorKind};
use super::walk::Walk;
use super::{Kind, Number, Raw, Str};

/// The name under which [`Raw`] asks for its bytes.
pub(super) const RAW_TOKEN: &str = "mcp_proto::json::Raw";
/// The name under which [`Str`] asks for its bytes.
pub(super) const STR_TOKEN: &str = "mcp_proto::json::Str";
/// The name under which [`Exact`](super::Exact) hands out its bytes.
pub(super) const EXACT_TOKEN: &str = "mcp_proto::json::Exact";

/// Fills types from a [`Raw`], which was checked before: nothing is checked twice, and nothing
/// but the type can be wrong.
///
/// It walks the text once, borrows what it can and needs no heap. Text with escapes goes through
/// the scratch, so a type that takes it must not borrow it; half a surrogate pair becomes
/// U+FFFD. Numbers that are written as integers arrive as integers, all others as `f64`.
///
/// [`Raw::decode`] is the short way to it.
#[derive(Debug)]
pub struct Deserializer<'b, 's> {
    walk: Walk<'b>,
    scratch: &'s mut [u8],
}

impl<'b, 's> Deserializer<'b, 's> {
    /// Begins before `raw`. See [`Raw::decode`] for how long `scratch` has to be.
    pub fn new(raw: Raw<'b>, scratch: &'s mut [u8]) -> Self {
        Self {
            walk: Walk::before(raw),
            scratch,
        }
    }

    /// The kind of the value that comes next.
    #[inline]
    fn peek(&mut self) -> Kind {
        match self.walk.peek() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// The value that comes next.
    #[inline]
    fn take(&mut self) -> Raw<'b> {
        self.walk.value().unwrap_or_default()
    }

    fn take_string(&mut self) -> Result<Str<'b>, DecodeError> {
        match self.walk.string() {
            Some(text) => Ok(text),
            None => Err(DecodeError::new(DecodeErrorKind::Type(self.peek()))),
        }
    }

    fn visit_array<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        self.walk.pass();
        let value = visitor.visit_seq(Entries::new(self, &[]))?;
        self.close(b']')?;
        Ok(value)
    }

    fn visit_object<V: Visitor<'b>>(
        &mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.walk.pass();
        let value = visitor.visit_map(Entries::new(self, fields))?;
        self.close(b'}')?;
        Ok(value)
    }

    /// Passes the end of a container, of which the visitor must have taken everything.
    fn close(&mut self, end: u8) -> Result<(), DecodeError> {
        if self.walk.peek() != Some(end) {
            return Err(DecodeError::new(DecodeErrorKind::Length));
        }
        self.walk.pass();
        Ok(())
    }

    fn visit_integer<V: Visitor<'b>>(&mut self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Number => visit_number(Number::received(self.take().as_bytes()), visitor),
            _ => de::Deserializer::deserialize_any(self, visitor),
        }
    }
}

impl<'b> de::Deserializer<'b> for &mut Deserializer<'b, '_> {
    type Error = DecodeError;

    fn deserialize_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Null => {
                self.take();
                visitor.visit_unit()
            }
            Kind::Bool => visitor.visit_bool(self.take().boolean().unwrap_or_default()),
            Kind::Number => self.visit_integer(visitor),
            Kind::String => visit_text(self.take_string()?, self.scratch, visitor),
            Kind::Array => self.visit_array(visitor),
            Kind::Object => self.visit_object(&[], visitor),
        }
    }

    fn deserialize_i128<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Number => match Number::received(self.take().as_bytes()).to_i128() {
                Some(value) => visitor.visit_i128(value),
                None => Err(DecodeError::new(DecodeErrorKind::Range)),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_u128<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Number => match Number::received(self.take().as_bytes()).to_u128() {
                Some(value) => visitor.visit_u128(value),
                None => Err(DecodeError::new(DecodeErrorKind::Range)),
            },
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_char<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.peek() != Kind::String {
            return self.deserialize_any(visitor);
        }
        let text = self.take_string()?;
        let mut chars = text.chars();
        match (chars.next(), chars.next()) {
            (Some(char), None) => visitor.visit_char(char),
            _ => visit_text(text, self.scratch, visitor),
        }
    }

    fn deserialize_bytes<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        if self.peek() != Kind::String {
            return self.deserialize_any(visitor);
        }
        let text = self.take_string()?;
        match text.as_plain() {
            Some(plain) => visitor.visit_borrowed_bytes(plain.as_bytes()),
            None => visitor.visit_bytes(text.decode(self.scratch)?.as_bytes()),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Null => {
                self.take();
                visitor.visit_none()
            }
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'b>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            RAW_TOKEN => visitor.visit_borrowed_bytes(self.take().as_bytes()),
            STR_TOKEN => visitor.visit_borrowed_bytes(self.take_string()?.content()),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_struct<V: Visitor<'b>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::Object => self.visit_object(fields, visitor),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_enum<V: Visitor<'b>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match self.peek() {
            Kind::String => visitor.visit_enum(Variant::named(self, variants)),
            Kind::Object => {
                self.walk.pass();
                let value = visitor.visit_enum(Variant::with_content(self, variants))?;
                self.close(b'}')?;
                Ok(value)
            }
            other => Err(DecodeError::new(DecodeErrorKind::Type(other))),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        self.take();
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'b>>
        bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 str string unit unit_struct seq tuple
        tuple_struct map identifier
    }
}

fn visit_number<'b, V: Visitor<'b>>(
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

fn visit_text<'b, V: Visitor<'b>>(
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
fn visit_name<'b, V: Visitor<'b>>(
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
