//! Borrowed, validated JSON.
//!
//! A scanner checks grammar (RFC 8259), UTF-8 and depth of a text in one pass. The results are views
//! that are always valid: [`Raw`] is one value, [`Str`] is one string that remains escaped until it is
//! decoded, [`Object`] and [`Array`] iterate over their members without storing them. [`Writer`] writes
//! JSON into a slice of the caller.
//!
//! The module does not allocate, does not recurse with the input, and does not depend on JSON-RPC.
//!
//! | Task | Use |
//! |---|---|
//! | Check a text | [`Raw::parse`] |
//! | Read members and elements | [`Raw::object`] and [`Object::find`], [`Raw::array`], [`Raw::string`] |
//! | Decode a value into a type | [`Raw::decode`] |
//! | Encode a type | [`Writer::value`]; `RawBuf::encode` (feature `alloc`) |
//! | Keep a value longer than its buffer | `RawBuf` (feature `alloc`) |
//! | Hold lists and maps in a type without an allocator | [`List`], [`Map`] |

mod array;
mod de;
mod decimal;
mod error;
mod escape;
mod fault;
mod field_notes;
mod float;
#[cfg(any(
    feature = "serde-json",
    feature = "simd-json",
    feature = "serde-json-core"
))]
mod interop;
mod kind;
#[cfg(feature = "alloc")]
mod known_meta;
mod list;
mod map;
mod member_watch;
mod members;
mod number;
mod object;
#[cfg(feature = "alloc")]
mod owned;
mod places;
mod raw;
mod repair;
mod scan;
mod ser;
mod serde_impls;
mod string;
mod text;
mod utf8;
mod walk;
mod words;
mod writer;

// Values.
pub use fault::{Fault, FaultKind};
pub use kind::Kind;
#[cfg(feature = "alloc")]
pub use known_meta::KnownMeta;
#[cfg(feature = "alloc")]
pub use owned::RawBuf;
pub use raw::Raw;

// The parts of a value.
pub use array::Array;
pub use members::Duplicate;
pub use number::Number;
pub use object::Object;
pub use text::Str;

// Types of the application.
pub use de::Deserializer;
pub use error::{DecodeError, DecodeErrorKind, EncodeError};
pub use list::List;
pub use map::Map;
pub use writer::Writer;

// Other decoders.
#[cfg(feature = "simd-json")]
pub use interop::decode_simd_json_in_place;
pub use repair::repair_surrogates;

pub(crate) use decimal::Decimal;
pub(crate) use field_notes::Fields;
pub(crate) use member_watch::MemberWatch;
pub(crate) use members::{Members, collect};
pub(crate) use number::digits;
pub(crate) use places::{MemberPlaces, NotePlaces, Notes};
#[cfg(feature = "alloc")]
pub(crate) use raw::Span;
pub(crate) use raw::offset;
pub(crate) use scan::Scanner;
pub(crate) use serde_impls::{Exact, MEMBER_TOKEN, UNION_TOKEN};
pub(crate) use words::{equal, next_quote};
#[cfg(feature = "alloc")]
pub(crate) use writer::append;

/// The deepest nesting that the scanner can be told to accept: its stack is one `u128`, a bit
/// for each open container.
pub const MAX_DEPTH: u8 = 128;
