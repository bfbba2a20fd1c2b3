//! The member `type` of a union.

use crate::json::{Raw, Str};

/// The member that tells the arms of a union apart.
pub(super) fn kind(raw: Raw<'_>) -> Option<Str<'_>> {
    raw.object()?.get("type")?.string()
}
