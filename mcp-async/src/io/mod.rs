//! Carriers of bytes and messages besides sockets: standard streams, child processes, and the traits
//! of transports that carry whole messages.

mod lines;
mod messages;
pub(crate) mod process;
pub mod stdio;
mod tap;

pub use self::messages::{MessageReader, MessageSink, MessageSource, MessageWriter};
pub use self::tap::Tap;
