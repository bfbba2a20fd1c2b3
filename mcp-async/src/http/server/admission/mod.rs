//! The check of who sends a request, by the hook of the endpoint or by an access token; logins that give such a token.

#[cfg(all(feature = "auth", feature = "http-client"))]
mod logins;
#[cfg(feature = "auth")]
pub(super) mod tokens;
pub(super) mod verify;
