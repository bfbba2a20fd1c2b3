//! Capabilities: as sets of bits, and as messages carry them.

mod client;
mod extensions;
mod server;
mod tree;

use crate::json::{Map, Raw, Writer};
use crate::revision::{Revision, RevisionSet};

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub(crate) use extensions::write_chosen;
pub(crate) use extensions::{ChosenExtensions, DeclaredExtensions, ExtensionRevisions};

pub use client::{ClientCapabilities, ClientFeatures};
pub use server::{ServerCapabilities, ServerFeatures};

/// The settings of a capability by name, or of an extension.
pub type Settings<'b> = Map<'b, Raw<'b>>;

/// The capabilities of a role, and how its messages declare them.
pub(crate) trait Declare: Copy {
    /// The extensions among them.
    fn extensions(&self) -> Option<&Settings<'_>>;

    /// Writes the capabilities, as far as the revision knows them, with the extensions that are
    /// declared in it.
    fn write(&self, revision: Revision, extensions: &impl DeclaredExtensions, w: &mut Writer<'_>);
}

/// Makes the types of a role of its declaration: a row for each capability, with its bit, the path
/// of the object that has it, its name there, and the revisions that have it. The rows without a
/// bit are objects around others.
macro_rules! capabilities {
    (
        $(#[$features_outer:meta])* $features:ident,
        $(#[$outer:meta])* $name:ident,
        {
            $($(#[$inner:meta])* $flag:ident = $bit:literal: $($parent:literal)? / $member:literal
                $($is_flag:ident)? $([$revisions:ident])?,)*
        }
        around { $($($group_parent:literal)? / $group:literal,)* }
    ) => {
        $(#[$features_outer])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $features(u16);

        impl $features {
            /// No capability.
            pub const NONE: Self = Self(0);
            $($(#[$inner])* pub const $flag: Self = Self(1 << $bit);)*

            const ROWS: &'static [Row] = &[
                $(Row {
                    parent: concat!($($parent)?),
                    name: $member,
                    path: concat!($($parent, ".",)? $member),
                    bit: 1 << $bit,
                    is_flag: !concat!($(stringify!($is_flag))?).is_empty(),
                    revisions: row_revisions!($($revisions)?),
                },)*
                $(Row {
                    parent: concat!($($group_parent)?),
                    name: $group,
                    path: concat!($($group_parent, ".",)? $group),
                    bit: 0,
                    is_flag: false,
                    revisions: row_revisions!(),
                },)*
            ];

            /// Returns whether all of these are there.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Returns whether one of these is there.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// Returns these and those.
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// Returns these without those.
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// Returns true for the empty set.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            /// These as bits.
            pub(crate) const fn to_bits(self) -> u16 {
                self.0
            }

            /// The features of [these bits](Self::to_bits).
            pub(crate) const fn of_bits(bits: u16) -> Self {
                Self(bits)
            }

            /// Returns these capabilities and those that contain them, without those declared as extensions.
            pub(crate) const fn with_parents(self) -> Self {
                let tree = Tree {
                    rows: Self::ROWS,
                    bits: self.without(Self::TASKS_EXTENSION).0,
                };
                Self(tree.with_parents())
            }

            /// Returns these capabilities and those that `extensions` declares.
            pub(crate) fn with_extensions(self, extensions: Option<Settings<'_>>) -> Self {
                let tasks = Self::TASKS_EXTENSION.when(has_tasks_extension(extensions));
                self.with(tasks).meant()
            }

            pub(crate) const fn when(self, condition: bool) -> Self {
                if condition { self } else { Self::NONE }
            }

            /// Returns what declares these to a peer. Whatever a capability is a part of is
            /// declared with it.
            pub const fn capabilities(self) -> $name<'static> {
                $name {
                    features: self,
                    experimental: None,
                    extensions: if self.contains(Self::TASKS_EXTENSION) {
                        Some(Map::new(TASKS_SETTINGS))
                    } else {
                        None
                    },
                }
            }
        }

        impl core::fmt::Debug for $features {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut set = f.debug_set();
                $(if self.contains(Self::$flag) {
                    set.entry(&format_args!(stringify!($flag)));
                })*
                set.finish()
            }
        }

        $(#[$outer])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name<'b> {
            /// The capabilities that the protocol defines. The extension for tasks is declared by
            /// its settings among the [`extensions`](field@Self::extensions).
            pub features: $features,
            /// Non-standard capabilities.
            pub experimental: Option<Settings<'b>>,
            /// Settings by the name of an extension; since 2026-07-28, and read in every revision
            /// (EX-02).
            pub extensions: Option<Settings<'b>>,
        }

        /// Without serde: every server links this, firmware too.
        impl Declare for $name<'_> {
            fn extensions(&self) -> Option<&Settings<'_>> {
                self.extensions.as_ref()
            }

            fn write(
                &self,
                revision: Revision,
                extensions: &impl DeclaredExtensions,
                w: &mut Writer<'_>,
            ) {
                let tree = Tree {
                    rows: $features::ROWS,
                    bits: self.features.declared_in(revision).without($features::TASKS_EXTENSION).0,
                };
                tree.write(self.experimental.as_ref(), self.extensions.as_ref(), revision, extensions, w);
            }
        }

        impl Serialize for $name<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                let tree = Tree {
                    rows: $features::ROWS,
                    bits: self.features.without($features::TASKS_EXTENSION).0,
                };
                let name = concat!("mcp:", stringify!($name));
                tree.serialize(name, self.experimental.as_ref(), self.extensions.as_ref(), serializer)
            }
        }

        impl<'de: 'b, 'b> Deserialize<'de> for $name<'b> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let members = Object::deserialize(deserializer)?;
                let settings = |name| members.get(name)?.object().map(Settings::from);
                Ok(Self {
                    features: $features::declared(Some(members)).without($features::TASKS_EXTENSION),
                    experimental: settings("experimental"),
                    extensions: settings("extensions"),
                })
            }
        }

        /// The capabilities that count for the protocol.
        impl From<&$name<'_>> for $features {
            fn from(capabilities: &$name<'_>) -> Self {
                let features = capabilities.features.with_parents();
                features.with_extensions(capabilities.extensions)
            }
        }
    };
}

macro_rules! row_revisions {
    () => {
        EVERY_REVISION
    };
    ($revisions:ident) => {
        crate::revision::fields::$revisions
    };
}

use {capabilities, row_revisions};

fn has_tasks_extension(extensions: Option<Settings<'_>>) -> bool {
    extensions.is_some_and(|extensions| {
        matches!(extensions.get(TASKS_EXTENSION), Some(Ok(settings)) if settings.object().is_some())
    })
}

const TASKS_SETTINGS: &[(&str, Raw<'static>)] = &[(TASKS_EXTENSION, Raw::EMPTY_OBJECT)];

/// Those of a capability that names none.
const EVERY_REVISION: RevisionSet = RevisionSet::all().with(Revision::DraftV1);

/// The name of the extension for tasks.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
