//! Writes arrays and objects, entry by entry.

use serde::ser::{self, Serialize};

use super::Serializer;
use super::key::Key;
use crate::json::EncodeError;
use crate::revision::fields::{Member, Rules};

/// An array or object that is being written by a [`Serializer`].
#[derive(Debug)]
pub(super) struct Compound<'w, 'o> {
    pub(super) serializer: Serializer<'w, 'o>,
    pub(super) rules: Rules,
    pub(super) end: &'static str,
    pub(super) empty: bool,
    /// Only the first entry counts.
    pub(super) single: bool,
}

impl Compound<'_, '_> {
    fn separate(&mut self) {
        if !self.empty {
            self.serializer.writer.byte(b',');
        }
        self.empty = false;
    }

    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        if self.single && !self.empty {
            return Ok(());
        }
        self.separate();
        value.serialize(self.serializer.reborrow())
    }

    fn member<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), EncodeError> {
        if self.name(name) {
            value.serialize(self.serializer.reborrow())
        } else {
            Ok(())
        }
    }

    /// Writes the name of a member as the rules have it. Returns whether its value comes next.
    #[inline(never)]
    fn name(&mut self, name: &str) -> bool {
        let name = match self.rules.member(name) {
            Member::Write => name,
            Member::Rename(other) => other,
            Member::Skip => return false,
            Member::Instead(json) => {
                self.separate();
                self.serializer.writer.literal(json);
                return false;
            }
        };
        self.separate();
        self.serializer.writer.string(name);
        self.serializer.writer.byte(b':');
        if self.serializer.is_whole {
            self.serializer.writer.note_field(name);
        }
        true
    }

    fn close(self) {
        let writer = self.serializer.writer;
        writer.literal(self.end);
        if self.serializer.is_whole {
            writer.end_struct();
        }
    }
}

macro_rules! elements {
    ($($shape:ident $method:ident)*) => {$(
        impl ser::$shape for Compound<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
                self.element(value)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.close();
                Ok(())
            }
        }
    )*};
}

elements! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! members {
    ($($shape:ident)*) => {$(
        impl ser::$shape for Compound<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Result<(), EncodeError> {
                self.member(key, value)
            }

            fn end(self) -> Result<(), EncodeError> {
                self.close();
                Ok(())
            }
        }
    )*};
}

members! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), EncodeError> {
        self.separate();
        key.serialize(Key(self.serializer.reborrow()))?;
        self.serializer.writer.byte(b':');
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        value.serialize(self.serializer.reborrow())
    }

    fn end(self) -> Result<(), EncodeError> {
        self.close();
        Ok(())
    }
}
