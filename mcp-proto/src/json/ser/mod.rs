//! Serializes types to JSON.

mod compound;
mod key;

use core::fmt::{self, Write as _};

use serde::ser::{self, Serialize};

use self::compound::Compound;
use super::serde_impls::{EXACT_TOKEN, RAW_TOKEN, STR_TOKEN};
use super::writer::Text;
use super::{EncodeError, Str, Writer};
use crate::revision::Revision;
use crate::revision::fields::{Rules, first_only};

/// Writes types through a [`Writer`], by the [`Rules`] of a revision if one is given.
#[derive(Debug)]
struct Serializer<'w, 'o> {
    writer: &'w mut Writer<'o>,
    revision: Option<Revision>,
    /// The meaning of bytes that are serialized; see [`Verbatim`].
    verbatim: Verbatim,
    /// True if the value is no part of another.
    is_whole: bool,
}

/// The way in which a [`Raw`] or a [`Str`] reaches the writer: under its own name it asks for a
/// serializer that is not human-readable, and hands it its text as bytes. Every other serializer
/// gets the value that the text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verbatim {
    No,
    Value,
    Text,
    Exact,
}

impl Writer<'_> {
    /// Writes a value of any type that serializes. With a revision, the members of the model's types
    /// that this revision does not have are left out, renamed or replaced; other types are written
    /// as they are.
    ///
    /// # Errors
    ///
    /// [`EncodeError`] if the type does not serialize to JSON. That the slice is too short is no
    /// error here; [`finish`](Self::finish) tells.
    ///
    /// ```
    /// use mcp_proto::json::Writer;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Forecast<'a> {
    ///     city: &'a str,
    ///     degrees: [f32; 2],
    /// }
    ///
    /// let mut out = [0; 64];
    /// let mut writer = Writer::new(&mut out);
    /// writer.value(&Forecast { city: "Kyoto", degrees: [12.5, 21.0] }, None)?;
    /// let len = writer.finish()?;
    /// assert_eq!(&out[..len], br#"{"city":"Kyoto","degrees":[12.5,21]}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value<T: Serialize + ?Sized>(
        &mut self,
        value: &T,
        revision: Option<Revision>,
    ) -> Result<(), EncodeError> {
        value.serialize(Serializer {
            is_whole: true,
            ..Serializer::new(self, revision)
        })
    }
}

impl<'w, 'o> Serializer<'w, 'o> {
    /// Continues after what was written before.
    const fn new(writer: &'w mut Writer<'o>, revision: Option<Revision>) -> Self {
        Self {
            writer,
            revision,
            verbatim: Verbatim::No,
            is_whole: false,
        }
    }

    fn reborrow(&mut self) -> Serializer<'_, 'o> {
        Serializer {
            writer: self.writer,
            revision: self.revision,
            verbatim: Verbatim::No,
            is_whole: false,
        }
    }

    /// `{"variant":`, before the content of a variant.
    fn variant(&mut self, variant: &str) {
        self.is_whole = false;
        self.writer.byte(b'{');
        self.writer.string(variant);
        self.writer.byte(b':');
    }

    fn open(self, start: &str, end: &'static str) -> Compound<'w, 'o> {
        self.writer.literal(start);
        Compound {
            rules: Rules::of("", None),
            serializer: self,
            end,
            empty: true,
            single: false,
        }
    }
}

impl<'w, 'o> ser::Serializer for Serializer<'w, 'o> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = Compound<'w, 'o>;
    type SerializeTuple = Compound<'w, 'o>;
    type SerializeTupleStruct = Compound<'w, 'o>;
    type SerializeTupleVariant = Compound<'w, 'o>;
    type SerializeMap = Compound<'w, 'o>;
    type SerializeStruct = Compound<'w, 'o>;
    type SerializeStructVariant = Compound<'w, 'o>;

    fn serialize_bool(self, value: bool) -> Result<(), EncodeError> {
        self.writer.literal(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<(), EncodeError> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<(), EncodeError> {
        self.writer.signed(value);
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<(), EncodeError> {
        self.writer.wide(value < 0, value.unsigned_abs());
        Ok(())
    }

    fn serialize_u8(self, value: u8) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<(), EncodeError> {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<(), EncodeError> {
        self.writer.unsigned(value);
        Ok(())
    }

    fn serialize_u128(self, value: u128) -> Result<(), EncodeError> {
        self.writer.wide(false, value);
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Result<(), EncodeError> {
        self.writer.float32(value);
        Ok(())
    }

    fn serialize_f64(self, value: f64) -> Result<(), EncodeError> {
        self.writer.float(value);
        Ok(())
    }

    fn serialize_char(self, value: char) -> Result<(), EncodeError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), EncodeError> {
        self.writer.string(value);
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        self.writer.byte(b'"');
        write!(Text(self.writer), "{value}").map_err(|_| EncodeError::Custom)?;
        self.writer.byte(b'"');
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), EncodeError> {
        match self.verbatim {
            Verbatim::No => return self.collect_seq(value),
            Verbatim::Value => self.writer.checked(value),
            Verbatim::Text => self.writer.text(Str::received(value)),
            Verbatim::Exact => self.writer.quoted(value),
        }
        Ok(())
    }

    fn is_human_readable(&self) -> bool {
        self.verbatim == Verbatim::No
    }

    fn serialize_none(self) -> Result<(), EncodeError> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), EncodeError> {
        self.writer.literal("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), EncodeError> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<(), EncodeError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        let verbatim = match name {
            RAW_TOKEN => Verbatim::Value,
            STR_TOKEN => Verbatim::Text,
            EXACT_TOKEN => Verbatim::Exact,
            _ => Verbatim::No,
        };
        value.serialize(Self { verbatim, ..self })
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        self.variant(variant);
        value.serialize(self.reborrow())?;
        self.writer.byte(b'}');
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w, 'o>, EncodeError> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w, 'o>, EncodeError> {
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'o>, EncodeError> {
        if first_only(name, self.revision) {
            return Ok(Compound {
                single: true,
                ..self.open("", "")
            });
        }
        Ok(self.open("[", "]"))
    }

    fn serialize_tuple_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'o>, EncodeError> {
        self.variant(variant);
        Ok(self.open("[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w, 'o>, EncodeError> {
        Ok(self.open("{", "}"))
    }

    fn serialize_struct(
        self,
        name: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'o>, EncodeError> {
        let rules = Rules::of(name, self.revision);
        if self.is_whole {
            self.writer.begin_struct();
        }
        Ok(Compound {
            rules,
            ..self.open("{", "}")
        })
    }

    fn serialize_struct_variant(
        mut self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'o>, EncodeError> {
        self.variant(variant);
        Ok(self.open("{", "}}"))
    }
}
