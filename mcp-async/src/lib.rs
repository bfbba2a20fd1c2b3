//! The runtime-neutral async half of an MCP client and server.
//!
//! One future for each connection reads, writes, keeps time and runs the handlers, around the
//! machines of [`mcp_proto`]. It has never heard of tokio or smol: a runtime brings two byte
//! streams ([`futures_io`]'s traits) and a [`Clock`].
#![forbid(unsafe_code)]

mod alarm;
mod clock;
mod driver;
mod duplex;
mod error;
mod job;
mod messages;
mod places;
mod seat;
mod shared;
mod split;

pub use clock::{Clock, ManualClock, ManualTimer, Timer};
pub use duplex::{Duplex, PipeReader, PipeWriter, duplex, pipe};
pub use error::ErrorReply;
pub use job::{Answered, Job};
pub use messages::{MessageReader, MessageSink, MessageSource, MessageWriter};
pub use split::{ReadHalf, WriteHalf, split};

pub mod client;
pub mod monotonic;
pub mod process;
pub mod server;
pub mod stdio;
