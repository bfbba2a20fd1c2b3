//! Names of members.

use serde::de::{self, EnumAccess, VariantAccess, Visitor};

use super::{visit_name, visit_number};
use crate::json::error::{DecodeError, DecodeErrorKind};
use crate::json::serde_impls::{MEMBER_TOKEN, STR_TOKEN};
use crate::json::{Kind, Raw, Str};

/// The name of a member, or of an enum's variant.
///
/// Names are text; types that want a number or a boolean get what the text spells.
pub(super) struct Key<'b, 's> {
    text: Str<'b>,
    /// The names that the type knows.
    known: &'static [&'static str],
    scratch: &'s mut [u8],
}

impl<'b, 's> Key<'b, 's> {
    pub(super) const fn new(
        text: Str<'b>,
        known: &'static [&'static str],
        scratch: &'s mut [u8],
    ) -> Self {
        Self {
            text,
            known,
            scratch,
        }
    }

    fn visit_spelled<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        let raw = Raw::parse(self.text.content(), 0).unwrap_or_default();
        if raw.as_bytes() != self.text.content() {
            return Err(DecodeError::new(DecodeErrorKind::Type(Kind::String)));
        }
        match (raw.number(), raw.boolean()) {
            (Some(number), _) => visit_number(number, visitor),
            (None, Some(value)) => visitor.visit_bool(value),
            (None, None) => Err(DecodeError::new(DecodeErrorKind::Type(Kind::String))),
        }
    }
}

macro_rules! spelled {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
            self.visit_spelled(visitor)
        }
    )*};
}

impl<'b> de::Deserializer<'b> for Key<'b, '_> {
    type Error = DecodeError;

    #[inline]
    fn deserialize_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visit_name(self.text, self.known, self.scratch, visitor)
    }

    spelled! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32
        deserialize_f64
    }

    fn deserialize_option<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'b>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        match name {
            STR_TOKEN => visitor.visit_borrowed_bytes(self.text.content()),
            MEMBER_TOKEN => match self
                .known
                .iter()
                .position(|name| self.text.is(name.as_bytes()))
            {
                Some(index) => visitor.visit_u64(index as u64),
                None => visitor.visit_unit(),
            },
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_enum<V: Visitor<'b>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        visitor.visit_enum(Self {
            known: variants,
            ..self
        })
    }

    fn deserialize_ignored_any<V: Visitor<'b>>(self, visitor: V) -> Result<V::Value, DecodeError> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        <W: Visitor<'b>>
        i128 u128 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map
        struct identifier
    }
}

impl<'b> EnumAccess<'b> for Key<'b, '_> {
    type Error = DecodeError;
    type Variant = Unit;

    fn variant_seed<V: de::DeserializeSeed<'b>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Unit), DecodeError> {
        Ok((seed.deserialize(self)?, Unit))
    }
}

/// The only kind of variant that a name can be.
pub(super) struct Unit;

impl<'b> VariantAccess<'b> for Unit {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        Ok(())
    }

    fn newtype_variant_seed<T: de::DeserializeSeed<'b>>(
        self,
        _: T,
    ) -> Result<T::Value, DecodeError> {
        Err(DecodeError::new(DecodeErrorKind::Type(Kind::String)))
    }

    fn tuple_variant<V: Visitor<'b>>(self, _: usize, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::new(DecodeErrorKind::Type(Kind::String)))
    }

    fn struct_variant<V: Visitor<'b>>(
        self,
        _: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, DecodeError> {
        Err(DecodeError::new(DecodeErrorKind::Type(Kind::String)))
    }
}
