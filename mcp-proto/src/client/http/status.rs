//! The meaning of HTTP statuses other than success.

/// Whether a refusal can say something of the era of a server: not if it would have been the
/// same for any request.
pub(super) const fn tells_era(status: u16) -> bool {
    matches!(status, 400..500) && !matches!(status, 401 | 403 | 407 | 408 | 413 | 425 | 429 | 431)
}

/// Whether the server, or who stands in front of it, says so of the moment and not of the
/// request.
pub(super) const fn is_overloaded(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 502..=504)
}

/// Whether another attempt may find the server in a better state.
pub(super) const fn is_transient(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..600)
}
