//! Peers by script: a test plays one side of a connection, and reads what the other side sends.
//!
//! | The test plays | On a pipe | Over HTTP |
//! |---|---|---|
//! | A client | [`LineClient`] | [`http_client`] |
//! | A server | [`line_server`] | [`http_server`] |
//! | Either | [`LinePeer`] | |
//!
//! Messages are written in short where they are frequent: `1 tools/call {"name":"echo"}`, `- notifications/initialized`,
//! `1 = {}`, `1 ! -32602 no such tool` (see [`short`]).

mod http_client;
pub(crate) mod http_server;
mod line_client;
mod line_peer;
pub(crate) mod line_server;
mod messages;
#[path = "../../../../mcp-proto/tests/all/script/short.rs"]
pub(crate) mod short;

pub(crate) use http_client::{
    HttpClient, Reply, RequestExt, Serve, SseClient, Waiting, delete, get, last_id, modern, post,
    send, send_body, wait,
};
pub(crate) use line_client::{ANSWERS, LineClient, member, text};
pub(crate) use line_peer::LinePeer;
pub(crate) use messages::{
    INITIALIZED, acknowledged, array, call, cancelled, declaring, initialize, initialize_with,
    message, modern_message, plain_call, request_id, said, tools_changed,
};
