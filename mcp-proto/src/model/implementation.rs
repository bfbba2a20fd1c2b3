//! The name and version of a peer, and its icons.

use super::{Icon, Implementation, Theme};
use crate::json::{List, Str, Writer};
use crate::revision::{Revision, fields};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_implementation {
    ($form:ident) => {
        $form! {
            /// The name and version of a client or server: `clientInfo` and `serverInfo`.
            ///
            /// It is for display only: neither behaviour nor security decisions may depend on it.
            #[derive(Debug, Default)]
            struct Implementation {
                /// The name for programs.
                name: Text,
                /// The version, of no particular form.
                version: Text,
                /// The title for people; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
                /// The purpose; since 2025-11-25.
                description: Option<Text> [SINCE_2025_11],
                /// The website; since 2025-11-25.
                website_url "websiteUrl": Option<Text> [SINCE_2025_11],
                /// The icons; since 2025-11-25.
                icons: Hints<Icon> [SINCE_2025_11],
            }

            /// A picture of a tool, resource, prompt or implementation; since 2025-11-25.
            ///
            /// Only `https:` and `data:` sources may be fetched, without credentials, and without
            /// following a redirect to another origin.
            #[derive(Debug, Default)]
            struct Icon {
                /// The `https:` or `data:` URI.
                src: Text,
                /// The media type, where the source states none or a wrong one.
                mime_type "mimeType": Option<Text>,
                /// The sizes that it is made for, each `WxH` or `any`.
                sizes: Hints<Text>,
                /// The background that it is made for.
                theme: Option<Theme>,
            }
            ;
            ;
            /// The background that an icon is made for.
            names Theme {
                /// A light one.
                Light = "light",
                /// A dark one.
                Dark = "dark",
            }
        }
    };
}

impl<'b> Implementation<'b> {
    /// Creates a name and a version without more.
    pub const fn new(name: &'b str, version: &'b str) -> Self {
        Self {
            name: Str::new(name),
            version: Str::new(version),
            title: None,
            description: None,
            website_url: None,
            icons: None,
        }
    }

    /// Returns the name to show to people: the title, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title.unwrap_or(self.name)
    }
}

/// Types that every server writes, firmware too: without serde, whose general code brings the
/// whole deserializer along. Icons that came from a peer are passed on as they are.
pub(crate) trait WriteDirect {
    /// Writes it as this revision has it.
    fn write(&self, revision: Revision, w: &mut Writer<'_>);

    /// Returns whether a member with this value is left out.
    fn is_absent(&self) -> bool {
        false
    }
}

/// Writes structs whose members need no rule of their own.
macro_rules! direct {
    (
        $($(#[$outer:meta])* struct $name:ident {
            $(
                $(#[$inner:meta])*
                $field:ident $($json:literal)? : $kind:ident $(<$of:ident>)? $([$revisions:ident])?,
            )*
        })*
        ; $($rest:tt)*
    ) => {$(
        impl WriteDirect for $name<'_> {
            fn write(&self, revision: Revision, w: &mut Writer<'_>) {
                let mut opening = b'{';
                $(if !self.$field.is_absent() $(&& fields::$revisions.contains(revision))? {
                    write_name(&mut opening, concat!("\"", crate::member_name!($field $($json)?), "\":"), w);
                    self.$field.write(revision, w);
                })*
                if opening == b'{' {
                    w.byte(opening);
                }
                w.byte(b'}');
            }
        }
    )*};
}

crate::declare_implementation!(direct);

#[inline(never)]
fn write_name(opening: &mut u8, name: &'static str, w: &mut Writer<'_>) {
    w.byte(core::mem::replace(opening, b','));
    w.literal(name);
}

impl WriteDirect for Str<'_> {
    fn write(&self, _: Revision, w: &mut Writer<'_>) {
        w.text(*self);
    }
}

impl WriteDirect for Theme<'_> {
    fn write(&self, _: Revision, w: &mut Writer<'_>) {
        w.text(self.name());
    }
}

impl<T: WriteDirect> WriteDirect for Option<T> {
    fn write(&self, revision: Revision, w: &mut Writer<'_>) {
        if let Some(value) = self {
            value.write(revision, w);
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: WriteDirect> WriteDirect for List<'_, T> {
    fn write(&self, revision: Revision, w: &mut Writer<'_>) {
        List::write(self, w, |item, w| item.write(revision, w));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    /// Expects the text that serde's derive makes of the value, in every revision.
    #[track_caller]
    fn check<T: serde::Serialize>(value: &T, write: fn(&T, Revision, &mut Writer<'_>)) {
        for revision in Revision::ALL {
            let (mut expected, mut written) = ([0; 1024], [0; 1024]);
            let mut w = Writer::new(&mut expected);
            w.value(value, Some(revision)).unwrap();
            let len = w.finish().unwrap();
            let mut w = Writer::new(&mut written);
            write(value, revision, &mut w);
            assert_eq!(w.finish(), Ok(len));
            // Bytes after the text may be left of a member that was taken back.
            assert_eq!(written[..len], expected[..len], "{revision}");
        }
    }

    fn raw(json: &str) -> Raw<'_> {
        Raw::parse(json.as_bytes(), 8).unwrap()
    }

    #[test]
    fn implementations() {
        let plain = Implementation::new("a\"b", "1");
        check(&plain, WriteDirect::write);
        let sizes = ["48x48".into(), "any".into()];
        let icon = Icon {
            src: "https://example.com/a.png".into(),
            ..Icon::default()
        };
        let icons = [
            icon,
            Icon {
                mime_type: Some("image/png".into()),
                sizes: Some((&sizes).into()),
                theme: Some(Theme::Dark),
                ..icon
            },
        ];
        let whole = Implementation {
            title: raw(r#""a\u0062\ud83d""#).string(),
            description: Some("what".into()),
            website_url: Some("https://example.com".into()),
            icons: Some((&icons).into()),
            ..plain
        };
        check(&whole, WriteDirect::write);
    }

    /// Firmware passes no lists on.
    #[cfg(feature = "alloc")]
    #[test]
    fn icons_that_are_passed_on() {
        let theirs = raw(r#"[{"src":"x","sizes":["1x1"]}, 7]"#);
        let passed = Implementation {
            icons: theirs.array().map(Into::into),
            ..Implementation::new("a", "1")
        };
        check(&passed, WriteDirect::write);
    }
}
