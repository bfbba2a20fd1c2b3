//! A request that a token admits.

use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::claims::TokenClaims;
use crate::Scheme;
use crate::UnixTime;

/// A request that a token admits.
///
/// One process can verify a token for another: an admission that was serialized and deserialized is equal,
/// but for the nonce, which belongs to the response of the process that verified it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Admission {
    /// The claims of the token.
    pub claims: TokenClaims,
    /// The scheme that the token was sent with, which later challenges use.
    pub scheme: Scheme,
    /// The end of the time for which the answer about an opaque token is kept. Streams of a token that states no
    /// expiry end then (AU-17).
    #[serde(default)]
    pub answer_until: Option<UnixTime>,
    /// The value of `DPoP-Nonce` in the response, if the client must change its nonce.
    #[serde(skip)]
    pub nonce: Option<String>,
}
