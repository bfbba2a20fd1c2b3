//! Requests to the provider, and what its responses say.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::context::LoginContext;
use super::provider::UserSource;
use super::records::{PendingLogin, ProviderRecord};
use crate::document::DocumentReader;
use crate::error::{AuthError, Document, Problem, printable};
use crate::grants::{redeem_code, refresh};
use crate::oauth_error::oauth_error;
use crate::resource::{DenialReason, Jws, TokenClaims};
use crate::token::{ExpectedToken, TokenParameters, TokenResponse, token_request};
use crate::{CodeVerifier, HttpRequest, HttpResponse, Scopes, Secret, ServerMetadata};

/// The user of a login, as the provider names them.
pub(super) struct User {
    pub(super) subject: String,
    pub(super) name: Option<String>,
}

/// Returns the request that exchanges the provider's code.
pub(super) fn code_request(
    context: &LoginContext<'_>,
    login: &PendingLogin,
    code: &Secret,
) -> Result<HttpRequest, AuthError> {
    let provider = &context.server.settings.provider;
    let callback = context.server.callback_url();
    let verifier = CodeVerifier::stored(&login.verifier);
    let resource = provider.resource.as_deref();
    request(context, &redeem_code(&callback, code, &verifier, resource))
}

/// Returns the request for new tokens.
pub(super) fn refresh_request(
    context: &LoginContext<'_>,
    tokens: &ProviderRecord,
    refresh_token: &str,
) -> Result<HttpRequest, AuthError> {
    let provider = &context.server.settings.provider;
    let token = Secret::from(refresh_token);
    let parameters = refresh(&token, provider.resource.as_deref(), &tokens.scopes);
    request(context, &parameters)
}

/// Returns the request for the document about the owner of an access token; `None` for providers that have none.
pub(super) fn user_request(context: &LoginContext<'_>, access_token: &str) -> Option<HttpRequest> {
    let UserSource::Document { url, .. } = &context.server.settings.provider.user else {
        return None;
    };
    let mut request = HttpRequest::get(Document::User, url.clone());
    request.max_redirects = 0;
    let authorization = Secret::from(format!("Bearer {access_token}"));
    request.headers.push(("authorization", authorization));
    // The API of GitHub demands it.
    request
        .headers
        .push(("user-agent", Secret::from("mcp-auth")));
    Some(request)
}

fn request(
    context: &LoginContext<'_>,
    parameters: &TokenParameters,
) -> Result<HttpRequest, AuthError> {
    let metadata = metadata(context)?;
    let (client, method) = context.server.settings.provider.client(metadata)?;
    Ok(token_request(
        Document::TokenResponse,
        metadata.token_endpoint()?,
        parameters,
        Some((&client, method)),
        None,
    ))
}

pub(super) fn metadata<'c>(context: &LoginContext<'c>) -> Result<&'c ServerMetadata, AuthError> {
    context.provider.ok_or_else(|| {
        let url = &context.server.settings.provider.issuer;
        AuthError::new(Document::ServerMetadata, url, Problem::NotFound)
    })
}

/// Reads the response to a request for tokens. `before` are the tokens that it replaces, some of which a provider
/// may leave out; `secrets` are not shown in errors.
pub(super) fn read_tokens(
    context: &LoginContext<'_>,
    response: &HttpResponse<'_>,
    before: Option<&ProviderRecord>,
    secrets: &[Secret],
) -> Result<ProviderRecord, AuthError> {
    let provider = &context.server.settings.provider;
    let url = metadata(context)?.token_endpoint()?;
    let expected = ExpectedToken::Access {
        dpop: false,
        dpop_required: false,
    };
    let document = Document::TokenResponse;
    let token = TokenResponse::read(document, url, response, expected, secrets)?;
    let scopes = match before {
        Some(before) => before.scopes.clone(),
        None => provider.scopes.clone(),
    };
    let kept = before.and_then(|before| before.refresh_token.clone());
    let refresh_token = token.refresh_token.map(|it| it.expose().to_owned());
    let refresh_token = refresh_token.or(kept);
    // The provider cannot confirm the login later (AU-14).
    let is_final = refresh_token.is_none() && provider.user == UserSource::IdToken;
    let lifetime = token.expires_in.or(is_final.then_some(UNSTATED));
    Ok(ProviderRecord {
        access_token: token.access_token.expose().to_owned(),
        refresh_token,
        expires: lifetime.map(|seconds| context.after(seconds)),
        // GitHub separates them by commas.
        scopes: token.scopes.map_or(scopes, |granted| {
            Scopes::parse(&granted.to_string().replace(',', " "))
        }),
    })
}

/// The lifetime of a token that ends a login, in seconds, if the provider states none.
const UNSTATED: u64 = 3_600;

/// Reads the user from the ID token of a token response. It came from the token endpoint over TLS, so that the
/// signature need not be verified (OpenID Connect Core, section 3.1.3.7, rule 6).
pub(super) fn read_id_token(
    context: &LoginContext<'_>,
    response: &HttpResponse<'_>,
    nonce: &str,
) -> Result<User, AuthError> {
    let provider = &context.server.settings.provider;
    let metadata = metadata(context)?;
    let url = metadata.token_endpoint()?;
    let fail = |problem| AuthError::new(Document::IdToken, url, problem);
    let reader = DocumentReader::new(Document::TokenResponse, url, response.body)?;
    let token = reader.stored_text("id_token")?;
    let token = token.ok_or_else(|| fail(Problem::Missing("id_token")))?;
    let jws = Jws::parse(&token).map_err(|_| fail(Problem::Malformed("id_token")))?;
    let claims = TokenClaims::read(jws.payload()).map_err(|reason| match reason {
        DenialReason::Claim(name) => fail(Problem::Malformed(name)),
        _ => fail(Problem::Malformed("id_token")),
    })?;
    let text = |name| claims.get::<String>(name).ok().flatten();
    let tenant = text("tid");
    let checked = provider.check_issuer(claims.issuer(), tenant.as_deref());
    checked.map_err(fail)?;
    let mismatch = |member, expected: &str, found: &str| Problem::Mismatch {
        member,
        expected: printable(expected, 300),
        found: printable(found, 300),
    };
    let audience = claims.audience();
    let own = provider.client_id.as_str();
    if !audience.iter().any(|one| one == own) {
        return Err(fail(mismatch("aud", own, &audience.join(" "))));
    }
    // OpenID Connect Core, section 3.1.3.7, rules 4 and 5.
    match text("azp") {
        Some(party) if party != own => return Err(fail(mismatch("azp", own, &party))),
        None if audience.len() > 1 => return Err(fail(Problem::Missing("azp"))),
        _ => {}
    }
    let expires = claims.expires();
    let expires = expires.ok_or_else(|| fail(Problem::Missing("exp")))?;
    if expires.saturating_add(LEEWAY) <= context.now {
        return Err(fail(Problem::Expired));
    }
    match text("nonce") {
        Some(found) if Secret::from(nonce).matches(&found) => {}
        Some(_) => return Err(fail(mismatch("nonce", "the one that was sent", "another"))),
        None => return Err(fail(Problem::Missing("nonce"))),
    }
    let subject = claims.subject();
    let subject = subject.ok_or_else(|| fail(Problem::Missing("sub")))?;
    Ok(User {
        subject: provider.subject(subject, tenant.as_deref()),
        name: ["preferred_username", "email", "name"]
            .into_iter()
            .find_map(text),
    })
}

/// The seconds that clocks may differ.
const LEEWAY: u64 = 60;

/// Reads the subject of the ID token of a refresh, if there is one and users are known by it: it is the user of before
/// (OpenID Connect Core, section 12.2).
pub(super) fn read_subject(
    context: &LoginContext<'_>,
    response: &HttpResponse<'_>,
) -> Option<String> {
    let provider = &context.server.settings.provider;
    if provider.user != UserSource::IdToken {
        return None;
    }
    let reader = DocumentReader::new(Document::TokenResponse, "", response.body).ok()?;
    let token = reader.stored_text("id_token").ok()??;
    let subject = || {
        let claims = TokenClaims::read(Jws::parse(&token).ok()?.payload()).ok()?;
        let tenant: Option<String> = claims.get("tid").ok()?;
        Some(provider.subject(claims.subject()?, tenant.as_deref()))
    };
    // One that cannot be read names no user.
    Some(subject().unwrap_or_default())
}

/// Reads the user from the document about the owner of an access token.
pub(super) fn read_user(
    context: &LoginContext<'_>,
    response: &HttpResponse<'_>,
) -> Result<User, AuthError> {
    let UserSource::Document { url, subject, name } = &context.server.settings.provider.user else {
        return Err(AuthError::new(Document::User, "", Problem::NotFound));
    };
    let fail = |problem| AuthError::new(Document::User, url, problem);
    if response.status != 200 {
        return Err(fail(oauth_error(response, &Vec::new())));
    }
    let reader = DocumentReader::new(Document::User, url, response.body)?;
    let found = reader.text_or_number(subject)?;
    Ok(User {
        subject: found.ok_or_else(|| fail(Problem::Missing(subject)))?,
        name: reader.text(name)?,
    })
}
