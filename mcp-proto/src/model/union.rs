//! Unions: declared types whose arms are distinguished by the text of a member, or by its presence.

use core::fmt;
use core::marker::PhantomData;

use serde::de::{Deserializer, EnumAccess, Error, VariantAccess, Visitor};

use super::declare::{Declared, Members};
use crate::json::{Raw, UNION_TOKEN};

/// A declared union whose arms are distinguished by the text of a member, the tag.
pub trait Tagged<'de>: Sized {
    /// The name of the member, then its texts.
    const NAMES: &'static [&'static str];

    /// Reads the arm of this index.
    fn read_arm<A: VariantAccess<'de>>(index: usize, content: A) -> Result<Self, A::Error>;

    /// Reads an object whose tag has none of the texts, or a value without a tag.
    fn read_other<E: Error>(raw: Raw<'de>) -> Result<Self, E>;
}

/// Reads a declared union.
pub fn read<'de, T: Tagged<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_enum(UNION_TOKEN, T::NAMES, Arms(PhantomData))
}

/// Reads the members of an arm.
pub fn read_content<'de, T: Declared<'de>, A: VariantAccess<'de>>(
    content: A,
) -> Result<T, A::Error> {
    content.struct_variant(T::MEMBERS, Members(PhantomData))
}

/// Returns the tag, unless it is absent or `null`.
pub fn tag<'b>(raw: Raw<'b>, name: &str) -> Option<Raw<'b>> {
    raw.object()?.get(name).filter(|tag| !tag.is_null())
}

/// Returns true if a value has a member.
pub fn has(raw: Raw<'_>, member: &str) -> bool {
    raw.object()
        .is_some_and(|object| object.get(member).is_some())
}

struct Arms<T>(PhantomData<T>);

impl<'de, T: Tagged<'de>> Visitor<'de> for Arms<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON from mcp_proto::json::Deserializer")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, value: A) -> Result<T, A::Error> {
        let (index, content) = value.variant()?;
        T::read_arm(index, content)
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<T, E> {
        T::read_other(Raw::received(bytes))
    }
}

/// Makes the type of a declared union, whose arms are distinguished by the text of a member, or by
/// its presence.
#[doc(hidden)]
#[macro_export]
macro_rules! union_type {
    ($form:tt $outer:tt $name:ident by member $arms:tt) => {
        $crate::union_type! { @make $form [untagged] [member] $outer $name $arms }
    };
    ($form:tt $outer:tt $name:ident by $tag:literal $(else $default:ident)? { $($arms:tt)* }) => {
        $crate::union_type! { @make $form [tag = $tag] [$tag $(else $default)?] $outer $name { $($arms)* } }
    };
    (
        @make (
            $form:ident $type_of:ident $name_of:ident $b:lifetime
            [$($generics:tt)*] [$($at_de:tt)*] [$($reading:tt)*] [$($derive:ident)*] [$($others:ident)*] [$other:ty, $text_type:ty]
        )
        [$($serde:tt)*] [$($by:tt)*] [$($outer:tt)*] $name:ident
        { $($(#[$inner:meta])* $arm:ident($of:ident) = $text:literal,)* }
    ) => {
        $($outer)*
        #[derive(Clone, Debug, serde::Serialize $(, $derive)*)]
        #[serde($($serde)*)]
        pub enum $name $($generics)* {
            $($(#[$inner])* #[serde(rename = $text)] $arm($crate::member_kind!([$type_of] $b $of)),)*
            /// A value that no revision defines, as it came.
            #[serde(untagged)]
            Other($other),
        }

        $crate::read_union! { [$($reading)*] [$name $($generics)*] [$name $($at_de)*] by $($by)* { $($arm($of) = $text,)* } }
    };
}

/// Implements the reading of a declared union.
#[doc(hidden)]
#[macro_export]
macro_rules! read_union {
    (@other $raw:ident, $tag:literal) => {
        match $crate::model::union::tag($raw, $tag) {
            Some(tag) if tag.string().is_some() => Ok(Self::Other($raw.into())),
            _ => Err(serde::de::Error::missing_field($tag)),
        }
    };
    (@other $raw:ident, $tag:literal else $default:ident) => {
        match $crate::model::union::tag($raw, $tag) {
            Some(_) => Ok(Self::Other($raw.into())),
            None => $raw.decode(&mut []).map(Self::$default).map_err(serde::de::Error::custom),
        }
    };
    ([$($reading:tt)*] [$name:ty] [$name_at_de:ty] by member { $($arm:ident($of:ident) = $member:literal,)* }) => {
        impl $($reading)* serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = <$crate::json::Raw<'_> as serde::Deserialize<'_>>::deserialize(deserializer)?;
                match raw {
                    $(_ if $crate::model::union::has(raw, $member) => raw.decode(&mut []).map(Self::$arm),)*
                    _ => Ok(Self::Other(raw.into())),
                }
                .map_err(<D::Error as serde::de::Error>::custom)
            }
        }
    };
    ([$($reading:tt)*] [$name:ty] [$name_at_de:ty] by $tag:literal $(else $default:ident)? { $($arm:ident($of:ident) = $text:literal,)* }) => {
        impl<'de> $crate::model::union::Tagged<'de> for $name_at_de {
            const NAMES: &'static [&'static str] = &[$tag, $($text),*];

            fn read_arm<A: serde::de::VariantAccess<'de>>(index: usize, content: A) -> Result<Self, A::Error> {
                enum Arm { $($arm),* }
                // In the order of `NAMES`.
                const ARMS: &[Arm] = &[$(Arm::$arm),*];

                match ARMS.get(index) {
                    $(Some(Arm::$arm) => $crate::model::union::read_content(content).map(Self::$arm),)*
                    None => Err(<A::Error as serde::de::Error>::unknown_variant("", Self::NAMES)),
                }
            }

            fn read_other<E: serde::de::Error>(raw: $crate::json::Raw<'de>) -> Result<Self, E> {
                $crate::read_union!(@other raw, $tag $(else $default)?)
            }
        }

        impl $($reading)* serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::union::read::<$name_at_de, D>(deserializer)
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use crate::json::{DecodeError, DecodeErrorKind, Raw};
    use crate::model::{Content, ElicitParams};

    fn read(json: &str) -> Result<Content<'_>, DecodeError> {
        Raw::parse(json.as_bytes(), 8).unwrap().decode(&mut [])
    }

    #[test]
    fn the_member_stands_anywhere() {
        for json in [
            r#"{"type":"text","text":"a"}"#,
            r#" { "type" : "text" , "text" : "a" , "type" : 1 } "#,
            r#"{"text":"a","type":"text"}"#,
            r#"{"x":{"type":"image"},"text":"a","type":"text"}"#,
            r#"{"\u0074ype":"t\u0065xt","text":"a"}"#,
        ] {
            let Ok(Content::Text(block)) = read(json) else {
                panic!("{json}")
            };
            assert_eq!(block.text, "a", "{json}");
        }
    }

    #[test]
    fn other_texts_are_kept_and_other_values_refused() {
        for json in [r#"{"type":"video","text":"a"}"#, r#"{"type":""}"#] {
            let Ok(Content::Other(raw)) = read(json) else {
                panic!("{json}")
            };
            assert_eq!(raw.as_str(), json);
        }
        for json in [
            "{}",
            r#"{"type":null,"text":"a"}"#,
            r#"{"type":1,"text":"a"}"#,
            r#"{"type":{"type":"text"},"text":"a"}"#,
            r#"{"type":1,"type":"text","text":"a"}"#,
            "[]",
            r#""text""#,
        ] {
            let missing = DecodeErrorKind::MissingField("type");
            assert_eq!(read(json).unwrap_err().kind(), missing, "{json}");
        }
    }

    #[test]
    fn an_error_names_the_member() {
        let error = |json| read(json).unwrap_err().to_string();
        let text = r#"{"type":"text","text":1}"#;
        assert!(error(text).starts_with("text: "), "{}", error(text));
        let text = r#"{"type":"text","text":"a","annotations":{"priority":[]}}"#;
        assert!(error(text).starts_with("annotations.priority: "));
        assert!(error(r#"{"text":"a","type":"image"}"#).contains("`data`"));
    }

    #[test]
    fn without_the_member_a_union_may_have_a_default() {
        let read = |json: &'static str| {
            let raw = Raw::parse(json.as_bytes(), 8).unwrap();
            raw.decode::<ElicitParams<'_>>(&mut []).unwrap()
        };
        let form = r#"{"message":"m","requestedSchema":{"type":"object","properties":{}}}"#;
        assert!(matches!(read(form), ElicitParams::Form(_)));
        for other in [r#"{"mode":"x"}"#, r#"{"mode":1}"#] {
            assert!(matches!(read(other), ElicitParams::Other(_)), "{other}");
        }
    }
}
