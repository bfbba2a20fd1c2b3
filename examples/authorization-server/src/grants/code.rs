use serde_json::{Value, json};

use crate::client::Proof;
use crate::error::OAuthError;
use crate::form::Form;
use crate::server::Turn;
use crate::state::Grant;
use crate::token::{access_token, begin_grant, read_resource, refresh_token};
use crate::{Client, secret};

/// Issues tokens for a code. A code that is used twice revokes what was issued for it.
///
/// # Errors
///
/// `invalid_grant`, `invalid_target`.
pub(crate) fn code(
    turn: &mut Turn<'_>,
    form: &Form,
    client: &Client,
    key: Option<String>,
) -> Result<Value, OAuthError> {
    let code = form.require("code")?;
    let wrong = |text: &str| Err(OAuthError::invalid_grant(text));
    let Some(kept) = turn.state.codes.get(code) else {
        return wrong("the code is not known");
    };
    let authorization = kept.authorization.clone();
    if authorization.client.id != client.id {
        return wrong("the code is of another client");
    }
    if let Some(grant) = kept.grant.clone() {
        turn.state.revoke(&grant);
        return wrong("the code was used before");
    }
    if kept.expires_at <= turn.now {
        return wrong("the code has expired");
    }
    if form
        .get("redirect_uri")
        .is_some_and(|uri| uri != authorization.redirect)
    {
        return wrong("redirect_uri is not that of the authorization request");
    }
    let verifier = form.require("code_verifier")?;
    if !(43..=128).contains(&verifier.len()) || secret::hash(verifier) != authorization.challenge {
        return wrong("code_verifier does not match the challenge");
    }
    if authorization.key.is_some() && authorization.key != key {
        return wrong("the proof is not of the key that dpop_jkt named");
    }
    if read_resource(turn.settings, form)? != authorization.resource {
        let text = "resource is not that of the authorization request";
        return Err(OAuthError::new("invalid_target", text));
    }
    let is_public = matches!(client.proof, Proof::None);
    let grant = Grant {
        client: client.id.clone(),
        subject: authorization.subject.clone(),
        scopes: authorization.scopes.clone(),
        resource: authorization.resource.clone(),
        key: key.clone().filter(|_| is_public),
        is_revoked: false,
    };
    let id = begin_grant(turn, grant.clone());
    if let Some(kept) = turn.state.codes.get_mut(code) {
        kept.grant = Some(id.clone());
    }
    let mut body = access_token(turn, &id, &grant, &grant.scopes, key.as_deref());
    if client.may("refresh_token") {
        body["refresh_token"] = refresh_token(turn, &id).into();
    }
    if grant.scopes.iter().any(|scope| scope == "openid") {
        body["id_token"] = id_token(turn, &grant, authorization.nonce.as_deref()).into();
    }
    Ok(body)
}

/// The token of OpenID Connect that says to the client who the user is.
fn id_token(turn: &Turn<'_>, grant: &Grant, nonce: Option<&str>) -> String {
    let mut claims = json!({
        "iss": turn.settings.issuer,
        "sub": grant.subject,
        "aud": grant.client,
        "iat": turn.now,
        "exp": turn.now + turn.settings.token_lifetime,
    });
    if let Some(nonce) = nonce {
        claims["nonce"] = nonce.into();
    }
    turn.state.key().sign("JWT", &claims)
}
