//! The metadata of an authorization server (RFC 8414, OpenID Connect Discovery 1.0).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::document::DocumentReader;
use super::error::{AuthError, Document, ISS_PARAMETER, Problem, printable};
use super::resource_metadata::is_other_kind;
use super::{Scopes, Uri};

const OAUTH: &str = "oauth-authorization-server";
const OPENID: &str = "openid-configuration";

/// The metadata of an authorization server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerMetadata {
    /// Its identifier, to the byte.
    pub issuer: String,
    /// The URL of the metadata document; `None` for the default endpoints of 2025-03-26 (AU-27).
    pub url: Option<String>,
    /// The URL at which users consent.
    pub authorization_endpoint: Option<String>,
    /// The URL at which tokens are requested.
    pub token_endpoint: Option<String>,
    /// The URL at which clients register.
    pub registration_endpoint: Option<String>,
    /// The URL at which tokens are revoked.
    pub revocation_endpoint: Option<String>,
    /// The URL of the keys that verify the signatures of its tokens.
    pub jwks_uri: Option<String>,
    /// The scopes that it knows.
    pub scopes_supported: Option<Scopes>,
    /// The grants that it supports.
    pub grant_types: Option<Vec<String>>,
    /// The ways by which clients authenticate at the token endpoint.
    pub endpoint_auth_methods: Option<Vec<String>>,
    /// The algorithms of client assertions.
    pub endpoint_auth_algorithms: Option<Vec<String>>,
    /// The methods of PKCE.
    pub code_challenge_methods: Option<Vec<String>>,
    /// The algorithms of DPoP proofs.
    pub dpop_algorithms: Option<Vec<String>>,
    /// The profiles of authorization grants, such as that of ID-JAG (AU-87).
    pub grant_profiles: Option<Vec<String>>,
    /// True if a client id may be the URL of a metadata document.
    pub metadata_documents: bool,
    /// True if authorization responses carry `iss` (RFC 9207).
    pub iss_parameter: bool,
}

impl ServerMetadata {
    /// Returns the URLs at which the metadata of an issuer may be, in their order (AU-25).
    pub fn candidates(issuer: &Uri<'_>) -> Vec<String> {
        let origin = issuer.origin();
        match issuer.path().trim_end_matches('/') {
            "" => Vec::from([
                format!("{origin}/.well-known/{OAUTH}"),
                format!("{origin}/.well-known/{OPENID}"),
            ]),
            path => Vec::from([
                format!("{origin}/.well-known/{OAUTH}{path}"),
                format!("{origin}/.well-known/{OPENID}{path}"),
                format!("{origin}{path}/.well-known/{OPENID}"),
            ]),
        }
    }

    /// Reads the document that came from `url`. `None` for JSON objects of another kind, and for
    /// what is no JSON object (AU-38).
    ///
    /// # Errors
    ///
    /// [`AuthError`] if the document is too large, or is of this kind but wrong.
    pub fn read(url: &str, body: &[u8]) -> Result<Option<Self>, AuthError> {
        let document = match DocumentReader::new(Document::ServerMetadata, url, body) {
            Err(error) if is_other_kind(&error) => return Ok(None),
            other => other?,
        };
        if !document.has_any(&["issuer", "authorization_endpoint", "token_endpoint"]) {
            return Ok(None);
        }
        let scopes = document.texts("scopes_supported")?;
        Ok(Some(Self {
            issuer: document.required_text("issuer")?,
            url: Some(url.into()),
            authorization_endpoint: document.text("authorization_endpoint")?,
            token_endpoint: document.text("token_endpoint")?,
            registration_endpoint: document.text("registration_endpoint")?,
            revocation_endpoint: document.text("revocation_endpoint")?,
            jwks_uri: document.text("jwks_uri")?,
            scopes_supported: scopes.map(|scopes| scopes.iter().map(String::as_str).collect()),
            grant_types: document.texts("grant_types_supported")?,
            endpoint_auth_methods: document.texts("token_endpoint_auth_methods_supported")?,
            endpoint_auth_algorithms: document
                .texts("token_endpoint_auth_signing_alg_values_supported")?,
            code_challenge_methods: document.texts("code_challenge_methods_supported")?,
            dpop_algorithms: document.texts("dpop_signing_alg_values_supported")?,
            grant_profiles: document.texts("authorization_grant_profiles_supported")?,
            metadata_documents: document.flag("client_id_metadata_document_supported")?,
            iss_parameter: document.flag(ISS_PARAMETER)?,
        }))
    }

    /// The endpoints that 2025-03-26 prescribes where there is no metadata (AU-27).
    pub fn default_endpoints(server: &Uri<'_>) -> Self {
        let origin = server.origin();
        let at = |path: &str| format!("{origin}{path}");
        Self {
            registration_endpoint: Some(at("/register")),
            ..Self::of_endpoints(&origin, &at("/authorize"), &at("/token"))
        }
    }

    /// The metadata of an authorization server that publishes none, with these endpoints.
    pub fn of_endpoints(issuer: &str, authorization: &str, token: &str) -> Self {
        Self {
            issuer: issuer.into(),
            authorization_endpoint: Some(authorization.into()),
            token_endpoint: Some(token.into()),
            ..Self::default()
        }
    }

    /// Checks that the metadata belongs to the issuer that its URL was built from: the texts are
    /// identical (AU-26). [`AuthConfig::is_same_issuer`](super::AuthConfig::is_same_issuer) is less strict.
    ///
    /// # Errors
    ///
    /// [`AuthError`] that names both texts.
    pub fn check_issuer(&self, issuer: &str) -> Result<(), AuthError> {
        if self.issuer == issuer {
            return Ok(());
        }
        Err(self.fail(Problem::Mismatch {
            member: "issuer",
            expected: printable(issuer, 300),
            found: printable(&self.issuer, 300),
        }))
    }

    /// Checks that PKCE with S256 is advertised (AU-51). Default endpoints have no metadata that
    /// could say so.
    ///
    /// # Errors
    ///
    /// [`AuthError`] if it is not.
    pub fn check_pkce(&self) -> Result<(), AuthError> {
        let methods = self.code_challenge_methods.as_ref();
        let is_s256 = |method: &String| method == "S256";
        match self.url.is_none() || methods.is_some_and(|methods| methods.iter().any(is_s256)) {
            true => Ok(()),
            false => Err(self.fail(Problem::Unsupported {
                member: "code_challenge_methods_supported",
                expected: "S256",
            })),
        }
    }

    /// Checks that a code cannot come from another authorization server than the one that it is
    /// sent to (RFC 9700, section 4.4): responses carry `iss`, or the page is at the origin of the
    /// issuer or of the token endpoint. Endpoints that cannot be used are reported where they are.
    pub(crate) fn check_code_origin(&self) -> Result<(), AuthError> {
        let (Ok(page), Ok(token)) = (self.authorization_endpoint(), self.token_endpoint()) else {
            return Ok(());
        };
        let (Ok(page), Ok(token)) = (Uri::parse(page), Uri::parse(token)) else {
            return Ok(());
        };
        let is_at_issuer = Uri::parse(&self.issuer).is_ok_and(|uri| uri.is_same_origin(&page));
        match self.iss_parameter || is_at_issuer || page.is_same_origin(&token) {
            true => Ok(()),
            false => Err(self.fail(Problem::Missing(ISS_PARAMETER))),
        }
    }

    pub(crate) fn authorization_endpoint(&self) -> Result<&str, AuthError> {
        self.endpoint(
            "authorization_endpoint",
            self.authorization_endpoint.as_ref(),
        )
    }

    pub(crate) fn token_endpoint(&self) -> Result<&str, AuthError> {
        self.endpoint("token_endpoint", self.token_endpoint.as_ref())
    }

    pub(crate) fn registration_endpoint(&self) -> Result<&str, AuthError> {
        self.endpoint("registration_endpoint", self.registration_endpoint.as_ref())
    }

    /// The address of the keys, under the rules of an endpoint.
    pub(crate) fn jwks_uri(&self) -> Result<&str, AuthError> {
        self.endpoint("jwks_uri", self.jwks_uri.as_ref())
    }

    /// An endpoint that may be used (AU-32).
    fn endpoint<'m>(
        &self,
        member: &'static str,
        endpoint: Option<&'m String>,
    ) -> Result<&'m str, AuthError> {
        let endpoint = endpoint.ok_or_else(|| self.fail(Problem::Missing(member)))?;
        check_endpoint(member, endpoint).map_err(|problem| self.fail(problem))?;
        let issuer = Uri::parse(&self.issuer);
        let is_named = |uri: Uri<'_>| issuer.is_ok_and(|issuer| issuer.may_name(&uri));
        match Uri::parse(endpoint).is_ok_and(is_named) {
            true => Ok(endpoint),
            false => Err(self.fail(Problem::UnsafeUrl(member))),
        }
    }

    pub(crate) fn fail(&self, problem: Problem) -> AuthError {
        let url = self.url.as_ref().unwrap_or(&self.issuer);
        AuthError::new(Document::ServerMetadata, url, problem)
    }
}

/// Checks that a URL can be an endpoint: absolute, `https` or on this machine, without a fragment
/// (AU-32).
pub(crate) fn check_endpoint(member: &'static str, url: &str) -> Result<(), Problem> {
    let uri = Uri::parse(url).map_err(|reason| Problem::UnusableUrl { member, reason })?;
    match uri.is_confidential() && !uri.has_fragment() {
        true => Ok(()),
        false => Err(Problem::UnsafeUrl(member)),
    }
}
