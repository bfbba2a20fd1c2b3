//! The consent of a user, and the exchange of the code (RFC 6749, section 4.1).

use alloc::string::{String, ToString};

use crate::error::AuthError;
use crate::step::AuthorizationPage;
use crate::token::TokenParameters;
use crate::{AuthConfig, CodeVerifier, Scopes, Secret, ServerMetadata, form};

/// Builds the URL at which the user consents. Parameters are added to a query that the endpoint
/// has already.
pub(crate) fn authorization_page(
    config: &AuthConfig,
    metadata: &ServerMetadata,
    client_id: &str,
    resource: Option<&str>,
    scopes: &Scopes,
    challenge: &str,
    state: &Secret,
) -> Result<AuthorizationPage, AuthError> {
    let mut url = String::from(metadata.authorization_endpoint()?);
    if !url.contains('?') {
        url.push('?');
    }
    for (name, value) in [
        ("response_type", "code"),
        ("client_id", client_id),
        ("redirect_uri", &config.redirect_uri),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("state", state.expose()),
    ] {
        form::push(&mut url, name, value);
    }
    if let Some(resource) = resource {
        form::push(&mut url, "resource", resource);
    }
    if !scopes.is_empty() {
        form::push(&mut url, "scope", &scopes.to_string());
    }
    Ok(AuthorizationPage {
        url,
        redirect_uri: config.redirect_uri.clone(),
        issuer: metadata.issuer.clone(),
    })
}

/// The parameters that exchange a code for a token.
pub(crate) fn redeem_code(
    config: &AuthConfig,
    code: &Secret,
    verifier: &CodeVerifier,
    resource: Option<&str>,
) -> TokenParameters {
    TokenParameters::new("authorization_code")
        .with("code", code.expose())
        .with("redirect_uri", &config.redirect_uri)
        .with("code_verifier", verifier.secret().expose())
        .with_optional("resource", resource)
}
