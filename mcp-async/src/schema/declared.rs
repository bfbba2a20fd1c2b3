//! The order in which a type declares its fields.

use core::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};
use serde::forward_to_deserialize_any;

/// The names of a struct's fields as they stand in the source, or none if its decoder asks for
/// something else than a struct.
///
/// A schema keeps its properties sorted by name, but a form shows them in the order of their
/// declaration. The decoder that serde derives names them all.
pub(crate) fn declared<T: DeserializeOwned>() -> &'static [&'static str] {
    T::deserialize(Probe).err().map_or(&[], |fields| fields.0)
}

/// Has no value; what it is asked for comes back in its error.
struct Probe;

impl<'de> Deserializer<'de> for Probe {
    type Error = Fields;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Fields> {
        Err(Fields(&[]))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Fields> {
        Err(Fields(fields))
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fields> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf
        option unit unit_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[derive(Debug)]
struct Fields(&'static [&'static str]);

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no value, only a question")
    }
}

impl core::error::Error for Fields {}

impl Error for Fields {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(&[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[test]
    fn fields_come_as_they_stand() {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        #[expect(dead_code, reason = "only its shape is asked for")]
        struct Booking {
            when_to: String,
            #[serde(default)]
            at: u8,
        }
        #[derive(Deserialize)]
        #[expect(dead_code, reason = "only its shape is asked for")]
        struct Wrapped(Booking);

        assert_eq!(declared::<Booking>(), ["whenTo", "at"]);
        assert_eq!(declared::<Wrapped>(), ["whenTo", "at"]);
        assert!(declared::<String>().is_empty());
        assert!(declared::<Option<u8>>().is_empty());
    }
}
