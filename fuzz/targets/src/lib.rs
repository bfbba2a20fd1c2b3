//! The body of each fuzz target: a function over arbitrary bytes that panics when an invariant does not hold.
//!
//! The fuzzers in the folder above call them with millions of inputs; `cargo test` calls them with
//! the committed corpus.
#![forbid(unsafe_code)]

mod auth_challenges;
mod auth_documents;
mod auth_flow;
mod auth_logins;
mod auth_tokens;
mod client_operations;
mod event_stream;
mod fixed_storage;
mod http_conversations;
mod joined_peers;
mod json_scan;
mod line_framing;
mod mirrored_headers;
mod model_decoding;
mod operations;
mod reply_heads;
mod request_heads;
mod rpc_message;
mod server_operations;
mod stream_resumption;

pub use auth_challenges::auth_challenges;
pub use auth_documents::auth_documents;
pub use auth_flow::auth_flow;
pub use auth_logins::auth_logins;
pub use auth_tokens::auth_tokens;
pub use client_operations::client_operations;
pub use event_stream::event_stream;
pub use fixed_storage::fixed_storage;
pub use http_conversations::http_conversations;
pub use joined_peers::joined_peers;
pub use json_scan::json_scan;
pub use line_framing::line_framing;
pub use mirrored_headers::mirrored_headers;
pub use model_decoding::model_decoding;
pub use reply_heads::reply_heads;
pub use request_heads::request_heads;
pub use rpc_message::rpc_message;
pub use server_operations::server_operations;
pub use stream_resumption::stream_resumption;

/// Panics when its input breaks an invariant.
pub type Target = fn(&[u8]);

/// Every target by the name of its corpus.
pub const TARGETS: [(&str, Target); 19] = [
    ("auth_challenges", auth_challenges),
    ("auth_documents", auth_documents),
    ("auth_flow", auth_flow),
    ("auth_logins", auth_logins),
    ("auth_tokens", auth_tokens),
    ("client_operations", client_operations),
    ("event_stream", event_stream),
    ("fixed_storage", fixed_storage),
    ("http_conversations", http_conversations),
    ("joined_peers", joined_peers),
    ("json_scan", json_scan),
    ("line_framing", line_framing),
    ("mirrored_headers", mirrored_headers),
    ("model_decoding", model_decoding),
    ("reply_heads", reply_heads),
    ("request_heads", request_heads),
    ("rpc_message", rpc_message),
    ("server_operations", server_operations),
    ("stream_resumption", stream_resumption),
];
