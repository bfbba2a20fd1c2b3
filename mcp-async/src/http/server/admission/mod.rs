//! The check of who sends a request, by the hook of the endpoint or by an access token.

#[cfg(feature = "auth")]
pub(super) mod tokens;
pub(super) mod verify;
