//! The server as an HTTP service, without sockets and on a clock by hand: requests in, response
//! frames out.
#![cfg(all(feature = "server", feature = "http"))]

mod broken;
mod doors;
mod headers;
mod http_sse;
mod legacy;
mod modern;
mod stores;
mod support;
mod threads;
mod written;
