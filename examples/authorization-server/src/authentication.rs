//! Authentication of clients at the token, introspection and revocation endpoints.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::Request;
use http::header::AUTHORIZATION;

use crate::Client;
use crate::client::Proof;
use crate::error::OAuthError;
use crate::form::Form;
use crate::jwt::Jwt;
use crate::server::Turn;

const ASSERTION_TYPE: &str = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
/// An assertion lasts at most this many seconds.
const MAX_ASSERTION_LIFETIME: u64 = 600;

/// The client of a request, which authenticates by the one method that it is registered with.
///
/// # Errors
///
/// `invalid_client`; `invalid_request` for two methods at once.
pub(crate) fn authenticate(
    turn: &mut Turn<'_>,
    request: &Request<Bytes>,
    form: &Form,
) -> Result<Arc<Client>, OAuthError> {
    let basic = basic(request)?;
    let assertion = form.get("client_assertion");
    let post = form.get("client_secret");
    let methods = [basic.is_some(), assertion.is_some(), post.is_some()];
    if methods.iter().filter(|used| **used).count() > 1 {
        let text = "the client authenticates in two ways at once";
        return Err(OAuthError::invalid_request(text));
    }
    let client = match (&basic, assertion) {
        (Some((id, secret)), _) => {
            let client = turn.state.client(id)?;
            require(&client, "client_secret_basic")?;
            require_secret(&client, secret)?;
            client
        }
        (None, Some(assertion)) => by_assertion(turn, form, assertion)?,
        (None, None) => {
            let client = turn.state.client(form.require("client_id")?)?;
            match post {
                Some(secret) => {
                    require(&client, "client_secret_post")?;
                    require_secret(&client, secret)?;
                }
                None => require(&client, "none")?,
            }
            client
        }
    };
    if form.get("client_id").is_some_and(|id| id != client.id) {
        let text = "client_id is not the client that authenticates";
        return Err(OAuthError::invalid_client(text));
    }
    Ok(client)
}

/// Id and secret of the header, both form-encoded before Base64 (RFC 6749, section 2.3.1).
fn basic(request: &Request<Bytes>) -> Result<Option<(String, String)>, OAuthError> {
    let Some(value) = request.headers().get(AUTHORIZATION) else {
        return Ok(None);
    };
    let wrong = || OAuthError::invalid_client("Authorization is no Basic credentials");
    let (scheme, text) = value
        .to_str()
        .ok()
        .and_then(|v| v.split_once(' '))
        .ok_or_else(wrong)?;
    if !scheme.eq_ignore_ascii_case("Basic") {
        return Err(wrong());
    }
    let bytes = STANDARD.decode(text.trim()).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let (id, secret) = text.split_once(':').ok_or_else(wrong)?;
    Ok(Some((decode(id), decode(secret))))
}

fn decode(text: &str) -> String {
    // A name without a value is decoded like one with a value.
    let mut pairs = url::form_urlencoded::parse(text.as_bytes());
    match pairs.next() {
        Some((name, value)) if value.is_empty() && !text.contains('=') => name.into_owned(),
        _ => text.to_owned(),
    }
}

fn by_assertion(
    turn: &mut Turn<'_>,
    form: &Form,
    assertion: &str,
) -> Result<Arc<Client>, OAuthError> {
    let wrong = |text: &str| OAuthError::invalid_client(format!("client_assertion: {text}"));
    if form.get("client_assertion_type") != Some(ASSERTION_TYPE) {
        return Err(wrong("client_assertion_type is not the one of JWTs"));
    }
    let jwt = Jwt::parse(assertion).ok_or_else(|| wrong("it is no JWT"))?;
    let id = jwt.claim("sub").ok_or_else(|| wrong("sub is missing"))?;
    let client = turn.state.client(id)?;
    let Proof::Key(keys) = &client.proof else {
        return Err(wrong("the client is not registered for private_key_jwt"));
    };
    let now = turn.now;
    let ends = jwt.claims["exp"].as_u64().unwrap_or(0);
    let checks = [
        (
            jwt.is_signed_by_any(keys),
            "no key of the client has signed it",
        ),
        (jwt.claim("iss") == Some(id), "iss is not the client"),
        // One string, so that the assertion is of no use at another server.
        (
            jwt.claim("aud") == Some(&turn.settings.issuer),
            "aud is not the issuer",
        ),
        (jwt.is_current(now, 0), "it has expired"),
        (ends <= now + MAX_ASSERTION_LIFETIME, "exp is too far ahead"),
    ];
    if let Some((_, text)) = checks.iter().find(|(holds, _)| !holds) {
        return Err(wrong(text));
    }
    let unique = jwt.claim("jti").ok_or_else(|| wrong("jti is missing"))?;
    let unique = format!("assertion {id} {unique}");
    if !turn.state.is_first_use(unique, now, ends) {
        return Err(wrong("it was used before"));
    }
    Ok(client)
}

fn require(client: &Client, method: &str) -> Result<(), OAuthError> {
    let registered = client.proof.method();
    match registered == method {
        true => Ok(()),
        false => {
            let text = format!("the client is registered for {registered}, not {method}");
            Err(OAuthError::invalid_client(text))
        }
    }
}

fn require_secret(client: &Client, secret: &str) -> Result<(), OAuthError> {
    match client.proof.is_secret(secret) {
        true => Ok(()),
        false => Err(OAuthError::invalid_client("the secret is wrong")),
    }
}
