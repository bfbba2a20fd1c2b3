//! The server as an HTTP service, without sockets and on a clock by hand: requests in, response
//! frames out.
#![cfg(all(feature = "server", feature = "http"))]

mod attacks;
mod broken;
mod doors;
mod headers;
mod http_sse;
mod legacy;
mod modern;
#[path = "../sim/mod.rs"]
mod sim;
mod stores;
mod support;
mod threads;
mod written;
