//! The server over HTTP without sockets: POSTs in, statuses and messages by channel out.

mod arrays;
mod bodies;
mod channels;
mod draft;
mod examples;
mod extensions;
mod headers;
mod random;
mod requests;
mod routes;
pub(crate) mod site;
mod snapshots;
#[cfg(feature = "alloc")]
mod twin;
