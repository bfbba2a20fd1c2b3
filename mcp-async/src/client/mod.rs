//! A client on a pipe: the connection's future, calls, and what hears the server.

mod call;
mod connection;
mod handler;
mod info;
mod peer;
mod round;
mod side;

use mcp_proto::client::{Client as Core, Growing};

pub use self::call::{Call, CallError};
pub use self::connection::{Connection, connect};
pub use self::handler::{Handler, Progress, Question, Reply};
pub use self::info::{ConnectError, ServerInfo};
pub use self::peer::Peer;

type Machine = Core<'static, Growing>;
