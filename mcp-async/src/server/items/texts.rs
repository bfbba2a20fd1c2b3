//! Decodes named texts into a type: the variables of a URI, the arguments of a prompt.

use core::fmt;
use std::borrow::Cow;

use mcp_proto::json::{DecodeError, DecodeErrorKind, Kind};
use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::payload::empty;
use crate::uri_template::{Captures, Value};

/// The error of texts that do not decode: the name of the text, and a [`DecodeError`], whose text
/// it has.
#[derive(Debug)]
pub(super) struct TextError {
    name: Option<String>,
    error: Box<DecodeError>,
}

impl TextError {
    /// The name of the text, or of the field that has none.
    pub(super) fn name(&self) -> Option<&str> {
        match self.error.kind() {
            DecodeErrorKind::MissingField(field) => Some(field),
            _ => self.name.as_deref(),
        }
    }

    pub(super) fn kind(&self) -> DecodeErrorKind {
        self.error.kind()
    }

    /// A value of this kind stands where another one is expected.
    pub(super) fn wrong_kind(found: Kind, expected: &str) -> Self {
        let found = match found {
            Kind::Null => de::Unexpected::Unit,
            Kind::Bool => de::Unexpected::Bool(true),
            Kind::Number => de::Unexpected::Unsigned(0),
            Kind::String => de::Unexpected::Str(""),
            Kind::Array => de::Unexpected::Seq,
            Kind::Object => de::Unexpected::Map,
        };
        Self::invalid_type(found, &expected)
    }

    /// The error is one of the text of this name.
    pub(super) fn of(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }
}

impl From<DecodeError> for TextError {
    fn from(error: DecodeError) -> Self {
        Self {
            name: None,
            error: Box::new(error),
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write!(f, "{name}: ")?;
        }
        self.error.fmt(f)
    }
}

impl core::error::Error for TextError {}

impl de::Error for TextError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        DecodeError::custom(message).into()
    }

    fn invalid_type(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        DecodeError::invalid_type(unexpected, expected).into()
    }

    fn invalid_value(unexpected: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        DecodeError::invalid_value(unexpected, expected).into()
    }

    fn invalid_length(length: usize, expected: &dyn de::Expected) -> Self {
        DecodeError::invalid_length(length, expected).into()
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        DecodeError::unknown_variant(variant, expected).into()
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        DecodeError::unknown_field(field, expected).into()
    }

    fn missing_field(field: &'static str) -> Self {
        DecodeError::missing_field(field).into()
    }

    fn duplicate_field(field: &'static str) -> Self {
        DecodeError::duplicate_field(field).into()
    }
}

/// Fills a struct or a map from texts; numbers and booleans are read out of them. `()` takes any.
pub(super) fn from_texts<'a, T: DeserializeOwned + 'static>(
    texts: impl Iterator<Item = (&'a str, Cow<'a, str>)>,
) -> Result<T, TextError> {
    let members = texts.map(|(name, text)| (name, Named::text(name, text)));
    empty().map_or_else(|| T::deserialize(MapDeserializer::new(members)), Ok)
}

/// Fills a struct or a map from the variables of a URI.
pub(super) fn from_captures<T: DeserializeOwned + 'static>(
    captures: &Captures,
) -> Result<T, TextError> {
    let members = captures.iter().map(|(name, value)| {
        let value = match value {
            Value::String(text) => Shape::Text(Cow::Borrowed(&**text)),
            Value::List(items) => Shape::List(items),
            Value::Map(pairs) => Shape::Map(pairs),
        };
        (name, Named { name, value })
    });
    empty().map_or_else(|| T::deserialize(MapDeserializer::new(members)), Ok)
}

/// The value of an argument or of a variable, with the name that errors state.
struct Named<'a> {
    name: &'a str,
    value: Shape<'a>,
}

enum Shape<'a> {
    Text(Cow<'a, str>),
    List(&'a [String]),
    Map(&'a [(String, String)]),
}

impl<'a> Named<'a> {
    const fn text(name: &'a str, text: Cow<'a, str>) -> Self {
        Self {
            name,
            value: Shape::Text(text),
        }
    }

    /// Returns the text, from which a type is read that no list and no map fills.
    fn as_text(&self) -> Result<&str, TextError> {
        let found = match &self.value {
            Shape::Text(text) => return Ok(text),
            Shape::List(_) => Kind::Array,
            Shape::Map(_) => Kind::Object,
        };
        Err(TextError::wrong_kind(found, "a string").of(self.name))
    }

    fn parse<T: core::str::FromStr>(&self, expected: &str) -> Result<T, TextError> {
        let text = self.as_text()?;
        let invalid = || TextError::invalid_type(de::Unexpected::Str(text), &expected);
        text.parse().map_err(|_| invalid().of(self.name))
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $expected:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
            visitor.$visit(self.parse($expected)?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Named<'_> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let name = self.name;
        let item = |text| Named::text(name, Cow::Borrowed(text));
        match self.value {
            Shape::Text(text) => visitor
                .visit_str(&text)
                .map_err(|error: TextError| error.of(name)),
            Shape::List(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(|text| item(text))))
            }
            Shape::Map(pairs) => visitor.visit_map(MapDeserializer::new(
                pairs.iter().map(|(key, text)| (key.as_str(), item(text))),
            )),
        }
    }

    parsed! {
        deserialize_bool visit_bool "a boolean"
        deserialize_i8 visit_i8 "i8"
        deserialize_i16 visit_i16 "i16"
        deserialize_i32 visit_i32 "i32"
        deserialize_i64 visit_i64 "i64"
        deserialize_i128 visit_i128 "i128"
        deserialize_u8 visit_u8 "u8"
        deserialize_u16 visit_u16 "u16"
        deserialize_u32 visit_u32 "u32"
        deserialize_u64 visit_u64 "u64"
        deserialize_u128 visit_u128 "u128"
        deserialize_f32 visit_f32 "f32"
        deserialize_f64 visit_f64 "f64"
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

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TextError> {
        let text: StrDeserializer<'_, TextError> = self.as_text()?.into_deserializer();
        text.deserialize_enum(name, variants, visitor)
            .map_err(|error| error.of(self.name))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, TextError> for Named<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uri_template::UriTemplate;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        Metric,
        Imperial,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Wanted {
        city: String,
        days: Option<u8>,
        unit: Option<Unit>,
        exact: Option<bool>,
    }

    #[track_caller]
    fn check(texts: &[(&str, &str)], expected: Result<Wanted, &str>) {
        let texts = texts
            .iter()
            .map(|(name, text)| (*name, Cow::Borrowed(*text)));
        let found = from_texts::<Wanted>(texts).map_err(|error| error.to_string());
        assert_eq!(found, expected.map_err(str::to_owned));
    }

    #[test]
    fn texts_become_what_the_type_says() {
        let kyoto = |days, unit, exact| Wanted {
            city: "Kyoto".into(),
            days,
            unit,
            exact,
        };
        check(&[("city", "Kyoto")], Ok(kyoto(None, None, None)));
        check(
            &[
                ("city", "Kyoto"),
                ("days", "3"),
                ("unit", "metric"),
                ("exact", "true"),
            ],
            Ok(kyoto(Some(3), Some(Unit::Metric), Some(true))),
        );
        check(&[], Err("missing member `city`"));
        check(
            &[("city", "x"), ("days", "many")],
            Err("days: expected u8, found string"),
        );
        check(
            &[("city", "x"), ("days", "256")],
            Err("days: expected u8, found string"),
        );
        check(
            &[("city", "x"), ("unit", "old")],
            Err("unit: unknown name, expected one of `metric`, `imperial`"),
        );
    }

    #[test]
    fn variables_become_what_the_type_says() {
        #[derive(Debug, Deserialize, PartialEq)]
        struct Found {
            id: u64,
            path: Vec<String>,
            rest: BTreeMap<String, u8>,
        }
        let template = UriTemplate::parse("x://{id}{/path*}{?rest*}").unwrap();
        let found = template.matches("x://7/a/b?c=1&d=2").unwrap();
        let found: Found = from_captures(&found).unwrap();
        let rest = [("c".into(), 1), ("d".into(), 2)].into();
        assert_eq!(
            found,
            Found {
                id: 7,
                path: vec!["a".into(), "b".into()],
                rest
            }
        );
        let found = template.matches("x://seven/a").unwrap();
        let error = from_captures::<Found>(&found).unwrap_err();
        assert_eq!(error.to_string(), "id: expected u64, found string");
    }
}
