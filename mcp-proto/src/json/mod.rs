//! Borrowed, validated JSON.
//!
//! A scanner checks grammar (RFC 8259), UTF-8 and depth of a text in one pass. The results are views
//! that are always valid: [`Raw`] is one value, [`Str`] is one string that remains escaped until it is
//! decoded, [`Object`] and [`Array`] iterate over their members without storing them. [`Writer`] writes
//! JSON into a slice of the caller.
//!
//! The module does not allocate, does not recurse with the input, and does not depend on JSON-RPC.

mod array;
mod bridge;
mod de;
mod decimal;
mod error;
mod escape;
mod fault;
mod float;
#[cfg(any(
    feature = "serde-json",
    feature = "simd-json",
    feature = "serde-json-core"
))]
mod foreign;
mod list;
mod map;
mod number;
mod object;
#[cfg(feature = "alloc")]
mod owned;
mod raw;
mod repair;
mod scan;
mod ser;
mod string;
mod text;
mod utf8;
mod walk;
mod words;
mod writer;

pub use array::{Array, Elements};
pub(crate) use bridge::Exact;
pub use de::Deserializer;
pub(crate) use decimal::Decimal;
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use escape::Chars;
pub use fault::{Fault, FaultKind};
#[cfg(feature = "simd-json")]
pub use foreign::decode_simd_json_in_place;
pub use list::{Iter, List};
pub use map::{Entries, Map};
pub use number::Number;
pub use object::{Duplicate, Members, Object};
#[cfg(feature = "alloc")]
pub use owned::RawBuf;
pub use raw::{Kind, Raw};
pub use repair::repair_surrogates;
pub(crate) use scan::Scanner;
pub use ser::{Compound, Serializer};
pub use text::Str;
pub use writer::Writer;

/// The deepest nesting that the scanner can be told to accept: its stack is one `u128`, a bit
/// for each open container.
pub const MAX_DEPTH: u8 = 128;
