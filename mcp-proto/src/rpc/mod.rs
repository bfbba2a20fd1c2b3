//! JSON-RPC 2.0 as MCP uses it: single messages, parsed without copying.
//!
//! Parsing is total: [`Message::parse`] returns one of four kinds for every input, and an [`Invalid`]
//! states the fault and the request that it would have concerned. The module does not know the meaning
//! of methods, revisions or framing.
//!
//! Begin with [`Message::parse`] for one message, or with [`Messages`] for a text that may be a batch.
//! [`Message::encode`] writes a message. [`code`] names the codes of errors.

pub mod code;

pub(crate) mod envelope;
mod error_object;
mod id;
mod invalid;
mod member;
mod members;
mod message;
mod messages;
mod method;
pub(crate) mod methods;
mod overlong;
#[cfg(feature = "alloc")]
mod owned_messages;
mod requirements;
mod salvage;

// Messages.
pub use error_object::ErrorObject;
pub use message::{Incoming, Message, Notification, Request, Response};
pub use messages::Messages;
#[cfg(feature = "alloc")]
pub use owned_messages::OwnedMessages;

// Their parts.
pub use id::Id;
pub use method::Method;

// Faults.
pub use invalid::{Invalid, Reason, Shape};
pub use member::Member;

pub(crate) use messages::open_array;
pub(crate) use overlong::Overlong;
pub(crate) use requirements::Unanswerable;
pub(crate) use salvage::{ID_ECHO, Salvage, readable};

#[cfg(test)]
mod tests;
