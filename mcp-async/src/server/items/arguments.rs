//! Decodes the arguments of a client into the type of a handler.

use core::any::TypeId;

use mcp_proto::json::{DecodeError, Kind, Raw};
use serde::de::DeserializeOwned;

/// Decodes the arguments of a client into a type of the application. If `simd-json` refuses them, the core decodes them again,
/// because its error names the place of the mistake.
pub(super) fn decode_typed<T: DeserializeOwned + 'static>(raw: Raw<'_>) -> Result<T, DecodeError> {
    if let Some(value) = empty()
        && raw.kind() == Kind::Object
    {
        return Ok(value);
    }
    #[cfg(feature = "simd-json")]
    if let Ok(value) = raw.decode_simd_json(&mut Vec::new()) {
        return Ok(value);
    }
    raw.decode(&mut [])
}

/// The value of `()`, which stands for an object without members that matter; `None` for every other type.
pub(super) fn empty<T: DeserializeOwned + 'static>() -> Option<T> {
    let is_unit = TypeId::of::<T>() == TypeId::of::<()>();
    is_unit.then(|| Raw::NULL.decode(&mut []).ok()).flatten()
}
