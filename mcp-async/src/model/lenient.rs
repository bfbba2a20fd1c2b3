//! Lenient reading, and omission of absent members.

use mcp_proto::json::{Kind, Raw, RawBuf, Str};
use serde::de::{Error, Unexpected};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize};

use super::Meta;

/// A value whose `null` is as good as absent.
pub(super) fn or_default<'de, D: Deserializer<'de>, T: Deserialize<'de> + Default>(
    deserializer: D,
) -> Result<T, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A list whose `null` is as good as absent.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    or_default(deserializer)
}

/// A list of hints: unknown ones are left out.
pub(super) fn known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Vec<T>, D::Error> {
    let elements = Raw::deserialize(deserializer)?.array();
    let elements = elements.into_iter().flat_map(|array| array.elements());
    Ok(elements
        .filter_map(|element| element.decode(&mut []).ok())
        .collect())
}

/// A hint: an unknown one counts as absent, because the object that it describes is still valid.
pub(super) fn hint<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    Ok(raw.decode(&mut []).ok())
}

/// A value that is there, even when it is `null` (JR-57).
pub(super) fn present<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RawBuf>, D::Error> {
    RawBuf::deserialize(deserializer).map(Some)
}

/// JSON that has to be an object.
pub(super) fn object<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawBuf, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    match raw.kind() {
        Kind::Object => Ok(raw.into()),
        _ => Err(D::Error::invalid_type(
            Unexpected::Other("another value"),
            &"an object",
        )),
    }
}

/// JSON that has to be an object if it is there.
pub(super) fn optional_object<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<RawBuf>, D::Error> {
    let raw = Raw::deserialize(deserializer)?;
    match raw.kind() {
        Kind::Null => Ok(None),
        _ => object(&mut mcp_proto::json::Deserializer::new(raw, &mut []))
            .map(Some)
            .map_err(D::Error::custom),
    }
}

/// The member that tells the arms of a union apart.
pub(super) fn kind(raw: Raw<'_>) -> Option<Str<'_>> {
    raw.object()?.get("type")?.string()
}

/// For `skip_serializing_if`.
pub(super) const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Writes a member that is there.
pub(super) fn member<S: SerializeStruct, T: Serialize>(
    structure: &mut S,
    name: &'static str,
    value: &Option<T>,
) -> Result<(), S::Error> {
    match value {
        Some(value) => structure.serialize_field(name, value),
        None => structure.skip_field(name),
    }
}

/// Writes `_meta`, if there is anything in it.
pub(super) fn meta<S: SerializeStruct>(structure: &mut S, meta: &Meta) -> Result<(), S::Error> {
    if meta.is_empty() {
        structure.skip_field("_meta")
    } else {
        structure.serialize_field("_meta", meta)
    }
}
