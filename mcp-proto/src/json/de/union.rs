//! Decodes unions whose arms are distinguished by the text of a member.

use serde::de::{DeserializeSeed, EnumAccess, IntoDeserializer, VariantAccess, Visitor};

use super::{Deserializer, Entries};
use crate::json::error::{DecodeError, DecodeErrorKind};
use crate::json::{Raw, Str};

/// An object that is an arm of a union, opened. All of its members are left to read, or those after the tag if the tag is first.
pub(super) struct Union<'d, 'b, 's> {
    deserializer: &'d mut Deserializer<'b, 's>,
    arm: usize,
}

impl<'d, 'b, 's> Union<'d, 'b, 's> {
    /// Opens the next value. `names` are the name of the tag, then its texts. Returns `None` if the value is no object or its tag has
    /// none of these texts.
    pub(super) fn open(deserializer: &'d mut Deserializer<'b, 's>, names: &[&str]) -> Option<Self> {
        let (name, texts) = names.split_first()?;
        let arm = |text: Str<'_>| texts.iter().position(|known| text.is(known.as_bytes()));
        let mut inside = deserializer.walk.clone();
        if inside.peek() != Some(b'{') {
            return None;
        }
        inside.pass();
        let mut members = inside.clone();
        // Most writers begin with this member.
        let arm = if members
            .string()
            .is_some_and(|first| first.is(name.as_bytes()))
        {
            let arm = members.string().and_then(arm);
            inside = members;
            arm
        } else {
            let raw = deserializer.walk.clone().next()?;
            raw.object()?.get(name).and_then(Raw::string).and_then(arm)
        }?;
        deserializer.walk = inside;
        Some(Self { deserializer, arm })
    }
}

impl<'b> EnumAccess<'b> for Union<'_, 'b, '_> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'b>>(
        self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        let arm = seed.deserialize((self.arm as u64).into_deserializer())?;
        Ok((arm, self))
    }
}

/// A declared union reads the members of its arms, and nothing else.
impl<'b> VariantAccess<'b> for Union<'_, 'b, '_> {
    type Error = DecodeError;

    fn struct_variant<V: Visitor<'b>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        let value = visitor.visit_map(Entries::new(self.deserializer, fields))?;
        self.deserializer.close(b'}')?;
        Ok(value)
    }

    fn unit_variant(self) -> Result<(), DecodeError> {
        Err(DecodeError::new(DecodeErrorKind::Unsupported))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'b>>(self, _: T) -> Result<T::Value, DecodeError> {
        Err(DecodeError::new(DecodeErrorKind::Unsupported))
    }

    fn tuple_variant<V: Visitor<'b>>(self, _: usize, _: V) -> Result<V::Value, DecodeError> {
        Err(DecodeError::new(DecodeErrorKind::Unsupported))
    }
}
