use serde_json::Value;

use crate::Client;
use crate::error::OAuthError;
use crate::form::Form;
use crate::server::Turn;
use crate::token::{access_token, read_resource, read_scopes, refresh_token};

/// Issues tokens for a refresh token, which is replaced. One that is used twice revokes the grant.
///
/// # Errors
///
/// `invalid_grant`, `invalid_scope`, `invalid_target`.
pub(crate) fn refresh(
    turn: &mut Turn<'_>,
    form: &Form,
    client: &Client,
    key: Option<String>,
) -> Result<Value, OAuthError> {
    let sent = form.require("refresh_token")?;
    let wrong = |text: &str| Err(OAuthError::invalid_grant(text));
    let Some(kept) = turn.state.refresh_tokens.get(sent) else {
        return wrong("the refresh token is not known");
    };
    let (id, is_used) = (kept.grant.clone(), kept.is_used);
    let grant = turn.state.grants.get(&id).cloned();
    let Some(grant) = grant.filter(|grant| grant.client == client.id) else {
        return wrong("the refresh token is of another client");
    };
    if is_used {
        turn.state.revoke(&id);
        return wrong("the refresh token was used before; the grant is revoked");
    }
    if grant.is_revoked {
        return wrong("the grant is revoked");
    }
    if grant.key.is_some() && grant.key != key {
        return wrong("the proof is not of the key of the refresh token");
    }
    if read_resource(turn.settings, form)? != grant.resource {
        let text = "resource is not that of the grant";
        return Err(OAuthError::new("invalid_target", text));
    }
    let mut scopes = read_scopes(turn.settings, form)?;
    if scopes.iter().any(|scope| !grant.scopes.contains(scope)) {
        let text = "a scope was not granted";
        return Err(OAuthError::new("invalid_scope", text));
    }
    if scopes.is_empty() {
        scopes.clone_from(&grant.scopes);
    }
    if let Some(kept) = turn.state.refresh_tokens.get_mut(sent) {
        kept.is_used = true;
    }
    let mut body = access_token(turn, &id, &grant, &scopes, key.as_deref());
    body["refresh_token"] = refresh_token(turn, &id).into();
    Ok(body)
}
