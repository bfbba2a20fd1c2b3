use serde_json::{Value, json};

use super::ID_JAG;
use crate::Client;
use crate::client::Proof;
use crate::error::OAuthError;
use crate::form::Form;
use crate::jwt::Jwt;
use crate::secret;
use crate::server::Turn;
use crate::token::{read_resource, read_scopes};

const ASSERTION: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
const REFRESH_TOKEN: &str = "urn:ietf:params:oauth:token-type:refresh_token";
/// An assertion lasts this many seconds.
const LIFETIME: u64 = 300;

/// Issues an identity assertion for another authorization server, in exchange for an ID token or a
/// refresh token (RFC 8693). Here the server is the identity provider of an enterprise.
///
/// # Errors
///
/// `invalid_request`, `invalid_grant`, `invalid_target`.
pub(crate) fn exchange(
    turn: &mut Turn<'_>,
    form: &Form,
    client: &Client,
) -> Result<Value, OAuthError> {
    if matches!(client.proof, Proof::None) {
        let text = "the client must authenticate for this grant";
        return Err(OAuthError::invalid_client(text));
    }
    if form.require("requested_token_type")? != ASSERTION {
        let text = format!("requested_token_type must be {ASSERTION}");
        return Err(OAuthError::invalid_request(text));
    }
    let audience = form.require("audience")?;
    let resource = read_resource(turn.settings, form)?;
    let is_known = turn.settings.partners.iter().any(|partner| {
        let is_resource = resource.as_ref().is_none_or(|one| *one == partner.resource);
        partner.issuer == audience && is_resource
    });
    if !is_known {
        let text = "audience and resource are no pair that the server knows";
        return Err(OAuthError::new("invalid_target", text));
    }
    let token = form.require("subject_token")?;
    let subject = match form.require("subject_token_type")? {
        ID_TOKEN => of_id_token(turn, token, client),
        REFRESH_TOKEN => of_refresh_token(turn, token, client),
        _ => {
            let text = "subject_token_type is not supported";
            return Err(OAuthError::invalid_request(text));
        }
    };
    let scopes = read_scopes(turn.settings, form)?;
    let mut claims = json!({
        "iss": turn.settings.issuer,
        "sub": subject.ok_or_else(|| OAuthError::invalid_grant("subject_token is not valid"))?,
        "aud": audience,
        "client_id": client.id,
        "iat": turn.now,
        "exp": turn.now + LIFETIME,
        "jti": secret::random(),
    });
    let mut body = json!({
        "issued_token_type": ASSERTION,
        "token_type": "N_A",
        "expires_in": LIFETIME,
    });
    if let Some(resource) = resource {
        claims["resource"] = resource.into();
    }
    if !scopes.is_empty() {
        claims["scope"] = scopes.join(" ").into();
        body["scope"] = claims["scope"].clone();
    }
    body["access_token"] = turn.state.key().sign(ID_JAG, &claims).into();
    Ok(body)
}

/// The subject of an ID token that this server has issued to this client.
fn of_id_token(turn: &Turn<'_>, token: &str, client: &Client) -> Option<String> {
    let jwt = Jwt::parse(token)?;
    let keys: Vec<Value> = turn
        .state
        .keys
        .iter()
        .map(|key| key.jwk().clone())
        .collect();
    let is_valid = jwt.is_signed_by_any(&keys)
        && jwt.kind() == Some("JWT")
        && jwt.claim("iss") == Some(&turn.settings.issuer)
        && jwt.is_for(&client.id)
        && jwt.is_current(turn.now, 0);
    is_valid.then(|| jwt.claim("sub").map(String::from))?
}

/// The subject of a refresh token of this client, which stays valid.
fn of_refresh_token(turn: &Turn<'_>, token: &str, client: &Client) -> Option<String> {
    let kept = turn.state.refresh_tokens.get(token)?;
    let grant = turn.state.grants.get(&kept.grant)?;
    let is_valid = !kept.is_used && !grant.is_revoked && grant.client == client.id;
    is_valid.then(|| grant.subject.clone())
}
