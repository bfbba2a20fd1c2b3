//! The schemes of tokens.

use serde::{Deserialize, Serialize};

/// The scheme of a token in `Authorization`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TokenScheme {
    /// `Bearer` (RFC 6750).
    Bearer,
    /// `DPoP` (RFC 9449): the request has a proof that the client holds a key.
    Dpop,
}

impl TokenScheme {
    /// The name of the scheme.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }
}
