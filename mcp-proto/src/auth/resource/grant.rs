//! A request that a token admits.

use alloc::string::String;

use super::claims::TokenClaims;
use super::token_scheme::TokenScheme;

/// A request that a token admits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Grant {
    /// What the token states.
    pub claims: TokenClaims,
    /// The scheme that the token was sent with, which later challenges use.
    pub scheme: TokenScheme,
    /// The value of `DPoP-Nonce` in the response, if the client must change its nonce.
    pub nonce: Option<String>,
}
