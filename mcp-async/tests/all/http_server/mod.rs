//! The server as an HTTP service, without sockets and on a clock by hand: requests in, response
//! frames out.

mod abandoned;
mod attacks;
mod authenticate;
mod bounds;
mod broken;
mod busy;
mod crowds;
mod doors;
mod draft;
mod endings;
mod envelopes;
pub(crate) mod far;
mod faults;
mod fencing;
mod fields;
mod headers;
mod http_sse;
pub(crate) mod legacy;
mod modern;
pub(crate) mod nodes;
mod outages;
mod owners;
mod principals;
mod probe;
mod processes;
mod rates;
mod sessions;
mod shares;
mod stores;
mod streams;
mod threads;
mod users;
mod versions;
mod weeks;
pub(crate) mod wire;
mod written;
