//! The server as an HTTP service, without sockets and on a clock by hand: requests in, response
//! frames out.
#![cfg(all(feature = "server", feature = "http"))]

mod abandoned;
mod attacks;
mod authenticate;
mod bounds;
mod broken;
mod doors;
mod draft;
mod far;
mod fencing;
mod fields;
mod headers;
mod http_sse;
pub(crate) mod legacy;
mod modern;
mod nodes;
mod owners;
mod principals;
mod processes;
mod sessions;
mod stores;
mod streams;
pub(crate) mod support;
mod threads;
mod users;
mod written;
