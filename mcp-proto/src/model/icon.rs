//! Icons.

#[doc(hidden)]
#[macro_export]
macro_rules! declare_icons {
    ($form:ident) => {
        $form! {
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
