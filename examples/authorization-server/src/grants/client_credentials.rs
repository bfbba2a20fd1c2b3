use serde_json::Value;

use crate::Client;
use crate::client::Proof;
use crate::error::OAuthError;
use crate::form::Form;
use crate::server::Turn;
use crate::state::Grant;
use crate::token::{access_token, begin_grant, read_resource, read_scopes};

/// Issues a token to a client that acts for itself.
///
/// # Errors
///
/// The client has no secret and no key; the scope or the resource is not known.
pub(crate) fn client_credentials(
    turn: &mut Turn<'_>,
    form: &Form,
    client: &Client,
    key: Option<String>,
) -> Result<Value, OAuthError> {
    if matches!(client.proof, Proof::None) {
        let text = "a client without credentials cannot use this grant";
        return Err(OAuthError::new("unauthorized_client", text));
    }
    let grant = Grant {
        client: client.id.clone(),
        subject: client.id.clone(),
        scopes: read_scopes(turn.settings, form)?,
        resource: read_resource(turn.settings, form)?,
        key: None,
        is_revoked: false,
    };
    let id = begin_grant(turn, grant.clone());
    let body = access_token(turn, &id, &grant, &grant.scopes, key.as_deref());
    Ok(body)
}
