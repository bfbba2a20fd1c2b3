//! Decodes named texts into a type: the variables of a URI, the arguments of a prompt.

use core::fmt;
use std::borrow::Cow;

use serde::de::value::{MapDeserializer, SeqDeserializer, StrDeserializer};
use serde::de::{self, DeserializeOwned, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

use crate::uri_template::{Captures, Value};

/// Why texts did not decode: the name, and what was wrong with it.
#[derive(Debug)]
pub(super) struct TextError(String);

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for TextError {}

impl de::Error for TextError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

/// Fills a struct or a map from texts; numbers and booleans are read out of them.
pub(super) fn from_texts<'a, T: DeserializeOwned>(
    texts: impl Iterator<Item = (&'a str, Cow<'a, str>)>,
) -> Result<T, TextError> {
    let members = texts.map(|(name, text)| (name, Text { name, text }));
    T::deserialize(MapDeserializer::new(members))
}

/// Fills a struct or a map from what a URI holds.
pub(super) fn from_captures<T: DeserializeOwned>(captures: &Captures) -> Result<T, TextError> {
    let members = captures
        .iter()
        .map(|(name, value)| (name, Captured { name, value }));
    T::deserialize(MapDeserializer::new(members))
}

/// One text.
struct Text<'a> {
    name: &'a str,
    text: Cow<'a, str>,
}

impl Text<'_> {
    fn parse<T: core::str::FromStr>(&self, expected: &str) -> Result<T, TextError> {
        self.text
            .parse()
            .map_err(|_| TextError(format!("{}: expected {expected}", self.name)))
    }
}

macro_rules! parsed {
    ($($method:ident $visit:ident $expected:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
            visitor.$visit(self.parse($expected)?)
        }
    )*};
}

impl<'de> de::Deserializer<'de> for Text<'_> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let name = self.name;
        visitor
            .visit_str(&self.text)
            .map_err(|error: TextError| TextError(format!("{name}: {error}")))
    }

    parsed! {
        deserialize_bool visit_bool "true or false"
        deserialize_i8 visit_i8 "a number"
        deserialize_i16 visit_i16 "a number"
        deserialize_i32 visit_i32 "a number"
        deserialize_i64 visit_i64 "a number"
        deserialize_i128 visit_i128 "a number"
        deserialize_u8 visit_u8 "a number"
        deserialize_u16 visit_u16 "a number"
        deserialize_u32 visit_u32 "a number"
        deserialize_u64 visit_u64 "a number"
        deserialize_u128 visit_u128 "a number"
        deserialize_f32 visit_f32 "a number"
        deserialize_f64 visit_f64 "a number"
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
        let text: StrDeserializer<'_, TextError> = (&*self.text).into_deserializer();
        text.deserialize_enum(name, variants, visitor)
            .map_err(|error| TextError(format!("{}: {error}", self.name)))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, TextError> for Text<'_> {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// What a URI holds for one variable.
struct Captured<'a> {
    name: &'a str,
    value: &'a Value,
}

macro_rules! as_text {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
            self.text()?.$method(visitor)
        }
    )*};
}

impl<'a> Captured<'a> {
    fn text(&self) -> Result<Text<'a>, TextError> {
        let name = self.name;
        let text = self
            .value
            .as_str()
            .ok_or_else(|| TextError(format!("{name}: expected one text")))?;
        Ok(Text {
            name,
            text: Cow::Borrowed(text),
        })
    }
}

impl<'de> de::Deserializer<'de> for Captured<'_> {
    type Error = TextError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TextError> {
        let name = self.name;
        let of = |text| Text {
            name,
            text: Cow::Borrowed(text),
        };
        match self.value {
            Value::String(text) => of(text).deserialize_any(visitor),
            Value::List(items) => {
                visitor.visit_seq(SeqDeserializer::new(items.iter().map(|item| of(item))))
            }
            Value::Map(pairs) => visitor.visit_map(MapDeserializer::new(
                pairs.iter().map(|(key, item)| (key.as_str(), of(item))),
            )),
        }
    }

    as_text! {
        deserialize_bool deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_i128 deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_u128 deserialize_f32 deserialize_f64
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
        self.text()?.deserialize_enum(name, variants, visitor)
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        identifier ignored_any
    }
}

impl<'de> IntoDeserializer<'de, TextError> for Captured<'_> {
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
        check(&[], Err("missing field `city`"));
        check(
            &[("city", "x"), ("days", "many")],
            Err("days: expected a number"),
        );
        check(
            &[("city", "x"), ("days", "256")],
            Err("days: expected a number"),
        );
        check(
            &[("city", "x"), ("unit", "old")],
            Err("unit: unknown variant `old`, expected `metric` or `imperial`"),
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
        assert_eq!(error.to_string(), "id: expected a number");
    }
}
