//! HTTP without sockets: heads of requests, the server that takes whole requests, and the client
//! whose exchanges the tests carry.

#[cfg(feature = "alloc")]
mod client;
mod head;
#[cfg(feature = "alloc")]
mod served;
mod usual;

#[cfg(feature = "alloc")]
pub(crate) use client::{ClientApplication, HttpClient, State};
pub(crate) use head::Sent;
#[cfg(feature = "alloc")]
pub(crate) use served::{Application, Response, Served};
