//! Capabilities in one word, for machines that cannot keep a borrow.

mod client;
mod server;

use super::Settings;
use crate::json::{Map, Object, Raw};

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

            const fn when(self, condition: bool) -> Self {
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

fn objects<'b, const N: usize>(
    parent: Option<Object<'b>>,
    keys: [&str; N],
) -> [Option<Object<'b>>; N] {
    parent
        .and_then(|object| object.find(keys).ok())
        .map_or([None; N], |members| members.map(|member| member?.object()))
}

fn flag(parent: Option<Object<'_>>, key: &str) -> bool {
    parent
        .and_then(|object| object.find([key]).ok())
        .and_then(|[member]| member?.boolean())
        .unwrap_or_default()
}

fn extensions(tasks: bool) -> Option<Settings<'static>> {
    tasks.then(|| Map::from(TASKS_SETTINGS))
}

const TASKS_SETTINGS: &[(&str, Raw<'static>)] = &[(TASKS_EXTENSION, Raw::EMPTY_OBJECT)];

/// The name of the extension for tasks.
const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";
