//! The client over HTTP against a server that says what a script tells it to, exchange by
//! exchange, on a clock that moves when nothing else does.

#![cfg(all(feature = "client", feature = "http"))]

mod batches;
mod draft;
mod hostile;
#[cfg(feature = "server")]
mod interplay;
mod legacy;
mod modern;
mod nonsense;
mod observed;
mod openings;
mod sessions;
pub(crate) mod site;
mod streams;
