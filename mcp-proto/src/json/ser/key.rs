//! Keys of maps.

use core::fmt;

use serde::ser::{self, Serialize};

use super::Serializer;
use crate::json::serde_impls::{EXACT_TOKEN, STR_TOKEN};
use crate::json::{EncodeError, Writer};

/// Writes the key of a map: text, or what can be spelled as text.
pub(super) struct Key<'w, 'o>(pub(super) Serializer<'w, 'o>);

impl Key<'_, '_> {
    fn quoted(self, write: impl FnOnce(&mut Writer<'_>)) -> Result<(), EncodeError> {
        self.0.writer.byte(b'"');
        write(self.0.writer);
        self.0.writer.byte(b'"');
        Ok(())
    }
}

macro_rules! quoted {
    ($($method:ident $type:ty),*) => {$(
        fn $method(self, value: $type) -> Result<(), EncodeError> {
            self.quoted(|writer| {
                // Numbers and booleans cannot fail.
                let _ = value.serialize(Serializer::new(writer, None));
            })
        }
    )*};
}

macro_rules! refused {
    ($($method:ident($($type:ty),*) -> $ok:ty),*) => {$(
        fn $method(self, $(_: $type),*) -> Result<$ok, EncodeError> {
            Err(EncodeError::Key)
        }
    )*};
}

impl ser::Serializer for Key<'_, '_> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = ser::Impossible<(), EncodeError>;
    type SerializeTuple = ser::Impossible<(), EncodeError>;
    type SerializeTupleStruct = ser::Impossible<(), EncodeError>;
    type SerializeTupleVariant = ser::Impossible<(), EncodeError>;
    type SerializeMap = ser::Impossible<(), EncodeError>;
    type SerializeStruct = ser::Impossible<(), EncodeError>;
    type SerializeStructVariant = ser::Impossible<(), EncodeError>;

    quoted! {
        serialize_bool bool, serialize_i8 i8, serialize_i16 i16, serialize_i32 i32,
        serialize_i64 i64, serialize_i128 i128, serialize_u8 u8, serialize_u16 u16,
        serialize_u32 u32, serialize_u64 u64, serialize_u128 u128
    }

    fn serialize_f32(self, value: f32) -> Result<(), EncodeError> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), EncodeError> {
        if value.is_finite() {
            self.quoted(|writer| writer.float(value))
        } else {
            Err(EncodeError::Key)
        }
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.0.serialize_char(value)
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        self.0.serialize_str(value)
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        self.0.collect_str(value)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), EncodeError> {
        self.0.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        match name {
            STR_TOKEN | EXACT_TOKEN => self.0.serialize_newtype_struct(name, value),
            _ => value.serialize(self),
        }
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), EncodeError> {
        Err(EncodeError::Key)
    }

    refused! {
        serialize_bytes(&[u8]) -> (),
        serialize_none() -> (),
        serialize_unit() -> (),
        serialize_unit_struct(&'static str) -> (),
        serialize_seq(Option<usize>) -> Self::SerializeSeq,
        serialize_tuple(usize) -> Self::SerializeTuple,
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct,
        serialize_tuple_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeTupleVariant,
        serialize_map(Option<usize>) -> Self::SerializeMap,
        serialize_struct(&'static str, usize) -> Self::SerializeStruct,
        serialize_struct_variant(&'static str, u32, &'static str, usize)
            -> Self::SerializeStructVariant
    }
}
