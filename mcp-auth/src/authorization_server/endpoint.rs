//! The endpoints of an authorization server.

/// The endpoints of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoginEndpoint {
    /// The metadata document (RFC 8414).
    Metadata,
    /// The registration of clients (RFC 7591).
    Register,
    /// The authorization endpoint, which answers with the consent page.
    Authorize,
    /// The answer of the user on the consent page.
    Consent,
    /// The return of the user from the provider.
    Callback,
    /// The token endpoint.
    Token,
    /// The revocation of tokens (RFC 7009).
    Revoke,
}

impl LoginEndpoint {
    pub(super) const ALL: [Self; 7] = [
        Self::Metadata,
        Self::Register,
        Self::Authorize,
        Self::Consent,
        Self::Callback,
        Self::Token,
        Self::Revoke,
    ];

    /// Returns the method of requests, and the path below the issuer.
    pub(super) const fn route(self) -> (&'static str, &'static str) {
        match self {
            Self::Metadata => ("GET", "/.well-known/oauth-authorization-server"),
            Self::Register => ("POST", "/register"),
            Self::Authorize => ("GET", "/authorize"),
            Self::Consent => ("POST", "/consent"),
            Self::Callback => ("GET", "/callback"),
            Self::Token => ("POST", "/token"),
            Self::Revoke => ("POST", "/revoke"),
        }
    }

    /// Returns true if programs use it, also in pages of other origins; false if the user's browser shows it.
    pub const fn is_for_programs(self) -> bool {
        match self {
            Self::Metadata | Self::Register | Self::Token | Self::Revoke => true,
            Self::Authorize | Self::Consent | Self::Callback => false,
        }
    }
}
