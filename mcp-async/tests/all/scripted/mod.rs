//! Peers by script: a test plays one side of a connection, and reads what the other side sends.
//!
//! | The test plays | On a pipe | Over HTTP |
//! |---|---|---|
//! | A client | [`LineClient`] | [`http_client`] |
//! | A server | [`line_server`] | [`http_server`] |
//! | Either | [`LinePeer`] | |

mod http_client;
pub(crate) mod http_server;
mod line_client;
mod line_peer;
pub(crate) mod line_server;

pub(crate) use http_client::{
    META, Reply, Session, Waiting, call, delete, get, initialize, last_id, modern, post, request,
    send, send_body, signed, wait,
};
pub(crate) use line_client::{ANSWERS, LineClient, member, text};
pub(crate) use line_peer::LinePeer;
