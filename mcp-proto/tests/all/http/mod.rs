//! HTTP without sockets: heads of requests, and the server that takes whole requests.

mod head;
#[cfg(feature = "alloc")]
mod served;
mod usual;

pub(crate) use head::Sent;
#[cfg(feature = "alloc")]
pub(crate) use served::{Application, Response, Served};
