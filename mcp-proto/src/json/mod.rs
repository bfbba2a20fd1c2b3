//! Borrowed, validated JSON.
//!
//! A text is read once, by a scanner that checks grammar (RFC 8259), UTF-8 and depth together;
//! everything handed out afterwards is a view that cannot be wrong: [`Raw`] is one value,
//! [`Str`] a string that stays escaped until somebody decodes it, [`Object`] and [`Array`] walk
//! their members without a list of them. [`Writer`] goes the other way, into a caller's slice.
//!
//! Nothing here allocates, recurses with the input or has heard of JSON-RPC.

mod array;
mod escape;
mod fault;
mod number;
mod object;
mod raw;
mod scan;
mod text;
mod walk;
mod words;
mod writer;

pub use array::{Array, Elements};
pub use escape::Chars;
pub use fault::{DecodeError, Fault, FaultKind};
pub use number::Number;
pub use object::{Duplicate, Members, Object};
pub use raw::{Kind, Raw};
pub(crate) use scan::Scanner;
pub use text::Str;
pub use writer::Writer;

/// The deepest nesting that the scanner can be told to accept: its stack is one `u128`, a bit
/// for each open container.
pub const MAX_DEPTH: u8 = 128;
