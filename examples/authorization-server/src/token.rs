//! The token endpoint.

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};
use url::Url;

use crate::error::OAuthError;
use crate::form::Form;
use crate::server::Turn;
use crate::state::{Grant, RefreshToken};
use crate::{Client, Settings, answer, authentication, dpop, grants, secret};

pub(crate) const CLIENT_CREDENTIALS: &str = "client_credentials";
pub(crate) const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
pub(crate) const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/// Answers a token request.
///
/// # Errors
///
/// See RFC 6749, section 5.2, and the grants.
pub(crate) fn answer(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
) -> Result<Response<Bytes>, OAuthError> {
    let form = read_form(request)?;
    let grant = form.require("grant_type")?.to_owned();
    // Before anything that can be used once only: the client sends the request again with a nonce.
    let url = turn.url("/token");
    let key = dpop::check(turn, request, &url)?;
    let body = match &*grant {
        JWT_BEARER => grants::assertion(turn, request, &form, key)?,
        _ => {
            let client = authentication::authenticate(turn, request, &form)?;
            require_proof(turn.settings, &client, key.as_deref())?;
            require_grant(&client, &grant)?;
            match &*grant {
                "authorization_code" => grants::code(turn, &form, &client, key)?,
                "refresh_token" => grants::refresh(turn, &form, &client, key)?,
                CLIENT_CREDENTIALS => grants::client_credentials(turn, &form, &client, key)?,
                TOKEN_EXCHANGE => grants::exchange(turn, &form, &client)?,
                _ => {
                    let text = "grant_type is not supported";
                    return Err(OAuthError::new("unsupported_grant_type", text));
                }
            }
        }
    };
    let mut response = answer::json(StatusCode::OK, &body);
    if turn.settings.demands_nonces {
        turn.state.renew_nonce();
        if let Ok(nonce) = HeaderValue::from_str(turn.state.nonce()) {
            let name = HeaderName::from_static("dpop-nonce");
            response.headers_mut().insert(name, nonce);
        }
    }
    Ok(response)
}

/// The form in the body of a request.
///
/// # Errors
///
/// The body is of another type, or a parameter occurs twice.
pub(crate) fn read_form(request: &Request<Bytes>) -> Result<Form, OAuthError> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/x-www-form-urlencoded") {
        let text = "the body must be application/x-www-form-urlencoded";
        return Err(OAuthError::invalid_request(text));
    }
    Form::parse(request.body())
}

/// The scopes that are asked for, each known and once.
pub(crate) fn read_scopes(settings: &Settings, form: &Form) -> Result<Vec<String>, OAuthError> {
    let mut scopes: Vec<String> = Vec::new();
    for scope in form.get("scope").unwrap_or_default().split_whitespace() {
        if !settings.scopes.is_empty() && !settings.scopes.iter().any(|known| known == scope) {
            let text = format!("the scope {scope} does not exist");
            return Err(OAuthError::new("invalid_scope", text));
        }
        if !scopes.iter().any(|known| known == scope) {
            scopes.push(scope.into());
        }
    }
    Ok(scopes)
}

/// The resource that is asked for (RFC 8707), byte for byte.
pub(crate) fn read_resource(
    settings: &Settings,
    form: &Form,
) -> Result<Option<String>, OAuthError> {
    let Some(resource) = form.get("resource") else {
        return Ok(None);
    };
    let wrong = |text: &str| Err(OAuthError::new("invalid_target", text));
    match Url::parse(resource) {
        Ok(url) if url.fragment().is_none() => {}
        _ => return wrong("resource is no absolute URI without a fragment"),
    }
    if !settings.resources.is_empty() && !settings.resources.iter().any(|known| known == resource) {
        return wrong("resource is not known");
    }
    Ok(Some(resource.into()))
}

/// Refuses a request without a proof, if the server or the client demands one.
pub(crate) fn require_proof(
    settings: &Settings,
    client: &Client,
    key: Option<&str>,
) -> Result<(), OAuthError> {
    if key.is_none() && (settings.requires_dpop || client.dpop_bound) {
        return Err(OAuthError::invalid_proof("a DPoP proof is required"));
    }
    Ok(())
}

/// Refuses a grant that the client may not use.
pub(crate) fn require_grant(client: &Client, grant: &str) -> Result<(), OAuthError> {
    match client.may(grant) {
        true => Ok(()),
        false => {
            let text = format!("the client is not registered for {grant}");
            Err(OAuthError::new("unauthorized_client", text))
        }
    }
}

/// Notes a grant and returns its id, a part of the id of each of its tokens.
pub(crate) fn begin_grant(turn: &mut Turn<'_>, grant: Grant) -> String {
    let id = secret::random();
    turn.state.grants.insert(id.clone(), grant);
    id
}

/// The response with an access token (RFC 9068), bound to the key if there is one.
pub(crate) fn access_token(
    turn: &Turn<'_>,
    id: &str,
    grant: &Grant,
    scopes: &[String],
    key: Option<&str>,
) -> Value {
    let settings = turn.settings;
    let mut claims = json!({
        "iss": settings.issuer,
        "sub": grant.subject,
        "aud": grant.resource.as_ref().unwrap_or(&settings.issuer),
        "client_id": grant.client,
        "iat": turn.now,
        "exp": turn.now + settings.token_lifetime,
        "jti": format!("{id}.{}", secret::random()),
    });
    let mut body = json!({ "token_type": "Bearer", "expires_in": settings.token_lifetime });
    if !scopes.is_empty() {
        claims["scope"] = scopes.join(" ").into();
        body["scope"] = claims["scope"].clone();
    }
    if let Some(key) = key {
        claims["cnf"] = json!({ "jkt": key });
        body["token_type"] = "DPoP".into();
    }
    body["access_token"] = turn.state.key().sign("at+jwt", &claims).into();
    body
}

/// A new refresh token of a grant.
pub(crate) fn refresh_token(turn: &mut Turn<'_>, grant: &str) -> String {
    let token = secret::random();
    let kept = RefreshToken {
        grant: grant.into(),
        is_used: false,
    };
    turn.state.refresh_tokens.insert(token.clone(), kept);
    token
}
