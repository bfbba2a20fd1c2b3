//! The Model Context Protocol as a pure state machine.
//!
//! Bytes and the current time go in; events for the application, bytes for the peer and a
//! deadline come out. There is no IO here, no clock, no random number and no allocator that the
//! crate could not live without, so the same machine runs in tokio, in smol, in a `poll(2)`
//! loop, on a microcontroller and inside a fuzzer.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod action;
mod batch;
mod inbox;
mod label;
mod limits;
pub mod link;
mod machine;
mod outbox;
mod payload;
mod ping;
mod slots;
mod source;
mod splice;
mod store;
mod time;
mod token;

pub use action::{Action, BufferFull, Channel, SendError, Transmit, Why};
pub use inbox::Inbox;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub use inbox::Large;
pub use label::{Inline, Label};
pub use limits::{Limits, OutputTooSmall};
pub use link::{Link, Rest, Step, Verdict};
pub use machine::Machine;
pub use outbox::{Outbox, Shortage, Written};
pub use payload::{InputRequired, Outcome, Payload, Question};
pub use ping::PingPolicy;
pub use revision::{Era, Revision, RevisionSet};
pub use slots::Slot;
pub use source::Source;
#[cfg(feature = "heapless")]
pub use store::Heapless;
pub use store::Store;
pub use time::Instant;
pub use token::{SentToken, Token};

pub mod client;
pub mod frame;
pub mod http;
pub mod json;
pub mod model;
pub mod revision;
pub mod rpc;
pub mod server;
