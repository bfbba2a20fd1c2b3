//! Framing: finds the ends of lines and of server-sent events. The module does not parse JSON.
//!
//! [`mod@line`] is for pipes, [`sse`] for the event streams of HTTP. An [`Inbox`](crate::Inbox) and an
//! [`Outbox`](crate::Outbox) join lines, storage and messages; use [`mod@line`] only with buffers of
//! another kind.

pub mod line;
pub mod sse;
