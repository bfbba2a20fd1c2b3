//! The member `_meta`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Exact, Map, Raw};
use crate::rpc::Id;

/// Whatever else a message carries, by keys that may have a prefix.
pub type Meta<'b> = Map<'b, Raw<'b>>;

/// Keys of `_meta` that the protocol has reserved.
pub mod keys {
    /// On a request: the token for its progress.
    pub const PROGRESS_TOKEN: &str = "progressToken";
    /// On a request, since 2026-07-28: the revision that it speaks.
    pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    /// On a request, since 2026-07-28: what the client can do.
    pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    /// On a request, since 2026-07-28: who the client is.
    pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
    /// On a request, since 2026-07-28: the least severe log message to send for it.
    pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
    /// On a result, since 2026-07-28: who the server is.
    pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
    /// On what comes of a listen, since 2026-07-28: the id of the listen.
    pub const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
    /// On a message of a task, in 2025-11-25: the task.
    pub const RELATED_TASK: &str = "io.modelcontextprotocol/related-task";
    /// Trace context (W3C), since 2026-07-28.
    pub const TRACE_PARENT: &str = "traceparent";
    /// Trace state (W3C), since 2026-07-28.
    pub const TRACE_STATE: &str = "tracestate";
    /// Baggage (W3C), since 2026-07-28.
    pub const BAGGAGE: &str = "baggage";
}

#[doc(hidden)]
#[macro_export]
macro_rules! declare_meta {
    ($form:ident) => {
        $form! {
            /// The reserved members of a request's `_meta`.
            ///
            /// In 2026-07-28 version and capabilities are required; the reader of a request checks
            /// that. Other members are not kept.
            #[derive(Debug, Default)]
            struct RequestMeta<'b> {
                /// The token for progress.
                progress_token "progressToken": Option<Id>,
                /// The revision of the request.
                protocol_version "io.modelcontextprotocol/protocolVersion": Option<Text> [SINCE_2026_07],
                /// The capabilities of the client.
                client_capabilities "io.modelcontextprotocol/clientCapabilities": Option<ClientCapabilities> [SINCE_2026_07],
                /// The name and version of the client.
                client_info "io.modelcontextprotocol/clientInfo": Option<Implementation> [SINCE_2026_07],
                /// The least severe log message to send for this request.
                log_level "io.modelcontextprotocol/logLevel": Option<LoggingLevel> [SINCE_2026_07],
            }

            /// The reserved members of a result's `_meta`; since 2026-07-28.
            #[derive(Debug, Default)]
            struct ResultMeta<'b> {
                /// The name and version of the server.
                server_info "io.modelcontextprotocol/serverInfo": Option<Implementation>,
                /// The id of the listen that the message belongs to.
                subscription_id "io.modelcontextprotocol/subscriptionId": Option<Id>,
            }
            ;
            ;
        }
    };
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => Exact(*text).serialize(serializer),
        }
    }
}

impl<'de: 'b, 'b> Deserialize<'de> for Id<'b> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_raw(Raw::deserialize(deserializer)?)
            .ok_or_else(|| D::Error::custom("neither text nor a whole number"))
    }
}
