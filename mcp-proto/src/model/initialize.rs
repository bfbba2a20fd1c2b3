//! The handshake of the legacy era, and `server/discover`, which replaces it.

#[doc(hidden)]
#[macro_export]
macro_rules! declare_opening {
    ($form:ident) => {
        $form! {
            /// The parameters of `initialize`; until 2025-11-25.
            #[derive(Debug, Default)]
            struct InitializeParams<'b> {
                /// The revision that the client offers, as text: the server may not know it.
                protocol_version "protocolVersion": Text,
                /// The capabilities of the client.
                capabilities: ClientCapabilities,
                /// The name and version of the client.
                client_info "clientInfo": Implementation,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The result of `initialize`; until 2025-11-25.
            #[derive(Debug, Default)]
            struct InitializeResult<'b> {
                /// The revision of the session, as text: the client may not know it.
                protocol_version "protocolVersion": Text,
                /// The capabilities of the server.
                capabilities: ServerCapabilities,
                /// The name and version of the server.
                server_info "serverInfo": Implementation,
                /// Advice for a model on how to use the server.
                instructions: Option<Text>,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The result of `server/discover`; since 2026-07-28.
            #[derive(Debug, Default)]
            struct DiscoverResult<'b> {
                /// The revisions that the server speaks, of either era.
                supported_versions "supportedVersions": List<Text>,
                /// The capabilities of the server.
                capabilities: ServerCapabilities,
                /// Advice for a model on how to use the server.
                instructions: Option<Text>,
                /// The time for which the result stays fresh, in milliseconds.
                ttl_ms "ttlMs": Hint<i64>,
                /// The clients that may share it.
                cache_scope "cacheScope": Hint<CacheScope>,
                /// Further members, among them the name and version of the server.
                meta "_meta": Meta,
            }
            ;
            ;
        }
    };
}
