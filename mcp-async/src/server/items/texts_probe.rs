//! Finds types that no texts can fill.

use core::cell::Cell;
use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;

use mcp_proto::json::DecodeErrorKind;
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use super::texts::TextError;
use crate::connection::discard;
use crate::payload::empty;

/// Returns why the type of a handler cannot be filled from texts of these names.
pub(super) type Unfillable = fn(&mut dyn Iterator<Item = &str>) -> Option<TextError>;

/// Returns why the type cannot be filled from texts of these names, whatever they are. `None` where they
/// can, and where that depends on the texts.
pub(super) fn unfillable<T: DeserializeOwned + 'static>(
    names: &mut dyn Iterator<Item = &str>,
    values: Values,
) -> Option<TextError> {
    if empty::<T>().is_some() {
        return None;
    }
    let is_read = &Cell::new(false);
    let members = names.map(|name| {
        is_read.set(true);
        (name, Probe { name, values })
    });
    // A decoder of the application may panic, which is found when a client reaches it.
    let filled = AssertUnwindSafe(|| T::deserialize(MapDeserializer::new(members)).err());
    let error = catch_unwind(filled).unwrap_or_else(|panic| {
        discard(panic);
        None
    })?;
    // An error without a name is one of the type itself, or of what a decoder made of a text.
    let is_certain = !is_read.get() || error.name().is_some();
    match (error.kind(), values) {
        (DecodeErrorKind::MissingField(_), _) => Some(error),
        (DecodeErrorKind::Type(_), Values::Texts) if is_certain => Some(error),
        _ => None,
    }
}

/// The values that may stand under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Values {
    /// A text.
    Texts,
    /// A text, a list or a map.
    Any,
}

/// A value that suits most types that a text is read into.
struct Probe<'a> {
    name: &'a str,
    values: Values,
}

impl Probe<'_> {
    /// Fills a type that asks for another shape than a text. One that takes no text either has an
    /// error with the name, as no other text would do.
    fn fill_shape<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let filled = visitor.visit_str(TEXT);
        filled.map_err(|error: TextError| match error.kind() {
            DecodeErrorKind::Type(_) => error.of(self.name),
            _ => error,
        })
    }
}

macro_rules! suiting {
    ($($method:ident $visit:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
            visitor.$visit(Default::default())
        }
    )*};
}

macro_rules! shaped {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $argument,)* visitor: V) -> Result<V::Value, TextError> {
            self.fill_shape(visitor)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Probe<'_> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_str(TEXT)
    }

    suiting! {
        deserialize_bool visit_bool
        deserialize_i8 visit_i8
        deserialize_i16 visit_i16
        deserialize_i32 visit_i32
        deserialize_i64 visit_i64
        deserialize_i128 visit_i128
        deserialize_u8 visit_u8
        deserialize_u16 visit_u16
        deserialize_u32 visit_u32
        deserialize_u64 visit_u64
        deserialize_u128 visit_u128
        deserialize_f32 visit_f32
        deserialize_f64 visit_f64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, TextError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        match self.values {
            Values::Texts => self.fill_shape(visitor),
            Values::Any => visitor.visit_seq(SeqDeserializer::new(core::iter::empty::<&str>())),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        match self.values {
            Values::Texts => self.fill_shape(visitor),
            Values::Any => {
                visitor.visit_map(MapDeserializer::new(core::iter::empty::<(&str, &str)>()))
            }
        }
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        let variant: StrDeserializer<'_, TextError> = variants
            .first()
            .copied()
            .unwrap_or_default()
            .into_deserializer();
        // The first variant may have contents, and another one none.
        variant
            .deserialize_enum(name, variants, visitor)
            .map_err(|_| de::Error::custom("another variant"))
    }

    shaped! {
        deserialize_unit()
        deserialize_unit_struct(&'static str)
        deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize)
        deserialize_struct(&'static str, &'static [&'static str])
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, TextError> for Probe<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// The text of a probe: a number, too.
const TEXT: &str = "0";

#[cfg(test)]
mod tests {
    use core::net::IpAddr;
    use core::num::NonZeroU8;
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        #[expect(dead_code, reason = "only its shape is asked for")]
        Other(u8),
        Metric,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct Plain {
        text: String,
        letter: char,
        number: i64,
        fraction: f32,
        yes: bool,
        left_out: Option<u8>,
        #[serde(default)]
        default: u8,
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape is asked for")]
    struct One<T> {
        one: T,
    }

    /// A time such as `7s`, with one kind of error for all other texts.
    struct Seconds;

    impl<'de> Deserialize<'de> for Seconds {
        fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            let wrong = || de::Error::invalid_type(de::Unexpected::Str(&text), &"seconds");
            text.strip_suffix('s').map(|_| Self).ok_or_else(wrong)
        }
    }

    /// A time such as `7m`, read by a visitor, with one kind of error for all other texts.
    struct Minutes;

    impl<'de> Deserialize<'de> for Minutes {
        fn deserialize<D: de::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_str(Self)
        }
    }

    impl Visitor<'_> for Minutes {
        type Value = Self;

        fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            f.write_str("minutes")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<Self, E> {
            let wrong = || de::Error::invalid_type(de::Unexpected::Str(text), &"minutes");
            text.strip_suffix('m').map(|_| Self).ok_or_else(wrong)
        }
    }

    #[track_caller]
    fn check<T: DeserializeOwned + 'static>(
        names: &[&str],
        values: Values,
        expected: Option<&str>,
    ) {
        let found = unfillable::<T>(&mut names.iter().copied(), values);
        let found = found.map(|error| error.to_string());
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn what_is_certain_is_found() {
        use Values::{Any, Texts};

        let _ = Unit::Metric;
        let plain = ["text", "letter", "number", "fraction", "yes"];
        check::<Plain>(&plain, Texts, None);
        check::<Plain>(&plain[1..], Texts, Some("missing member `text`"));
        check::<Plain>(&["id"], Any, Some("missing member `text`"));
        check::<BTreeMap<String, u8>>(&["a"], Texts, None);

        let list = Some("one: expected a sequence, found string");
        check::<One<Vec<String>>>(&["one"], Texts, list);
        check::<One<Option<Vec<String>>>>(&["one"], Texts, list);
        check::<One<Vec<String>>>(&["one"], Any, None);
        let nested = Some("one: expected struct One, found string");
        check::<One<One<u8>>>(&["one"], Texts, nested);
        check::<One<BTreeMap<String, u8>>>(&["one"], Any, None);

        check::<One<()>>(&["one"], Texts, Some("one: expected unit, found string"));
        let whole = Some("expected a string, found object");
        check::<String>(&["one"], Texts, whole);

        // These depend on the text.
        check::<One<Seconds>>(&["one"], Texts, None);
        check::<One<Option<Minutes>>>(&["one"], Texts, None);
        check::<BTreeMap<String, Minutes>>(&["one"], Texts, None);
        check::<One<IpAddr>>(&["one"], Texts, None);
        check::<One<NonZeroU8>>(&["one"], Texts, None);
        check::<One<Unit>>(&["one"], Texts, None);
    }
}
