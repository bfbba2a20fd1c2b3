//! Introspection (RFC 7662) and revocation (RFC 7009) of tokens.

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use serde_json::{Value, json};

use crate::answer;
use crate::authentication::authenticate;
use crate::client::Proof;
use crate::error::OAuthError;
use crate::jwt::Jwt;
use crate::server::Turn;
use crate::token::read_form;

/// Answers a resource server, which is a client that authenticates.
///
/// # Errors
///
/// `invalid_client`.
pub(crate) fn answer(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
) -> Result<Response<Bytes>, OAuthError> {
    let form = read_form(request)?;
    let client = authenticate(turn, request, &form)?;
    if matches!(client.proof, Proof::None) {
        return Err(OAuthError::invalid_client("the client has no credentials"));
    }
    let claims = claims(turn, form.require("token")?);
    Ok(answer::json(StatusCode::OK, &claims))
}

/// Revokes the grant of a token. A token of another client has no effect.
///
/// # Errors
///
/// `invalid_client`.
pub(crate) fn revoke(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
) -> Result<Response<Bytes>, OAuthError> {
    let form = read_form(request)?;
    let client = authenticate(turn, request, &form)?;
    let token = form.require("token")?;
    let refresh = turn.state.refresh_tokens.get(token);
    let grant = match refresh {
        Some(refresh) => Some(refresh.grant.clone()),
        None => read(turn, token).and_then(|claims| grant(&claims).map(String::from)),
    };
    if let Some(id) = grant {
        let grants = &turn.state.grants;
        if grants
            .get(&id)
            .is_some_and(|grant| grant.client == client.id)
        {
            turn.state.revoke(&id);
        }
    }
    Ok(answer::json(StatusCode::OK, &json!({})))
}

/// The claims of an access token that is valid now, or `{"active": false}`.
pub(crate) fn claims(turn: &Turn<'_>, token: &str) -> Value {
    let active = read(turn, token).filter(|claims| {
        let grant = grant(claims).and_then(|id| turn.state.grants.get(id));
        grant.is_some_and(|grant| !grant.is_revoked)
    });
    let Some(mut claims) = active else {
        return json!({ "active": false });
    };
    let is_bound = claims.get("cnf").is_some();
    claims["token_type"] = if is_bound { "DPoP" } else { "Bearer" }.into();
    claims["active"] = true.into();
    claims
}

/// The claims of an access token of this server that has not expired.
fn read(turn: &Turn<'_>, token: &str) -> Option<Value> {
    let jwt = Jwt::parse(token)?;
    let keys: Vec<Value> = turn
        .state
        .keys
        .iter()
        .map(|key| key.jwk().clone())
        .collect();
    let is_valid =
        jwt.kind() == Some("at+jwt") && jwt.is_signed_by_any(&keys) && jwt.is_current(turn.now, 0);
    is_valid.then_some(jwt.claims)
}

/// The grant of a token: the first part of its id.
fn grant(claims: &Value) -> Option<&str> {
    claims["jti"].as_str()?.split('.').next()
}
