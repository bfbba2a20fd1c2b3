//! Entries of containers and variants of enums.

use serde::Deserialize as _;
use serde::de::{
    DeserializeSeed, Deserializer as _, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};

use super::Deserializer;
use super::key::Key;
use crate::json::error::{DecodeError, DecodeErrorKind, Step};
use crate::json::{Kind, Str};

/// The entries of a container whose opening bracket was passed.
pub(super) struct Entries<'d, 'b, 's> {
    deserializer: &'d mut Deserializer<'b, 's>,
    /// The members that the type knows.
    fields: &'static [&'static str],
    /// The current member, to tell where an error happens.
    key: Str<'b>,
    /// The current element, likewise.
    next: u32,
}

impl<'d, 'b, 's> Entries<'d, 'b, 's> {
    pub(super) fn new(
        deserializer: &'d mut Deserializer<'b, 's>,
        fields: &'static [&'static str],
    ) -> Self {
        Self {
            deserializer,
            fields,
            key: Str::default(),
            next: 0,
        }
    }
}

impl<'b> SeqAccess<'b> for Entries<'_, 'b, '_> {
    type Error = DecodeError;

    fn next_element_seed<T: DeserializeSeed<'b>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, DecodeError> {
        if let None | Some(b']') = self.deserializer.walk.peek() {
            return Ok(None);
        }
        let index = self.next;
        self.next = index.saturating_add(1);
        match seed.deserialize(&mut *self.deserializer) {
            Ok(value) => Ok(Some(value)),
            Err(error) => Err(error.within(Step::Index(index))),
        }
    }
}

impl<'b> MapAccess<'b> for Entries<'_, 'b, '_> {
    type Error = DecodeError;

    fn next_key_seed<K: DeserializeSeed<'b>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, DecodeError> {
        let Some(text) = self.deserializer.walk.string() else {
            return Ok(None);
        };
        self.key = text;
        let key = Key::new(text, self.fields, &mut *self.deserializer.scratch);
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'b>>(
        &mut self,
        seed: V,
    ) -> Result<V::Value, DecodeError> {
        match seed.deserialize(&mut *self.deserializer) {
            Ok(value) => Ok(value),
            Err(error) => Err(error.within(step(self.key, self.fields))),
        }
    }
}

/// An enum's value: a name, or an object whose only member has that name.
pub(super) struct Variant<'d, 'b, 's> {
    deserializer: &'d mut Deserializer<'b, 's>,
    variants: &'static [&'static str],
    has_content: bool,
    name: Str<'b>,
}

impl<'d, 'b, 's> Variant<'d, 'b, 's> {
    pub(super) fn named(
        deserializer: &'d mut Deserializer<'b, 's>,
        variants: &'static [&'static str],
    ) -> Self {
        Self {
            deserializer,
            variants,
            has_content: false,
            name: Str::default(),
        }
    }

    pub(super) fn with_content(
        deserializer: &'d mut Deserializer<'b, 's>,
        variants: &'static [&'static str],
    ) -> Self {
        Self {
            deserializer,
            variants,
            has_content: true,
            name: Str::default(),
        }
    }
}

impl<'b> EnumAccess<'b> for Variant<'_, 'b, '_> {
    type Error = DecodeError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'b>>(
        mut self,
        seed: V,
    ) -> Result<(V::Value, Self), DecodeError> {
        let Some(name) = self.deserializer.walk.string() else {
            return Err(DecodeError::new(DecodeErrorKind::Length));
        };
        self.name = name;
        let key = Key::new(name, self.variants, &mut *self.deserializer.scratch);
        Ok((seed.deserialize(key)?, self))
    }
}

impl<'b> VariantAccess<'b> for Variant<'_, 'b, '_> {
    type Error = DecodeError;

    fn unit_variant(self) -> Result<(), DecodeError> {
        if self.has_content {
            self.content(<()>::deserialize)
        } else {
            Ok(())
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'b>>(
        self,
        seed: T,
    ) -> Result<T::Value, DecodeError> {
        self.content(|deserializer| seed.deserialize(deserializer))
    }

    fn tuple_variant<V: Visitor<'b>>(self, _: usize, visitor: V) -> Result<V::Value, DecodeError> {
        self.content(|deserializer| deserializer.deserialize_any(visitor))
    }

    fn struct_variant<V: Visitor<'b>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, DecodeError> {
        self.content(|deserializer| deserializer.deserialize_struct("", fields, visitor))
    }
}

impl<'d, 'b, 's> Variant<'d, 'b, 's> {
    fn content<T>(
        self,
        read: impl FnOnce(&'d mut Deserializer<'b, 's>) -> Result<T, DecodeError>,
    ) -> Result<T, DecodeError> {
        if !self.has_content {
            return Err(DecodeError::new(DecodeErrorKind::Type(Kind::String)));
        }
        read(self.deserializer).map_err(|error| error.within(step(self.name, self.variants)))
    }
}

fn step(name: Str<'_>, known: &'static [&'static str]) -> Step {
    let known = known.iter().find(|known| name == **known);
    known.map_or(Step::ENTRY, |known| Step::Field(known))
}
