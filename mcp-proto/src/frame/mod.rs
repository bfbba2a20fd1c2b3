//! Framing: finds the ends of lines and of server-sent events. The module does not parse JSON.

pub mod line;
pub mod sse;
