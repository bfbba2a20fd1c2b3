//! Names of requests and notifications.

use core::fmt;

use super::methods::{MethodFacts, OTHER, ROWS, for_each_method};
use crate::json::{Str, equal};

macro_rules! define {
    ($($(#[$doc:meta])* $variant:ident = $name:literal => $facts:expr,)*) => {
        /// The name of a request or notification: an open enum, because peers may know more.
        ///
        /// Names are compared exactly and unescaped, so `"tools\/call"` is [`Method::ToolsCall`].
        /// A known name never hides in [`Method::Other`], as long as the value was made by `From`.
        #[derive(Clone, Copy, PartialEq)]
        #[non_exhaustive]
        pub enum Method<'b> {
            $($(#[$doc])* $variant,)*
            /// A name that no revision of MCP defines.
            Other(Str<'b>),
        }

        impl<'b> Method<'b> {
            /// The name as it stands on the wire.
            pub fn name(self) -> Str<'b> {
                match self {
                    Self::Other(name) => name,
                    known => Str::from_plain(known.known_name().unwrap_or_default()),
                }
            }

            /// The name of a known method; `None` for [`Method::Other`].
            pub const fn known_name(self) -> Option<&'static str> {
                match self {
                    $(Self::$variant => Some($name),)*
                    Self::Other(_) => None,
                }
            }

            /// The known methods.
            pub fn all() -> impl Iterator<Item = Method<'static>> {
                NAMES.iter().map(|(known, _)| Method::from(*known))
            }

            /// Returns whether some revision lets a client send it as a request.
            ///
            /// ```
            /// use mcp_proto::rpc::Method;
            ///
            /// assert!(Method::ToolsCall.is_client_request());
            /// assert!(!Method::from("notifications/cancelled").is_client_request());
            /// assert!(!Method::from("roots/list").is_client_request());
            /// ```
            pub const fn is_client_request(self) -> bool {
                let facts = self.facts();
                !facts.is_notification() && !facts.client.is_empty() && self.known_name().is_some()
            }

            /// The row of this method.
            // Not inlined: each copy would compare the variants again.
            #[inline(never)]
            pub(crate) const fn facts(self) -> &'static MethodFacts {
                match self {
                    $(Self::$variant => &ROWS[Known::$variant as usize],)*
                    Self::Other(_) => &OTHER,
                }
            }

            #[cfg(test)]
            const KNOWN: &'static [(Method<'static>, &'static str)] =
                &[$((Method::$variant, $name),)*];
        }

        /// A known method in one byte, for the table.
        #[derive(Clone, Copy)]
        enum Known {
            $($variant,)*
        }

        impl From<Known> for Method<'_> {
            fn from(known: Known) -> Self {
                match known {
                    $(Known::$variant => Self::$variant,)*
                }
            }
        }

        const NAMES: &[(Known, &str)] = &[$((Known::$variant, $name),)*];
    };
}

for_each_method!(define);

/// The method of a plain name, or else the `other`.
#[inline(always)]
fn known<'b>(name: &[u8], other: Str<'b>) -> Method<'b> {
    // The busiest of all needs no table.
    if equal(name, b"tools/call") {
        return Method::ToolsCall;
    }
    among(of_length(name.len()), other, |known| equal(known, name))
}

/// The method of a name with escapes: PHP writes `tools\/call`.
#[cold]
fn escaped(name: Str<'_>) -> Method<'_> {
    among(of_length(name.decoded_len()), name, |known| name.is(known))
}

/// The known names of this length, five at most. A table, because a `match` takes three times the flash.
#[inline]
fn of_length(len: usize) -> &'static [(Known, &'static str)] {
    let bounds = STARTS.get(len).zip(STARTS.get(len + 1));
    let (start, end) = bounds.map_or((0, 0), |(start, end)| (*start, *end));
    BY_LENGTH.get(start.into()..end.into()).unwrap_or_default()
}

#[inline]
fn among<'b>(names: &[(Known, &str)], other: Str<'b>, is: impl Fn(&[u8]) -> bool) -> Method<'b> {
    let found = names.iter().find(|(_, known)| is(known.as_bytes()));
    found.map_or(Method::Other(other), |(known, _)| Method::from(*known))
}

/// The known names, shorter ones first.
static BY_LENGTH: [(Known, &str); NAMES.len()] = by_length();

/// The index in [`BY_LENGTH`] of the first name of each length; the names of one length end where
/// those of the next begin.
static STARTS: [u8; LONGEST + 2] = starts();

const fn by_length() -> [(Known, &'static str); NAMES.len()] {
    let mut sorted = [NAMES[0]; NAMES.len()];
    let mut filled = 0;
    let mut len = 0;
    while len <= LONGEST {
        let mut at = 0;
        while at < NAMES.len() {
            if NAMES[at].1.len() == len {
                sorted[filled] = NAMES[at];
                filled += 1;
            }
            at += 1;
        }
        len += 1;
    }
    assert!(filled == NAMES.len(), "a name is longer than the longest");
    sorted
}

const fn starts() -> [u8; LONGEST + 2] {
    let mut starts = [0; LONGEST + 2];
    let mut at = 0;
    while at < NAMES.len() {
        let mut longer = NAMES[at].1.len() + 1;
        while longer < starts.len() {
            starts[longer] += 1;
            longer += 1;
        }
        at += 1;
    }
    starts
}

/// The longest known name.
const LONGEST: usize = 40;

impl<'b> From<Str<'b>> for Method<'b> {
    #[inline]
    fn from(name: Str<'b>) -> Self {
        match name.plain_bytes() {
            Some(plain) => known(plain, name),
            None => escaped(name),
        }
    }
}

impl<'b> From<&'b str> for Method<'b> {
    fn from(name: &'b str) -> Self {
        known(name.as_bytes(), Str::from(name))
    }
}

impl fmt::Debug for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.name(), f)
    }
}

impl fmt::Display for Method<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.name(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    fn escaped(text: &str) -> Str<'_> {
        Raw::parse(text.as_bytes(), 1).unwrap().string().unwrap()
    }

    #[test]
    fn every_known_name_is_found_and_written_back() {
        for (method, name) in Method::KNOWN {
            assert_eq!(Method::from(*name), *method);
            assert_eq!(method.name(), **name);
            assert_eq!(method.known_name(), Some(*name));
            assert!(name.len() <= LONGEST, "{name}");
        }
        assert!(Method::all().eq(Method::KNOWN.iter().map(|(method, _)| *method)));
    }

    #[test]
    fn unknown_names_stay_as_they_are() {
        for name in [
            "",
            "pong",
            "Tools/call",
            "tools/calls",
            "tools/cal",
            "notifications/x",
        ] {
            assert_eq!(Method::from(name), Method::Other(Str::from(name)));
            assert_eq!(Method::from(name).known_name(), None);
        }
    }

    #[test]
    fn escapes_are_transparent() {
        assert_eq!(Method::from(escaped(r#""tools\/call""#)), Method::ToolsCall);
        assert_eq!(Method::from(escaped(r#""\u0070ing""#)), Method::Ping);
        let cut = Method::from(escaped(r#""ping\ud83d""#));
        assert_eq!(cut.known_name(), None);
        assert_ne!(cut, Method::from(escaped(r#""ping\ud83e""#)));
    }
}
