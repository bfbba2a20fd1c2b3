//! Declarations of payloads.
//!
//! One declaration gives the type that borrows from a message, the owned type of `mcp-async`, how both are read and
//! written, and the members that a revision lacks. The macros `declare_tools` and its neighbours hold the declarations
//! and pass them to a macro that makes one of these of them. Adding a member is adding it there.
//!
//! ```text
//! macro_rules! declare_tools {
//!     ($form:ident) => { $form! {
//!         /// A tool.
//!         #[derive(Debug, Default)]
//!         struct Tool {
//!             /// The name.
//!             name: Text,
//!             /// The schema of its arguments.
//!             input_schema "inputSchema": Object,   // the name in JSON
//!             /// The title.
//!             title: Option<Text> [SINCE_2025_06],  // the revisions that have it, see revision::fields
//!         } core {                                  // members of the borrowed type alone
//!         }
//!         /// The parameters of a call.
//!         struct CallToolParams<'b> { name: Text, } // a type that is borrowed only
//!         ;
//!         /// A block.
//!         enum Content by "type" { Text(TextContent) = "text", }
//!         ;
//!         /// A theme.
//!         names Theme { Light = "light", }
//!     } };
//! }
//! ```
//!
//! | Kind | Borrowed | Owned | In JSON |
//! |---|---|---|---|
//! | `u64`, `Icon`, .. | `u64`, `Icon<'b>` | `u64`, `Icon` | required |
//! | `Text`, `Base64` | `Str<'b>` | `String`, `Base64` | required |
//! | `Number` | `Number<'b>` | `f64` | required; borrowed, its digits are as they came |
//! | `Json`, `Object` | `Raw<'b>`, `Object<'b>` | `RawBuf` | required; any value, an object |
//! | `Option<T>` | `Option<T>` | `Option<T>` | `null` counts as absent |
//! | `Hint<T>` | `Option<T>` | `Option<T>` | a value that is no `T` counts as absent |
//! | `Flag` | `bool` | `bool` | absent unless `true` |
//! | `List<T>` | `List<'b, T>` | `Vec<T>` | required |
//! | `Blocks<T>` | `List<'b, T>` | `Vec<T>` | read if absent, always written |
//! | `Items<T>` | `Option<List<'b, T>>` | `Vec<T>` | absent if empty |
//! | `Hints<T>` | `Option<List<'b, T>>` | `Vec<T>` | absent if empty; items that are no `T` are left out |
//! | `Meta` | `Option<Meta<'b>>` | `Meta` | absent if empty |
//! | `Cursor` | `Option<Str<'b>>` | `Option<Cursor>` | written byte for byte as it was read |
//! | `Structured` | `Option<Raw<'b>>` | `Option<RawBuf>` | `null` is a value; which revisions have it depends on its kind |
//! | `Schema` | `Option<Object<'b>>` | `Option<RawBuf>` | which revisions have it depends on its type |
//! | `Form` | `ElicitationSchema<'b>` | `RawBuf` | an object, written as the revision has it |
//! | `Lifetime`, `Interval` | `Option<i64>`, `Option<u64>` | the same | milliseconds; `null` or absent counts as `None` |
//! | `Texts`, `Fields` | `Map<'b, ..>` | | required |
//! | `Answers`, `Questions` | `Option<Map<'b, ..>>` | `Option<RawBuf>` | an object |

use core::fmt;
use core::marker::PhantomData;

pub use serde;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde::ser::Serialize;

use super::rules::Rule;
use crate::json::MEMBER_TOKEN;

/// A type that is declared.
pub trait Declared<'de>: Sized {
    /// The names of its members.
    const MEMBERS: &'static [&'static str];

    /// Reads it from the members of an object.
    fn read<A: MapAccess<'de>>(members: A) -> Result<Self, A::Error>;
}

/// Reads a declared type.
pub fn read<'de, T: Declared<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    deserializer.deserialize_struct("", T::MEMBERS, Members(PhantomData))
}

pub(super) struct Members<T>(pub(super) PhantomData<T>);

impl<'de, T: Declared<'de>> Visitor<'de> for Members<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::read(members)
    }
}

/// Reads the value of a member, which may stand once.
pub fn fill<'de, R: Rule<'de, T>, T: Serialize, A: MapAccess<'de>>(
    place: &mut Option<T>,
    name: &'static str,
    members: &mut A,
) -> Result<(), A::Error> {
    if place.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *place = Some(members.next_value_seed(Seed::<R, T>(PhantomData))?);
    Ok(())
}

/// Returns the value of a member that was read or may be absent.
pub fn finish<'de, R: Rule<'de, T>, T: Serialize, E: Error>(
    place: Option<T>,
    name: &'static str,
) -> Result<T, E> {
    let value = place.or_else(R::missing);
    value.ok_or_else(|| E::missing_field(name))
}

struct Seed<R, T>(PhantomData<(R, T)>);

impl<'de, T: Serialize, R: Rule<'de, T>> DeserializeSeed<'de> for Seed<R, T> {
    type Value = T;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
        R::read(deserializer)
    }
}

/// Names the next member by its index among those of the type; unknown ones have none.
#[derive(Debug)]
pub struct Member;

impl<'de> DeserializeSeed<'de> for Member {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, key: D) -> Result<Option<usize>, D::Error> {
        key.deserialize_newtype_struct(MEMBER_TOKEN, self)
    }
}

impl Visitor<'_> for Member {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name from mcp_proto::json::Deserializer")
    }

    fn visit_u64<E: Error>(self, index: u64) -> Result<Option<usize>, E> {
        Ok(usize::try_from(index).ok())
    }

    fn visit_unit<E: Error>(self) -> Result<Option<usize>, E> {
        Ok(None)
    }
}

/// Passes all declarations to a macro, those first that are written most often.
#[doc(hidden)]
#[macro_export]
macro_rules! declare_payloads {
    ($form:ident) => {
        $crate::declare_content! { $form }
        $crate::declare_tools! { $form }
        $crate::declare_notifications! { $form }
        $crate::declare_resources! { $form }
        $crate::declare_prompts! { $form }
        $crate::declare_completion! { $form }
        $crate::declare_implementation! { $form }
        $crate::declare_meta! { $form }
        $crate::declare_sampling! { $form }
        $crate::declare_elicitation! { $form }
        $crate::declare_forms! { $form }
        $crate::declare_roots! { $form }
        $crate::declare_tasks! { $form }
        $crate::declare_input! { $form }
        $crate::declare_opening! { $form }
        $crate::declare_pages! { $form }
        $crate::declare_error_data! { $form }
    };
}

/// The name of a member in JSON.
#[doc(hidden)]
#[macro_export]
macro_rules! member_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $name:literal) => {
        $name
    };
}

/// The table of kinds: passes to a macro the borrowed type of a kind, the owned type and the rule.
#[doc(hidden)]
#[macro_export]
macro_rules! member_kind {
    (@pass [$($to:tt)*] $($kind:tt)*) => { $($to)*! { $($kind)* } };
    ($to:tt $b:lifetime Text) => { $crate::member_kind!(@pass $to [Str<$b>] [String] [Required]) };
    ($to:tt $b:lifetime Base64) => { $crate::member_kind!(@pass $to [Str<$b>] [Base64] [Required]) };
    ($to:tt $b:lifetime Json) => { $crate::member_kind!(@pass $to [Raw<$b>] [RawBuf] [Required]) };
    ($to:tt $b:lifetime Object) => { $crate::member_kind!(@pass $to [Object<$b>] [RawBuf] [AnObject]) };
    ($to:tt $b:lifetime Flag) => { $crate::member_kind!(@pass $to [bool] [bool] [Optional]) };
    ($to:tt $b:lifetime Meta) => { $crate::member_kind!(@pass $to [Option<Meta<$b>>] [Meta] [Optional]) };
    ($to:tt $b:lifetime Cursor) => { $crate::member_kind!(@pass $to [Option<Str<$b>>] [Option<Cursor>] [Echoed]) };
    ($to:tt $b:lifetime Structured) => { $crate::member_kind!(@pass $to [Option<Raw<$b>>] [Option<RawBuf>] [Structured]) };
    ($to:tt $b:lifetime Schema) => { $crate::member_kind!(@pass $to [Option<Object<$b>>] [Option<RawBuf>] [Schema]) };
    ($to:tt $b:lifetime Form) => { $crate::member_kind!(@pass $to [ElicitationSchema<$b>] [RawBuf] [Form]) };
    ($to:tt $b:lifetime Lifetime) => { $crate::member_kind!(@pass $to [Option<i64>] [Option<i64>] [Lifetime]) };
    ($to:tt $b:lifetime Interval) => { $crate::member_kind!(@pass $to [Option<u64>] [Option<u64>] [Interval]) };
    ($to:tt $b:lifetime Texts) => { $crate::member_kind!(@pass $to [Map<$b, Str<$b>>] [] [Required]) };
    ($to:tt $b:lifetime Fields) => { $crate::member_kind!(@pass $to [Map<$b, PrimitiveSchema<$b>>] [] [Required]) };
    ($to:tt $b:lifetime Answers) => { $crate::member_kind!(@pass $to [Option<Map<$b, FormValue<$b>>>] [Option<RawBuf>] [OptionalObject]) };
    ($to:tt $b:lifetime Questions) => { $crate::member_kind!(@pass $to [Option<Map<$b, InputRequest<$b>>>] [Option<RawBuf>] [OptionalObject]) };
    ($to:tt $b:lifetime InputResponses) => { $crate::member_kind!(@pass $to [Map<$b, InputResponse<$b>>] [InputResponses] [Required]) };
    ($to:tt $b:lifetime Option<Object>) => { $crate::member_kind!(@pass $to [Option<Object<$b>>] [Option<RawBuf>] [OptionalObject]) };
    ($to:tt $b:lifetime Option<$of:ident>) => {
        $crate::member_kind!(@pass $to [Option<$crate::member_kind!($to $b $of)>] [Option<$crate::member_kind!($to $b $of)>] [Optional])
    };
    ($to:tt $b:lifetime Hint<$of:ident>) => {
        $crate::member_kind!(@pass $to [Option<$crate::member_kind!($to $b $of)>] [Option<$crate::member_kind!($to $b $of)>] [Hint])
    };
    ($to:tt $b:lifetime List<$of:ident>) => {
        $crate::member_kind!(@pass $to [List<$b, $crate::member_kind!($to $b $of)>] [Vec<$crate::member_kind!($to $b $of)>] [Required])
    };
    ($to:tt $b:lifetime Blocks<$of:ident>) => {
        $crate::member_kind!(@pass $to [List<$b, $crate::member_kind!($to $b $of)>] [Vec<$crate::member_kind!($to $b $of)>] [Written])
    };
    ($to:tt $b:lifetime Items<$of:ident>) => {
        $crate::member_kind!(@pass $to [Option<List<$b, $crate::member_kind!($to $b $of)>>] [Vec<$crate::member_kind!($to $b $of)>] [Optional])
    };
    ($to:tt $b:lifetime Hints<$of:ident>) => {
        $crate::member_kind!(@pass $to [Option<List<$b, $crate::member_kind!($to $b $of)>>] [Vec<$crate::member_kind!($to $b $of)>] [Hints])
    };
    ($to:tt $b:lifetime bool) => { $crate::member_kind!(@pass $to [bool] [bool] [Required]) };
    ($to:tt $b:lifetime Number) => { $crate::member_kind!(@pass $to [Number<$b>] [f64] [Required]) };
    ($to:tt $b:lifetime f64) => { $crate::member_kind!(@pass $to [f64] [f64] [Required]) };
    ($to:tt $b:lifetime i64) => { $crate::member_kind!(@pass $to [i64] [i64] [Required]) };
    ($to:tt $b:lifetime u64) => { $crate::member_kind!(@pass $to [u64] [u64] [Required]) };
    ($to:tt $b:lifetime CacheScope) => { $crate::member_kind!(@pass $to [CacheScope] [CacheScope] [Required]) };
    ($to:tt $b:lifetime ElicitAction) => { $crate::member_kind!(@pass $to [ElicitAction] [ElicitAction] [Required]) };
    ($to:tt $b:lifetime InputRequiredTag) => { $crate::member_kind!(@pass $to [InputRequiredTag] [InputRequiredTag] [Required]) };
    ($to:tt $b:lifetime LoggingLevel) => { $crate::member_kind!(@pass $to [LoggingLevel] [LoggingLevel] [Required]) };
    ($to:tt $b:lifetime NumberType) => { $crate::member_kind!(@pass $to [NumberType] [NumberType] [Required]) };
    ($to:tt $b:lifetime ObjectType) => { $crate::member_kind!(@pass $to [ObjectType] [ObjectType] [Required]) };
    ($to:tt $b:lifetime Role) => { $crate::member_kind!(@pass $to [Role] [Role] [Required]) };
    ($to:tt $b:lifetime TaskMetadata) => { $crate::member_kind!(@pass $to [TaskMetadata] [TaskMetadata] [Required]) };
    ($to:tt $b:lifetime TaskStatus) => { $crate::member_kind!(@pass $to [TaskStatus] [TaskStatus] [Required]) };
    ($to:tt $b:lifetime $other:ident) => { $crate::member_kind!(@pass $to [$other<$b>] [$other] [Required]) };
}

/// The rule of a kind.
#[doc(hidden)]
#[macro_export]
macro_rules! rule_of {
    ([$($borrowed:tt)*] [$($owned:tt)*] [$rule:ident]) => {
        $crate::model::rules::$rule
    };
}

/// Writes a declared struct. Its name tells the serializer whose members depend on the revision.
#[doc(hidden)]
#[macro_export]
macro_rules! write_members {
    ($value:ident, $serializer:ident, $name:ident [$($tag:tt)*] {
        $($field:ident $($json:literal)? : ($($kind:tt)*) [$($revisions:tt)*],)*
    }) => {{
        use $crate::model::declare::serde::ser::SerializeStruct;
        use $crate::model::rules::Rule;

        const NAMES: [&str; 2] = match concat!($($tag,)* $($(stringify!($revisions),)*)*).is_empty() {
            true => ["", ""],
            false => [
                concat!("mcp:", stringify!($name)),
                concat!("mcp:", stringify!($name), ":any"),
            ],
        };
        let is_any = false $(|| <$crate::member_kind!([$crate::rule_of] 'static $($kind)*) as Rule<_>>::is_any(&$value.$field))*;
        let count = [$(stringify!($field)),*].len();
        let mut members = $serializer.serialize_struct(NAMES[usize::from(is_any)], count)?;
        $(<$crate::member_kind!([$crate::rule_of] 'static $($kind)*) as Rule<_>>::write(
            &$value.$field,
            $crate::member_name!($field $($json)?),
            &mut members,
        )?;)*
        members.end()
    }};
}

/// Reads a declared struct.
#[doc(hidden)]
#[macro_export]
macro_rules! read_members {
    ($members:ident { $($field:ident $($json:literal)? : ($($kind:tt)*),)* }) => {{
        use $crate::model::declare::{Member, fill, finish, serde::de::IgnoredAny};

        #[expect(non_camel_case_types, reason = "the names are those of the fields")]
        enum Known { $($field),* }
        // In the order of `MEMBERS`.
        const KNOWN: &[Known] = &[$(Known::$field),*];

        $(let mut $field = None;)*
        while let Some(member) = $members.next_key_seed(Member)? {
            match member.and_then(|index| KNOWN.get(index)) {
                $(Some(Known::$field) => {
                    let name = $crate::member_name!($field $($json)?);
                    fill::<$crate::member_kind!([$crate::rule_of] 'static $($kind)*), _, _>(&mut $field, name, &mut $members)?;
                })*
                None => {
                    $members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(Self {
            $($field: finish::<$crate::member_kind!([$crate::rule_of] 'static $($kind)*), _, _>(
                $field,
                $crate::member_name!($field $($json)?),
            )?,)*
        })
    }};
}

/// Makes the types of one form of declarations. The form is `core` for all, `owned` for those
/// without a lifetime; then come the macros of a kind's type and of the function that returns a
/// name, a lifetime, the generics of the types, those at `'de`, those of their reading, what
/// structs and what names derive, and the types of other values and names.
#[doc(hidden)]
#[macro_export]
macro_rules! payload_types {
    ($form:tt {
        $(
            $(#[$outer:meta])*
            struct $name:ident $(<$only:lifetime>)? $([$tag:literal $($tag_revisions:tt)*])? {
                $(
                    $(#[$inner:meta])*
                    $field:ident $($json:literal)? : $kind:ident $(<$of:ident>)? $([$($revisions:tt)*])?,
                )*
            } $(core {
                $(
                    $(#[$core_inner:meta])*
                    $core_field:ident $($core_json:literal)? : $core_kind:ident $(<$core_of:ident>)?
                        $([$($core_revisions:tt)*])?,
                )*
            })?
        )*
        ;
        $(
            $(#[$union_outer:meta])*
            enum $union:ident by $by:tt $(else $default:ident)? {
                $($(#[$arm_inner:meta])* $arm:ident($of_arm:ident) = $arm_name:literal,)*
            }
        )*
        ;
        $(
            $(#[$names_outer:meta])*
            names $names:ident { $($(#[$value_inner:meta])* $value:ident = $text:literal,)* }
        )*
    }) => {
        $($crate::struct_type! {
            $form [$($only)?] [$(#[$outer])*] $name [$($tag)?]
            { $($(#[$inner])* $field $($json)? : ($kind $(<$of>)?) [$($($revisions)*)?],)* }
            { $($(
                $(#[$core_inner])*
                $core_field $($core_json)? : ($core_kind $(<$core_of>)?) [$($($core_revisions)*)?],
            )*)? }
        })*
        $($crate::union_type! {
            $form [$(#[$union_outer])*] $union by $by $(else $default)?
            { $($(#[$arm_inner])* $arm($of_arm) = $arm_name,)* }
        })*
        $($crate::names_type! {
            $form [$(#[$names_outer])*] $names { $($(#[$value_inner])* $value = $text,)* }
        })*
    };
}

/// Makes the type of a declared struct.
#[doc(hidden)]
#[macro_export]
macro_rules! struct_type {
    ((owned $($form:tt)*) [$only:lifetime] $($rest:tt)*) => {};
    ((owned $($form:tt)*) [] $outer:tt $name:ident $tag:tt $members:tt $core:tt) => {
        $crate::struct_type! { @make ($($form)*) $outer $name $tag $members }
    };
    ((core $($form:tt)*) [$($only:lifetime)?] $outer:tt $name:ident $tag:tt { $($member:tt)* } { $($core:tt)* }) => {
        $crate::struct_type! { @make ($($form)*) $outer $name $tag { $($member)* $($core)* } }
    };
    (
        @make (
            $type_of:ident $name_of:ident $b:lifetime
            [$($generics:tt)*] [$($at_de:tt)*] [$($reading:tt)*] [$($derive:ident)*] $($others:tt)*
        )
        [$($outer:tt)*] $name:ident [$($tag:literal)?] {
            $($(#[$inner:meta])* $field:ident $($json:literal)? : ($($kind:tt)*) [$($revisions:tt)*],)*
        }
    ) => {
        $($outer)*
        #[derive(Clone $(, $derive)*)]
        pub struct $name $($generics)* {
            $($(#[$inner])* pub $field: $crate::member_kind!([$type_of] $b $($kind)*),)*
        }

        impl $($generics)* serde::Serialize for $name $($generics)* {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let value = self;
                $crate::write_members!(value, serializer, $name [$($tag)?] {
                    $($field $($json)? : ($($kind)*) [$($revisions)*],)*
                })
            }
        }

        impl<'de> $crate::model::declare::Declared<'de> for $name $($at_de)* {
            const MEMBERS: &'static [&'static str] = &[$($crate::member_name!($field $($json)?)),*];

            fn read<A: serde::de::MapAccess<'de>>(mut members: A) -> Result<Self, A::Error> {
                $crate::read_members!(members { $($field $($json)? : ($($kind)*),)* })
            }
        }

        impl $($reading)* serde::Deserialize<'de> for $name $($generics)* {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                $crate::model::declare::read::<$name $($at_de)*, D>(deserializer)
            }
        }
    };
}

/// Makes the type of a set of names to which peers may add their own, kept in the arm `Other`.
#[doc(hidden)]
#[macro_export]
macro_rules! names_type {
    (
        (
            $form:ident $type_of:ident $name_of:ident $b:lifetime
            [$($generics:tt)*] [$($at_de:tt)*] [$($reading:tt)*] [$($others:ident)*] [$($derive:ident)*] [$other:ty, $text_type:ty]
        )
        [$($outer:tt)*] $name:ident { $($(#[$inner:meta])* $value:ident = $text:literal,)* }
    ) => {
        $($outer)*
        #[derive(Clone, Debug $(, $derive)*)]
        pub enum $name $($generics)* {
            $($(#[$inner])* $value,)*
            /// A name that no revision defines.
            Other($text_type),
        }

        impl $($generics)* $name $($generics)* {
            $name_of!(self $b { $(Self::$value => $text,)* });
        }

        impl $($generics)* From<$text_type> for $name $($generics)* {
            fn from(name: $text_type) -> Self {
                $(if name == $text {
                    return Self::$value;
                })*
                Self::Other(name)
            }
        }

        impl $($generics)* serde::Serialize for $name $($generics)* {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$value => serializer.serialize_str($text),)*
                    Self::Other(name) => name.serialize(serializer),
                }
            }
        }

        impl $($reading)* serde::Deserialize<'de> for $name $($generics)* {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$text_type as serde::Deserialize>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

/// The borrowed type of a kind.
macro_rules! borrowed_type {
    ([$borrowed:ty] $owned:tt $rule:tt) => {
        $borrowed
    };
}

/// The function that returns a borrowed name.
macro_rules! borrowed_name {
    ($value:ident $b:lifetime { $(Self::$arm:ident => $text:literal,)* }) => {
        /// Returns the name in JSON.
        pub fn name($value) -> $crate::json::Str<$b> {
            match $value {
                $(Self::$arm => $text.into(),)*
                Self::Other(name) => name,
            }
        }
    };
}

/// Declares the types that borrow from a message.
macro_rules! borrowed {
    ($($declarations:tt)*) => {
        $crate::payload_types! {
            (
                core borrowed_type borrowed_name 'b
                [<'b>] [<'de>] [<'de: 'b, 'b>] [Copy] [Copy PartialEq] [$crate::json::Raw<'b>, $crate::json::Str<'b>]
            )
            { $($declarations)* }
        }
    };
}

pub(super) use {borrowed, borrowed_name, borrowed_type};
