//! Enums of names.

/// A closed enum of names, without `Deserialize`.
macro_rules! closed_names {
    ($(#[$outer:meta])* pub enum $name:ident {
        $($(#[$inner:meta])* $variant:ident = $text:literal,)*
    }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $($(#[$inner])* $variant,)*
        }

        impl $name {
            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// Returns the variant of a name of the wire; `None` if the name is unknown.
            pub fn parse(name: $crate::json::Str<'_>) -> Option<Self> {
                $(if name == $text {
                    return Some(Self::$variant);
                })*
                None
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

/// A closed enum of names: any other name is an error.
macro_rules! closed_enum {
    ($(#[$outer:meta])* pub enum $name:ident {
        $($(#[$inner:meta])* $variant:ident = $text:literal,)*
    }) => {
        $crate::model::open::closed_names! {
            $(#[$outer])*
            pub enum $name {
                $($(#[$inner])* $variant = $text,)*
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <$crate::json::Str<'de> as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(name).ok_or_else(|| {
                    serde::de::Error::custom(concat!("no name of ", stringify!($name)))
                })
            }
        }
    };
}

pub(super) use {closed_enum, closed_names};
