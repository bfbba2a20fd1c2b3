//! JSON-RPC 2.0 as MCP uses it: one message at a time, read without copying.
//!
//! Reading is total: whatever the bytes are, [`Message::parse`] answers with one of four kinds,
//! and an [`Invalid`] one says why, and whom it would have concerned. Nothing here knows what a
//! method means, which revision is spoken or how messages are framed.

pub mod code;

pub(crate) mod envelope;
mod id;
mod invalid;
mod members;
mod message;
mod messages;
mod method;
mod salvage;

pub use id::Id;
pub use invalid::{Invalid, Reason, Shape};
pub use members::Member;
pub use message::{ErrorObject, Incoming, Message, Notification, Request, Response};
pub use messages::Messages;
pub use method::Method;
pub use salvage::ID_ECHO;

#[cfg(feature = "alloc")]
pub(crate) use messages::{Place, message_at};
pub(crate) use salvage::{Salvage, readable};

#[cfg(test)]
mod tests;
