//! Lenient reading, and omission of absent members.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::{Exact, Raw, Str};

/// A flag that is off when it is `null`.
pub(super) fn flag<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A value that is there, even when it is `null` (JR-57).
pub(super) fn present<'de: 'b, 'b, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Raw<'b>>, D::Error> {
    Raw::deserialize(deserializer).map(Some)
}

/// A text that goes back to whom it came from as it is (PN-02).
pub(super) fn echo<S: Serializer>(
    text: &Option<Str<'_>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    text.map(Exact).serialize(serializer)
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
