//! The issuers of a resource whose tokens are signed.

use alloc::string::String;

/// An issuer of tokens that are signed.
#[derive(Clone, Debug)]
pub(super) struct KeyIssuer {
    pub(super) issuer: String,
    /// `None` if the metadata of the issuer says where they are.
    pub(super) keys_url: Option<String>,
}

/// One of the issuers of a resource whose tokens are signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IssuerIndex(pub(super) usize);
