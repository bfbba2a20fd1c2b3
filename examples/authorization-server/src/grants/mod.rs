//! What each value of `grant_type` does.

mod assertion;
mod client_credentials;
mod code;
mod exchange;
mod refresh;

pub(crate) use assertion::assertion;
pub(crate) use client_credentials::client_credentials;
pub(crate) use code::code;
pub(crate) use exchange::exchange;
pub(crate) use refresh::refresh;

/// The `typ` of an identity assertion (ID-JAG).
const ID_JAG: &str = "oauth-id-jag+jwt";
