//! The client's side of every conversation, as scripts.

mod batches;
mod calls;
mod connect;
mod extensions;
mod modern;
mod openings;
mod pings;
mod questions;
mod transport;
mod unspecified;
