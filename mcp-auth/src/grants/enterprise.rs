//! Enterprise-managed authorization: an identity provider issues an assertion (ID-JAG), which the
//! authorization server of the MCP server exchanges for a token.

use alloc::string::String;

use super::JWT_BEARER;
use crate::error::Problem;
use crate::token::TokenParameters;
use crate::{EndpointAuth, PreRegistered, Scopes, Secret, ServerMetadata};

/// The type of the assertion (AU-82).
pub(crate) const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
pub(crate) const REFRESH_TOKEN: &str = "urn:ietf:params:oauth:token-type:refresh_token";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const SAML2: &str = "urn:ietf:params:oauth:token-type:saml2";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const PROFILE: &str = "urn:ietf:params:oauth:grant-profile:id-jag";

/// The identity provider, and what it knows the user by.
#[derive(Clone, Debug)]
pub struct EnterpriseGrant {
    /// The token endpoint of the identity provider.
    pub token_endpoint: String,
    /// This client as the identity provider knows it. The issuer is the audience of its assertions.
    pub client: PreRegistered,
    /// The method by which the client authenticates there; by default the method that fits its
    /// proof.
    pub endpoint_auth: Option<EndpointAuth>,
    /// The token that stands for the user.
    pub subject: Subject,
    /// True to continue although the authorization server does not list the profile (AU-87).
    pub force: bool,
}

/// The token that stands for the user at the identity provider (AU-84).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Subject {
    /// An ID token of OpenID Connect.
    IdToken(Secret),
    /// A refresh token of the identity provider.
    RefreshToken(Secret),
    /// A SAML 2.0 assertion, which is first exchanged for a refresh token.
    Saml(Secret),
}

impl EnterpriseGrant {
    /// Checks that the authorization server accepts such assertions, if it says so.
    pub(crate) fn check_profile(&self, metadata: &ServerMetadata) -> Result<(), Problem> {
        let profiles = metadata.grant_profiles.as_ref();
        match self.force || profiles.is_none_or(|names| names.iter().any(|name| name == PROFILE)) {
            true => Ok(()),
            false => Err(Problem::Unsupported {
                member: "authorization_grant_profiles_supported",
                expected: PROFILE,
            }),
        }
    }

    /// The exchange of a SAML assertion for a refresh token.
    pub(crate) fn exchange_saml(&self) -> Option<TokenParameters> {
        let Subject::Saml(assertion) = &self.subject else {
            return None;
        };
        let parameters = TokenParameters::new(TOKEN_EXCHANGE)
            .with("requested_token_type", REFRESH_TOKEN)
            .with("subject_token", assertion.expose())
            .with("subject_token_type", SAML2);
        Some(parameters)
    }

    /// The exchange for an assertion (AU-82). `resource` is always sent, whatever the switch for
    /// other requests says.
    pub(crate) fn exchange_subject(
        &self,
        subject: &Subject,
        issuer: &str,
        resource: &str,
        scopes: &Scopes,
    ) -> TokenParameters {
        let (token, kind) = match subject {
            Subject::IdToken(token) => (token, ID_TOKEN),
            Subject::RefreshToken(token) => (token, REFRESH_TOKEN),
            Subject::Saml(token) => (token, SAML2),
        };
        TokenParameters::new(TOKEN_EXCHANGE)
            .with("requested_token_type", ID_JAG)
            .with("audience", issuer)
            .with("resource", resource)
            .with_scopes(scopes)
            .with("subject_token", token.expose())
            .with("subject_token_type", kind)
    }

    /// The exchange of the assertion for a token (AU-86).
    pub(crate) fn redeem(assertion: &Secret) -> TokenParameters {
        TokenParameters::new(JWT_BEARER).with("assertion", assertion.expose())
    }
}
