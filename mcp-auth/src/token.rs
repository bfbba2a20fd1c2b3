//! Requests to token endpoints, and their responses (RFC 6749, sections 4 to 6).

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::document::DocumentReader;
use super::error::{AuthError, Document, Problem, printable};
use super::identity::{ClientIdentity, ClientProof, EndpointAuth};
use super::oauth_error::oauth_error;
use super::{HttpRequest, HttpResponse, Scheme, Scopes, Secret, form};

/// The parameters of a token request, without those that authenticate the client.
#[derive(Clone, Debug, Default)]
pub(crate) struct TokenParameters {
    pairs: Vec<(&'static str, Secret)>,
}

impl TokenParameters {
    pub(crate) fn new(grant_type: &'static str) -> Self {
        Self::default().with("grant_type", grant_type)
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.pairs.push((name, Secret::from(value)));
        self
    }

    #[must_use]
    pub(crate) fn with_optional(self, name: &'static str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// Adds `scope`, unless the set is empty.
    #[must_use]
    pub(crate) fn with_scopes(self, scopes: &Scopes) -> Self {
        match scopes.is_empty() {
            true => self,
            false => self.with("scope", &scopes.to_string()),
        }
    }

    /// The values that no error may show.
    pub(crate) fn secrets(&self) -> Vec<Secret> {
        const SECRET: [&str; 6] = [
            "code",
            "code_verifier",
            "refresh_token",
            "assertion",
            "subject_token",
            "client_secret",
        ];
        let secret = self.pairs.iter().filter(|(name, _)| SECRET.contains(name));
        secret.map(|(_, value)| value.clone()).collect()
    }
}

/// Builds a token request with the authentication of the client (AU-69). `assertion` is the signed
/// one of `private_key_jwt`.
pub(crate) fn token_request(
    document: Document,
    endpoint: &str,
    parameters: &TokenParameters,
    client: Option<(&ClientIdentity, EndpointAuth)>,
    assertion: Option<&str>,
) -> HttpRequest {
    let mut body = String::new();
    for (name, value) in &parameters.pairs {
        form::push(&mut body, name, value.expose());
    }
    let mut authorization = None;
    if let Some((client, method)) = client {
        match (method, &client.proof) {
            (EndpointAuth::Basic, ClientProof::Secret(secret)) => {
                let id = form::encode(&client.client_id);
                let pair = format!("{id}:{}", form::encode(secret.expose()));
                let credentials = STANDARD.encode(pair.as_bytes());
                authorization = Some(format!("Basic {credentials}"));
            }
            (EndpointAuth::Post, ClientProof::Secret(secret)) => {
                form::push(&mut body, "client_id", &client.client_id);
                form::push(&mut body, "client_secret", secret.expose());
            }
            (EndpointAuth::PrivateKeyJwt, _) => {
                form::push(&mut body, "client_assertion_type", CLIENT_ASSERTION);
                form::push(&mut body, "client_assertion", assertion.unwrap_or_default());
            }
            _ => form::push(&mut body, "client_id", &client.client_id),
        }
    }
    let media_type = "application/x-www-form-urlencoded";
    let mut request = HttpRequest::post(document, endpoint.into(), media_type, body);
    if let Some(authorization) = authorization {
        let value = Secret::from(authorization);
        request.headers.push(("authorization", value));
    }
    request
}

const CLIENT_ASSERTION: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/// The token that a token response must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpectedToken {
    /// An access token, presented as `token_type` says.
    Access {
        /// True if a proof was sent, so that the token may be bound.
        dpop: bool,
        /// True if the token must be bound (AU-96).
        dpop_required: bool,
    },
    /// A token that is exchanged further, of this type (AU-85).
    Exchanged(&'static str),
}

/// A token response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TokenResponse {
    /// The token.
    pub(crate) access_token: Secret,
    /// The scheme with which the token is presented.
    pub(crate) scheme: Scheme,
    /// Its lifetime in seconds.
    pub(crate) expires_in: Option<u64>,
    /// A token for the next one.
    pub(crate) refresh_token: Option<Secret>,
    /// The scopes that were granted; `None` for those that were asked for.
    pub(crate) scopes: Option<Scopes>,
}

impl TokenResponse {
    /// Reads a response. `secrets` are not shown in errors, whatever the server repeats.
    pub(crate) fn read(
        document: Document,
        url: &str,
        response: &HttpResponse<'_>,
        expected: ExpectedToken,
        secrets: &[Secret],
    ) -> Result<Self, AuthError> {
        let fail = |problem| AuthError::new(document, url, problem);
        if !response.is_success() {
            return Err(fail(oauth_error(response, secrets)));
        }
        let reader = DocumentReader::new(document, url, response.body)?;
        if !reader.has_any(&["access_token"]) && reader.has_any(&["error"]) {
            return Err(fail(oauth_error(response, secrets)));
        }
        let access_token = reader.stored_text("access_token")?;
        let access_token = access_token.ok_or_else(|| fail(Problem::Missing("access_token")))?;
        let is_sound = |byte: u8| matches!(byte, b'!'..=b'~');
        if !access_token.bytes().all(is_sound) {
            return Err(fail(Problem::Malformed("access_token")));
        }
        let token_type = reader.text("token_type")?;
        let scheme = match expected {
            ExpectedToken::Access {
                dpop,
                dpop_required,
            } => {
                let name = token_type.as_deref().unwrap_or("Bearer");
                match Scheme::from_name(name) {
                    Some(Scheme::Bearer) if !dpop_required => Scheme::Bearer,
                    Some(Scheme::Dpop) if dpop => Scheme::Dpop,
                    _ => return Err(fail(Problem::TokenType(printable(name, 60)))),
                }
            }
            ExpectedToken::Exchanged(kind) => {
                let issued = reader.required_text("issued_token_type")?;
                if issued != kind {
                    return Err(fail(Problem::Mismatch {
                        member: "issued_token_type",
                        expected: kind.into(),
                        found: printable(&issued, 100),
                    }));
                }
                let name = token_type.unwrap_or_default();
                if !name.eq_ignore_ascii_case("N_A") {
                    return Err(fail(Problem::TokenType(printable(&name, 60))));
                }
                Scheme::Bearer
            }
        };
        let refresh_token = reader.stored_text("refresh_token")?;
        let scopes = reader.text("scope")?;
        Ok(Self {
            access_token: Secret::from(access_token),
            scheme,
            expires_in: reader.seconds("expires_in")?,
            refresh_token: refresh_token.map(Secret::from),
            scopes: scopes
                .map(|scopes| Scopes::parse(&scopes))
                .filter(|scopes| !scopes.is_empty()),
        })
    }
}
