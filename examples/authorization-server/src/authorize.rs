//! The authorization endpoint and the consent page.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use url::Url;

use crate::answer;
use crate::error::OAuthError;
use crate::form::Form;
use crate::server::Turn;
use crate::state::Code;
use crate::token::{read_resource, read_scopes};
use crate::{Client, Consent, consent, secret};

/// Codes last this many seconds.
const CODE_LIFETIME: u64 = 60;

/// An authorization request that has passed all checks.
#[derive(Clone, Debug)]
pub(crate) struct Authorization {
    pub(crate) client: Arc<Client>,
    /// The redirect URI as it was sent.
    pub(crate) redirect: String,
    pub(crate) state: Option<String>,
    pub(crate) challenge: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) resource: Option<String>,
    /// The `nonce` of OpenID Connect, for the ID token.
    pub(crate) nonce: Option<String>,
    /// The thumbprint of the key that must prove the token request.
    pub(crate) key: Option<String>,
    pub(crate) subject: String,
}

/// Answers an authorization request: a page, or a redirect with a code or an error.
pub(crate) fn begin(turn: &mut Turn<'_>, query: &[u8]) -> Response<Bytes> {
    let (form, client, redirect) = match identify(turn, query) {
        Ok(known) => known,
        // The browser is not sent to an address that no client has registered.
        Err(error) => return consent::refusal(&error.description),
    };
    let state = form.get("state").map(String::from);
    let authorization = match check(turn, &form, client, &redirect) {
        Ok(authorization) => authorization,
        Err(error) => {
            let parameters = [
                ("error", error.code),
                ("error_description", &error.description),
            ];
            return respond(turn, &redirect, state.as_deref(), &parameters);
        }
    };
    match turn.settings.consent {
        Consent::Allow => allow(turn, authorization),
        Consent::Deny => deny(turn, &authorization),
        Consent::Ask => {
            let handle = secret::random();
            let page = consent::page(&turn.url("/authorize"), &handle, &authorization);
            turn.state.pages.insert(handle, authorization);
            page
        }
    }
}

/// Answers what the user chose on the page.
pub(crate) fn decide(turn: &mut Turn<'_>, body: &[u8]) -> Response<Bytes> {
    let form = Form::parse(body).unwrap_or_else(|_| Form::empty());
    let handle = form.get("page").unwrap_or_default();
    let Some(authorization) = turn.state.pages.remove(handle) else {
        return consent::refusal("This page has been answered already.");
    };
    match form.get("decision") {
        Some("allow") => allow(turn, authorization),
        _ => deny(turn, &authorization),
    }
}

/// The client and its redirect URI, which an error is sent to.
fn identify(turn: &Turn<'_>, query: &[u8]) -> Result<(Form, Arc<Client>, String), OAuthError> {
    let form = Form::parse(query)?;
    let client = turn.state.client(form.require("client_id")?)?;
    let redirect = match (form.get("redirect_uri"), &*client.redirects) {
        (Some(uri), _) if client.is_redirect(uri) => uri.to_owned(),
        (None, [only]) => only.clone(),
        (None, _) => return Err(OAuthError::invalid_request("redirect_uri is missing")),
        (Some(_), _) => {
            let text = "redirect_uri is not one that the client has registered";
            return Err(OAuthError::invalid_request(text));
        }
    };
    Ok((form, client, redirect))
}

fn check(
    turn: &Turn<'_>,
    form: &Form,
    client: Arc<Client>,
    redirect: &str,
) -> Result<Authorization, OAuthError> {
    if !client.may("authorization_code") {
        let text = "the client is not registered for the code grant";
        return Err(OAuthError::new("unauthorized_client", text));
    }
    if form.require("response_type")? != "code" {
        let text = "response_type must be code";
        return Err(OAuthError::new("unsupported_response_type", text));
    }
    let challenge = form.require("code_challenge")?;
    if form.get("code_challenge_method") != Some("S256") {
        let text = "code_challenge_method must be S256";
        return Err(OAuthError::invalid_request(text));
    }
    // 32 bytes in base64url.
    if challenge.len() != 43 {
        let text = "code_challenge is no SHA-256 in base64url";
        return Err(OAuthError::invalid_request(text));
    }
    Ok(Authorization {
        redirect: redirect.into(),
        state: form.get("state").map(String::from),
        challenge: challenge.into(),
        scopes: read_scopes(turn.settings, form)?,
        resource: read_resource(turn.settings, form)?,
        nonce: form.get("nonce").map(String::from),
        key: form.get("dpop_jkt").map(String::from),
        subject: turn.settings.user.clone(),
        client,
    })
}

fn allow(turn: &mut Turn<'_>, authorization: Authorization) -> Response<Bytes> {
    let code = secret::random();
    let (redirect, state) = (authorization.redirect.clone(), authorization.state.clone());
    let expires_at = turn.now + CODE_LIFETIME;
    let kept = Code {
        authorization,
        expires_at,
        grant: None,
    };
    turn.state.codes.insert(code.clone(), kept);
    respond(turn, &redirect, state.as_deref(), &[("code", &code)])
}

fn deny(turn: &Turn<'_>, authorization: &Authorization) -> Response<Bytes> {
    let parameters = [
        ("error", "access_denied"),
        ("error_description", "the user denied the request"),
    ];
    let state = authorization.state.as_deref();
    respond(turn, &authorization.redirect, state, &parameters)
}

/// Sends the browser back to the client.
fn respond(
    turn: &Turn<'_>,
    redirect: &str,
    state: Option<&str>,
    parameters: &[(&str, &str)],
) -> Response<Bytes> {
    let Ok(mut url) = Url::parse(redirect) else {
        return answer::empty(StatusCode::BAD_REQUEST);
    };
    let issuer = turn.settings.has_issuer_parameter;
    url.query_pairs_mut()
        .extend_pairs(parameters)
        .extend_pairs(state.map(|state| ("state", state)))
        .extend_pairs(issuer.then_some(("iss", &*turn.settings.issuer)));
    answer::redirect(url.as_str())
}
