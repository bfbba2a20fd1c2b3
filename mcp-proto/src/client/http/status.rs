//! The meaning of HTTP statuses other than success.

/// Returns true if a refusal with this status can depend on the era of the server: not if any
/// request would have been refused in this way.
pub(super) const fn tells_era(status: u16) -> bool {
    matches!(status, 400..500) && !matches!(status, 401 | 403 | 407 | 408 | 413 | 425 | 429 | 431)
}

/// Returns true if the status is a statement of the server, or of a proxy in front of it, about the
/// moment and not about the request.
pub(super) const fn is_overloaded(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502..=504)
}

/// Returns true if another attempt may find the server in a better state.
pub(super) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..600)
}
