//! Registration of clients (RFC 7591).

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use serde_json::{Value, json};
use url::Url;

use crate::answer;
use crate::client::{Client, Proof, is_loopback};
use crate::error::OAuthError;
use crate::secret;
use crate::server::Turn;
use crate::token::{CLIENT_CREDENTIALS, JWT_BEARER};

/// So many clients can register before the server is started again.
const MAX_CLIENTS: usize = 10_000;

/// Registers a client.
///
/// # Errors
///
/// `invalid_client_metadata` or `invalid_redirect_uri`.
pub(crate) fn answer(turn: &mut Turn<'_>, body: &[u8]) -> Result<Response<Bytes>, OAuthError> {
    let Ok(Value::Object(sent)) = serde_json::from_slice(body) else {
        return Err(wrong("the body is no JSON object"));
    };
    let sent = Value::Object(sent);
    if turn.state.clients.len() >= MAX_CLIENTS {
        return Err(wrong("too many clients have registered"));
    }
    let (id, secret) = (secret::random(), secret::random());
    let method = text(&sent, "token_endpoint_auth_method")?.unwrap_or("client_secret_basic");
    let proof = match method {
        "none" => Proof::None,
        "client_secret_basic" => Proof::Basic(secret.clone()),
        "client_secret_post" => Proof::Post(secret.clone()),
        "private_key_jwt" => match sent["jwks"]["keys"].as_array() {
            Some(keys) if !keys.is_empty() => Proof::Key(keys.clone()),
            _ => return Err(wrong("private_key_jwt needs jwks with a key")),
        },
        _ => return Err(wrong("token_endpoint_auth_method is not supported")),
    };
    let grants = texts(&sent, "grant_types")?;
    let known = [
        "authorization_code",
        "refresh_token",
        CLIENT_CREDENTIALS,
        JWT_BEARER,
    ];
    if grants.iter().any(|grant| !known.contains(&&**grant)) {
        return Err(wrong("one of grant_types is not supported"));
    }
    let mut client = Client::new(id, proof);
    client.grants = match grants.is_empty() {
        true => vec!["authorization_code".into()],
        false => grants,
    };
    client.redirects = texts(&sent, "redirect_uris")?;
    if client.may("authorization_code") {
        check_redirects(&sent, &client.redirects)?;
    }
    client.name = text(&sent, "client_name")?.map(String::from);
    client.dpop_bound = sent["dpop_bound_access_tokens"] == true;

    let mut registered = json!({
        "client_id": client.id,
        "client_id_issued_at": turn.now,
        "token_endpoint_auth_method": client.proof.method(),
        "grant_types": client.grants,
        "redirect_uris": client.redirects,
        "dpop_bound_access_tokens": client.dpop_bound,
    });
    for name in ["client_name", "application_type", "response_types", "scope"] {
        if let Some(value) = sent.get(name) {
            registered[name] = value.clone();
        }
    }
    if matches!(client.proof, Proof::Basic(_) | Proof::Post(_)) {
        registered["client_secret"] = secret.into();
        // It does not expire.
        registered["client_secret_expires_at"] = 0.into();
    }
    let id = client.id.clone();
    turn.state.clients.insert(id, Arc::new(client));
    Ok(answer::json(StatusCode::CREATED, &registered))
}

/// Addresses of `https`, or of `http` on loopback for what runs on the user's machine.
fn check_redirects(sent: &Value, uris: &[String]) -> Result<(), OAuthError> {
    let is_web = match text(sent, "application_type")? {
        None | Some("native") => false,
        Some("web") => true,
        Some(_) => return Err(wrong("application_type must be native or web")),
    };
    let wrong = |text: String| OAuthError::new("invalid_redirect_uri", text);
    if uris.is_empty() {
        return Err(wrong("redirect_uris is missing".into()));
    }
    for uri in uris {
        let url = Url::parse(uri).map_err(|_| wrong(format!("{uri} is no absolute URI")))?;
        if url.fragment().is_some() {
            return Err(wrong(format!("{uri} has a fragment")));
        }
        if is_web && is_loopback(&url) {
            return Err(wrong(format!("{uri} is for application_type native")));
        }
        if url.scheme() != "https" && !is_loopback(&url) {
            return Err(wrong(format!("{uri} is neither https nor loopback")));
        }
    }
    Ok(())
}

fn text<'s>(sent: &'s Value, name: &str) -> Result<Option<&'s str>, OAuthError> {
    match &sent[name] {
        Value::Null => Ok(None),
        Value::String(text) => Ok(Some(text)),
        _ => Err(wrong(format!("{name} is no string"))),
    }
}

fn texts(sent: &Value, name: &str) -> Result<Vec<String>, OAuthError> {
    let wrong = || wrong(format!("{name} is no array of strings"));
    match &sent[name] {
        Value::Null => Ok(Vec::new()),
        Value::Array(all) => all
            .iter()
            .map(|one| one.as_str().map(String::from).ok_or_else(wrong))
            .collect(),
        _ => Err(wrong()),
    }
}

fn wrong(text: impl Into<String>) -> OAuthError {
    OAuthError::new("invalid_client_metadata", text)
}
