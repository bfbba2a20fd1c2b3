//! Dynamic registration of a client, and the client id metadata document.

use alloc::string::String;
use alloc::vec::Vec;

use super::document::DocumentReader;
use super::error::{AuthError, Document, Problem};
use super::identity::{ClientIdentity, ClientProof, EndpointAuth, IdentitySource};
use super::jwt::JsonText;
use super::oauth_error::oauth_error;
use super::{AuthConfig, HttpRequest, HttpResponse, Scopes, Secret, ServerMetadata, UnixTime, Uri};

/// Builds the request of a dynamic registration (RFC 7591, section 3.1).
pub(crate) fn registration_request(
    config: &AuthConfig,
    metadata: &ServerMetadata,
    scopes: &Scopes,
) -> Result<HttpRequest, AuthError> {
    let endpoint = metadata.registration_endpoint()?;
    let listed = metadata.endpoint_auth_methods.as_ref();
    let lists = |method: EndpointAuth| {
        listed.is_none_or(|names| names.iter().any(|name| name == method.as_str()))
    };
    // A public client if the server has any, else one with a secret.
    let method = [EndpointAuth::None, EndpointAuth::Basic, EndpointAuth::Post]
        .into_iter()
        .find(|method| {
            config.endpoint_auth.is_none_or(|forced| forced == *method) && lists(*method)
        })
        .or(config.endpoint_auth)
        .unwrap_or(EndpointAuth::None);
    let mut body = client_metadata(config, method);
    if !scopes.is_empty() {
        body = body.text("scope", &alloc::format!("{scopes}"));
    }
    if config.dpop.is_some() {
        body = body.json("dpop_bound_access_tokens", "true");
    }
    Ok(HttpRequest::post(
        Document::Registration,
        endpoint.into(),
        "application/json",
        body.end().into_string(),
    ))
}

/// Returns the client id metadata document that belongs at this URL (AU-41).
pub fn metadata_document(config: &AuthConfig, url: &str) -> String {
    client_metadata(config, EndpointAuth::None)
        .text("client_id", url)
        .end()
        .into_string()
}

fn client_metadata(config: &AuthConfig, method: EndpointAuth) -> JsonText {
    JsonText::new()
        .text("client_name", &config.client_name)
        .texts("redirect_uris", [config.redirect_uri.as_str()])
        .texts("grant_types", ["authorization_code", "refresh_token"])
        .texts("response_types", ["code"])
        .text("token_endpoint_auth_method", method.as_str())
        .text("application_type", application_type(&config.redirect_uri))
}

/// `native` for a client on the user's machine, `web` for one that is reached by https (AU-44).
fn application_type(redirect_uri: &str) -> &'static str {
    match Uri::parse(redirect_uri) {
        Ok(uri) if uri.is_https() && !uri.is_loopback() => "web",
        _ => "native",
    }
}

/// The error of a registration with a member that the server does not accept.
pub(crate) const INVALID_METADATA: &str = "invalid_client_metadata";

/// Reads the response to a registration: 200 or 201 (AU-49).
pub(crate) fn read_registration(
    url: &str,
    response: &HttpResponse<'_>,
    redirect_uri: &str,
) -> Result<ClientIdentity, AuthError> {
    let fail = |problem| AuthError::new(Document::Registration, url, problem);
    if !response.is_success() {
        return Err(fail(oauth_error(response, &Vec::new())));
    }
    let document = DocumentReader::new(Document::Registration, url, response.body)?;
    let client_id = document.stored_text("client_id")?;
    let client_id = client_id.ok_or_else(|| fail(Problem::Missing("client_id")))?;
    let secret = document.stored_text("client_secret")?;
    let expires = document.seconds("client_secret_expires_at")?;
    let method = match document.text("token_endpoint_auth_method")? {
        None => None,
        Some(name) => Some(EndpointAuth::from_name(&name).ok_or_else(|| {
            fail(Problem::Unsupported {
                member: "token_endpoint_auth_method",
                expected: "none, client_secret_basic or client_secret_post",
            })
        })?),
    };
    let identity = ClientIdentity {
        source: IdentitySource::Dynamic,
        client_id,
        proof: secret.map_or(ClientProof::Public, |secret| {
            ClientProof::Secret(Secret::from(secret))
        }),
        secret_expires_at: expires.filter(|end| *end > 0).map(UnixTime::from_secs),
        method,
        redirect_uri: Some(redirect_uri.into()),
    };
    match method {
        Some(method) if !identity.can_use(method) => Err(fail(Problem::Missing("client_secret"))),
        _ => Ok(identity),
    }
}
