//! Serde implementations of the borrowed types, which pass through unchanged.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::ser::{Serialize, Serializer};

use super::string::Form;
use super::{Array, Kind, Number, Object, Raw, Str};

/// The name under which [`Raw`](super::Raw) asks for its bytes.
pub(super) const RAW_TOKEN: &str = "mcp_proto::json::Raw";
/// The name under which [`Str`](super::Str) asks for its bytes.
pub(super) const STR_TOKEN: &str = "mcp_proto::json::Str";
/// The name under which [`Exact`](super::Exact), and a [`Str`](super::Str) without half a surrogate pair, hands out its bytes.
pub(super) const EXACT_TOKEN: &str = "mcp_proto::json::Exact";

/// The name under which a declared type asks for the index of a member's name.
pub(crate) const MEMBER_TOKEN: &str = "mcp_proto::json::Member";
/// The name under which a union requests its decoder; the names of its variants are the name of the tag, then its texts.
pub(crate) const UNION_TOKEN: &str = "mcp_proto::json::Union";

/// Only [`Deserializer`](super::Deserializer) can fill it.
impl<'de: 'b, 'b> Deserialize<'de> for Raw<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_newtype_struct(RAW_TOKEN, Checked)?;
        Ok(Self::received(bytes))
    }
}

/// Only [`Deserializer`](super::Deserializer) can fill it.
impl<'de: 'b, 'b> Deserialize<'de> for Str<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = deserializer.deserialize_newtype_struct(STR_TOKEN, Checked)?;
        Ok(Self::received(bytes))
    }
}

macro_rules! deserialize_kind {
    ($($view:ident $method:ident $expected:literal)*) => {$(
        /// Only [`Deserializer`](super::Deserializer) can fill it.
        impl<'de: 'b, 'b> Deserialize<'de> for $view<'b> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = Raw::deserialize(deserializer)?;
                raw.$method().ok_or_else(|| {
                    de::Error::invalid_type(unexpected(raw.kind()), &$expected)
                })
            }
        }
    )*};
}

deserialize_kind! {
    Object object "an object"
    Array array "an array"
    Number number "a number"
}

/// With feature `alloc` a serializer that is not ours gets the value itself; without, an error.
impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(RAW_TOKEN, &Value(*self))
    }
}

/// Half a surrogate pair is written as U+FFFD.
impl Serialize for Str<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.form() {
            // Half a surrogate pair is searched for.
            Form::Lone => serializer.serialize_newtype_struct(STR_TOKEN, &Text(*self)),
            _ => Exact(*self).serialize(serializer),
        }
    }
}

/// A text that goes back to whom it came from: byte for byte, half a surrogate pair included.
pub(crate) struct Exact<'b>(pub(crate) Str<'b>);

impl Serialize for Exact<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.form() {
            Form::Ours => serializer.serialize_str(self.0.as_plain().unwrap_or_default()),
            _ => serializer.serialize_newtype_struct(EXACT_TOKEN, &Text(self.0)),
        }
    }
}

impl Serialize for Object<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_raw().serialize(serializer)
    }
}

impl Serialize for Array<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_raw().serialize(serializer)
    }
}

impl Serialize for Number<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Raw::from(*self).serialize(serializer)
    }
}

/// Takes the bytes that our deserializer hands out, and nothing else.
struct Checked;

impl<'de> Visitor<'de> for Checked {
    type Value = &'de [u8];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON from mcp_proto::json::Deserializer")
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(bytes)
    }
}

/// A value of a peer on its way to another, which is written as the type that it is.
pub(super) struct Passed<'b, T>(Raw<'b>, PhantomData<T>);

impl<'b, T: Serialize + Deserialize<'b>> Passed<'b, T> {
    pub(super) const fn new(raw: Raw<'b>) -> Self {
        Self(raw, PhantomData)
    }
}

impl<'b, T: Serialize + Deserialize<'b>> Serialize for Passed<'b, T> {
    #[cfg(feature = "alloc")]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.decode::<T>(&mut []) {
            Ok(value) => value.serialize(serializer),
            Err(_) => self.0.serialize(serializer),
        }
    }

    /// Programs that write lists of their own do not link the code that reads them.
    #[cfg(not(feature = "alloc"))]
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        meaning(self.0, serializer)
    }
}

/// The inside of a serialized [`Raw`]: its text for our serializer, its meaning for others.
struct Value<'b>(Raw<'b>);

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            meaning(self.0, serializer)
        } else {
            serializer.serialize_bytes(self.0.as_bytes())
        }
    }
}

/// Hands a value to a serializer that cannot take its text.
#[cfg(feature = "alloc")]
fn meaning<S: Serializer>(raw: Raw<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    // Each level of the value is a level of recursion: the scanner has bounded them.
    match raw.kind() {
        Kind::Null => serializer.serialize_unit(),
        Kind::Bool => serializer.serialize_bool(raw.boolean().unwrap_or_default()),
        Kind::Number => {
            let number = Number::received(raw.as_bytes());
            if let Some(value) = number.to_u64() {
                serializer.serialize_u64(value)
            } else if let Some(value) = number.to_i64() {
                serializer.serialize_i64(value)
            } else {
                serializer.serialize_f64(number.to_f64())
            }
        }
        Kind::String => raw.string().unwrap_or_default().serialize(serializer),
        Kind::Array => {
            serializer.collect_seq(raw.array().unwrap_or_default().elements().map(Value))
        }
        Kind::Object => {
            let members = raw.object().unwrap_or_default().members();
            serializer.collect_map(members.map(|(key, value)| (key, Value(value))))
        }
    }
}

/// Firmware knows one serializer, ours, and passes no lists on: it has no room for what that would need.
#[cfg(not(feature = "alloc"))]
fn meaning<S: Serializer>(_: Raw<'_>, _: S) -> Result<S::Ok, S::Error> {
    Err(serde::ser::Error::custom(
        "needs feature alloc of mcp-proto",
    ))
}

/// The inside of a serialized [`Str`] of a peer: as it stands for our serializer, decoded for others.
struct Text<'b>(Str<'b>);

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_plain() {
            _ if !serializer.is_human_readable() => serializer.serialize_bytes(self.0.content()),
            Some(plain) => serializer.serialize_str(plain),
            None => serializer.collect_str(&self.0),
        }
    }
}

fn unexpected(kind: Kind) -> de::Unexpected<'static> {
    match kind {
        Kind::Null => de::Unexpected::Unit,
        Kind::Bool => de::Unexpected::Bool(false),
        Kind::Number => de::Unexpected::Unsigned(0),
        Kind::String => de::Unexpected::Str(""),
        Kind::Array => de::Unexpected::Seq,
        Kind::Object => de::Unexpected::Map,
    }
}
