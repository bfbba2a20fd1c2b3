//! Directories that a client shows to a server.

#[doc(hidden)]
#[macro_export]
macro_rules! declare_roots {
    ($form:ident) => {
        $form! {
            /// A directory or file where a server may work.
            #[derive(Debug, Default)]
            struct Root {
                /// The URI: `file://` and a path.
                uri: Text,
                /// The name for people.
                name: Option<Text>,
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// The result of `roots/list`.
            #[derive(Debug, Default)]
            struct ListRootsResult {
                /// The roots.
                roots: List<Root>,
                /// Further members; until 2025-11-25.
                meta "_meta": Meta [LEGACY],
            }
            ;
            ;
        }
    };
}
