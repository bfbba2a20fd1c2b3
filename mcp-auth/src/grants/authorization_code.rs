//! The consent of a user, and the exchange of the code (RFC 6749, section 4.1).

use alloc::string::{String, ToString};
use core::fmt;

use crate::error::{AuthError, shown_url};
use crate::token::TokenParameters;
use crate::{CodeVerifier, Scopes, Secret, ServerMetadata, form};

/// A page on which the user consents.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthorizationPage {
    /// The URL: `https`, or `http` on this machine (AU-32). It must not pass through a shell.
    pub url: String,
    /// The URI that the authorization server redirects the user to.
    pub redirect_uri: String,
    /// The issuer that asks.
    pub issuer: String,
}

/// Shows no query: it contains `state`.
impl fmt::Debug for AuthorizationPage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizationPage")
            .field("url", &shown_url(&self.url))
            .field("redirect_uri", &self.redirect_uri)
            .field("issuer", &self.issuer)
            .finish()
    }
}

/// Builds the URL at which the user consents. Parameters are added to a query that the endpoint
/// has already.
pub(crate) fn authorization_page(
    redirect_uri: &str,
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
        ("redirect_uri", redirect_uri),
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
        redirect_uri: redirect_uri.into(),
        issuer: metadata.issuer.clone(),
    })
}

/// The parameters that exchange a code for a token.
pub(crate) fn redeem_code(
    redirect_uri: &str,
    code: &Secret,
    verifier: &CodeVerifier,
    resource: Option<&str>,
) -> TokenParameters {
    TokenParameters::new("authorization_code")
        .with("code", code.expose())
        .with("redirect_uri", redirect_uri)
        .with("code_verifier", verifier.secret().expose())
        .with_optional("resource", resource)
}
