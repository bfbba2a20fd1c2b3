//! A client that acts for itself (RFC 6749, section 4.4).

use crate::Scopes;
use crate::token::TokenParameters;

/// The parameters of the request (AU-80).
pub(crate) fn client_credentials(resource: Option<&str>, scopes: &Scopes) -> TokenParameters {
    TokenParameters::new("client_credentials")
        .with_optional("resource", resource)
        .with_scopes(scopes)
}
