//! The state machine of a connection.

use mcp_proto::server::{Growing, Server};

pub(crate) type Machine = Server<'static, Growing>;
