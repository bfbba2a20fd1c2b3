//! A new access token without the user (RFC 6749, section 6).

use crate::token::TokenParameters;
use crate::{Scopes, Secret};

/// The parameters of the request. `granted` are the scopes of the last token: a refresh never asks
/// for more (AU-66, AU-115).
pub(crate) fn refresh(token: &Secret, resource: Option<&str>, granted: &Scopes) -> TokenParameters {
    TokenParameters::new("refresh_token")
        .with("refresh_token", token.expose())
        .with_optional("resource", resource)
        .with_scopes(granted)
}
