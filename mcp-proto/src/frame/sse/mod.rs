//! Event streams: one message an event (SSE-01), by the interpretation of the HTML standard
//! (section 9.2, server-sent events).
//!
//! [`Events`] reads them from bytes that arrive piece by piece; [`narrow`] and [`end`] put an
//! event around a message that is being written, [`comment`], [`priming`] and [`retry`] write
//! what surrounds events.

mod decoder;
mod field;
mod line;
mod writer;

pub use decoder::{Event, Events, Piece};
#[cfg(feature = "alloc")]
pub(crate) use writer::END;
pub use writer::{EventHead, comment, end, narrow, priming, retry};
