//! `()` as the type of an object whose members do not matter.

use mcp_proto::json::{DecodeError, Kind, Raw};
use serde::de::DeserializeOwned;

/// Decodes a value of the peer. An object is `()` to who asks for it.
pub(crate) fn decode<T: DeserializeOwned>(raw: Raw<'_>) -> Result<T, DecodeError> {
    match empty() {
        Some(value) if raw.kind() == Kind::Object => Ok(value),
        _ => raw.decode(&mut []),
    }
}

/// The value of `()`, or of another type that has one value and no members; `None` for every other type.
pub(crate) fn empty<T: DeserializeOwned>() -> Option<T> {
    let has_size = size_of::<T>() > 0;
    (!has_size)
        .then(|| Raw::NULL.decode(&mut []).ok())
        .flatten()
}
