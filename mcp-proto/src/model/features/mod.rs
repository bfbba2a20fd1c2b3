//! Capabilities as sets of bits, for machines that cannot keep a borrow.

mod client;
mod question;
mod server;

use super::Settings;
use crate::json::{Map, Object, Raw};

pub(crate) use question::Unanswerable;

pub use client::ClientFeatures;
pub use server::ServerFeatures;

macro_rules! features {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $flag:ident = $bit:literal,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub struct $name(u16);

        impl $name {
            /// Nothing.
            pub const NONE: Self = Self(0);
            $($(#[$inner])* pub const $flag: Self = Self(1 << $bit);)*

            /// Whether all of these are there.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }

            /// Whether one of these is there.
            pub const fn intersects(self, other: Self) -> bool {
                self.0 & other.0 != 0
            }

            /// These and those.
            pub const fn with(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }

            /// These without those.
            pub const fn without(self, other: Self) -> Self {
                Self(self.0 & !other.0)
            }

            /// Whether there is none.
            pub const fn is_empty(self) -> bool {
                self.0 == 0
            }

            pub(super) const fn when(self, condition: bool) -> Self {
                if condition { self } else { Self::NONE }
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut set = f.debug_set();
                $(if self.contains(Self::$flag) {
                    set.entry(&format_args!(stringify!($flag)));
                })*
                set.finish()
            }
        }
    };
}

use features;

fn has_tasks_extension(extensions: Option<Settings<'_>>) -> bool {
    extensions.is_some_and(|extensions| {
        matches!(extensions.get(TASKS_EXTENSION), Some(Ok(settings)) if settings.object().is_some())
    })
}

/// A member of the capabilities, and the bit that it stands for.
struct Member {
    parent: u8,
    name: &'static str,
    bit: u16,
    /// It counts if it is true, not if it is an object.
    flag: bool,
}

/// The parent of the members of the capabilities themselves.
const ROOT: u8 = u8::MAX;

impl Member {
    const fn object(parent: u8, name: &'static str, bit: u16) -> Self {
        Self {
            parent,
            name,
            bit,
            flag: false,
        }
    }

    const fn flag(parent: u8, name: &'static str, bit: u16) -> Self {
        Self {
            parent,
            name,
            bit,
            flag: true,
        }
    }
}

/// The bits of the members that are there; none, if one of them is there twice.
fn read(capabilities: Option<Object<'_>>, members: &[Member]) -> u16 {
    let mut walk = Walk {
        members,
        seen: 0,
        bits: 0,
    };
    match capabilities {
        Some(capabilities) if walk.object(capabilities, ROOT) => walk.bits,
        _ => 0,
    }
}

struct Walk<'m> {
    members: &'m [Member],
    /// A bit for each row of the table.
    seen: u32,
    bits: u16,
}

impl Walk<'_> {
    /// One pass over an object, and over those in it that the table knows: as deep as the table
    /// goes, however deep the text. False, if something stands twice.
    fn object(&mut self, object: Object<'_>, parent: u8) -> bool {
        for (name, value) in object.members() {
            let row = (0u8..)
                .zip(self.members)
                .find(|(_, member)| member.parent == parent && name == *member.name);
            let Some((row, member)) = row else {
                continue;
            };
            let seen = 1u32.checked_shl(row.into()).unwrap_or_default();
            if self.seen & seen != 0 {
                return false;
            }
            self.seen |= seen;
            let child = value.object();
            if child.is_some() && !member.flag || member.flag && value.boolean() == Some(true) {
                self.bits |= member.bit;
            }
            if let Some(child) = child
                && !self.object(child, row)
            {
                return false;
            }
        }
        true
    }
}

fn extensions(tasks: bool) -> Option<Settings<'static>> {
    tasks.then(|| Map::from(TASKS_SETTINGS))
}

const TASKS_SETTINGS: &[(&str, Raw<'static>)] = &[(TASKS_EXTENSION, Raw::EMPTY_OBJECT)];

/// The name of the extension for tasks.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
