//! Requests to a protected endpoint, and what their responses say of tokens.

use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_EXPOSE_HEADERS, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue,
    WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{Response, StatusCode};
use mcp_auth::UnixTime;
use mcp_auth::resource::{Denial, RequiredScopes};
use mcp_proto::rpc::{Incoming, Message, OwnedMessages, code};

use crate::connection::Text;
use crate::crypto::unix_now;
use crate::http::server::endpoint::HttpEndpoint;
use crate::http::server::messages::answer::{self, Answer};
use crate::http::server::messages::body::HttpBody;
use crate::http::server::messages::head::RequestHead;
use crate::http::server::processes::VerifiedToken;
use crate::http::server::protect::expiring::Expiring;
use crate::http::server::protect::guard::TokenGuard;
use crate::observe;
use crate::runtime::Sleep;
use crate::server::{Access, Principal};
use crate::shares::CallerId;

impl HttpEndpoint {
    /// Answers requests for the metadata document, from every origin and under every host (AU-16).
    pub(in crate::http::server) fn metadata(&self, parts: &Parts) -> Option<Answer> {
        let guard = self.options.guard.as_ref()?;
        let found = guard.resource.respond_metadata(&RequestHead(parts))?;
        let mut response = Response::new(match found.body {
            [] => HttpBody::empty(),
            body => HttpBody::full(Bytes::copy_from_slice(body)),
        });
        *response.status_mut() =
            StatusCode::from_u16(found.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        for (name, value) in found.fields {
            let name = HeaderName::from_static(name);
            response
                .headers_mut()
                .insert(name, HeaderValue::from_static(value));
        }
        Some(response)
    }

    /// Checks the token of an admitted request (AU-05), and keeps what it permits in the extensions
    /// of the request; the answer if it is refused.
    pub(in crate::http::server) async fn check_token(
        &self,
        guard: &TokenGuard,
        parts: &mut Parts,
    ) -> Option<Answer> {
        let url = self.published_url(guard, parts.uri.path());
        let checked = match parts.extensions.remove() {
            // The process that has verified it has used its proof, and keeps the nonce.
            Some(VerifiedToken(admission)) => Ok(admission),
            None => {
                let asker = CallerId::address(parts, &self.options.trusted_proxies);
                guard.check(parts, url.as_deref(), asker).await
            }
        };
        parts.extensions.remove::<Principal>();
        match checked {
            Ok(admission) => {
                if !guard.keeps_tokens {
                    parts.headers.remove(AUTHORIZATION);
                }
                let access = Access::new(Arc::clone(&guard.resource), admission);
                if let Some(admission) = access.admission() {
                    let principal = Principal::new(admission.claims.identity())
                        .with_claims(admission.claims.clone())
                        .with_shared_claims(Arc::clone(&access));
                    #[cfg(feature = "http-client")]
                    let principal = self.with_login(principal, &admission.claims);
                    parts.extensions.insert(principal);
                }
                parts.extensions.insert(access);
                None
            }
            Err(denial) => Some(refusal(&denial)),
        }
    }

    /// The URL that proofs state for one of the two endpoints of 2024-11-05; `None` for that of the
    /// resource.
    fn published_url(&self, guard: &TokenGuard, path: &str) -> Option<String> {
        self.http_sse_at(path)?;
        let resource = guard.resource.resource();
        let own = self.options.path.as_deref().unwrap_or_default();
        let before = resource.strip_suffix(own).unwrap_or(resource);
        Some(format!("{before}{path}"))
    }

    /// The refusal of a body with a request that needs scopes which the token lacks, before any of
    /// its requests is handled. The challenge names the scopes of all requests of a batch (AU-09).
    pub(in crate::http::server) fn missing_scopes(
        &self,
        parts: &Parts,
        body: &OwnedMessages<Text>,
    ) -> Option<Answer> {
        let guard = self.options.guard.as_ref()?;
        let Some(access) = parts.extensions.get::<Arc<Access>>() else {
            // Its token was not checked.
            return Some(answer::busy("the token was not checked"));
        };
        let caller = parts.extensions.get::<Principal>();
        let mut needed = RequiredScopes::NONE;
        let has_scopes = !guard.methods.is_empty() || self.server.inner.has_scopes();
        for incoming in has_scopes.then(|| body.messages()).into_iter().flatten() {
            if let Incoming::Message(Message::Request(request)) = incoming {
                let of_method = guard.scopes_of_method(&request.method.name().to_cow());
                let of_item = self.server.inner.scopes_of(&request, caller);
                needed = match of_method {
                    Some(scopes) => needed.union(scopes).union(&of_item),
                    None => needed.union(&of_item),
                };
            }
        }
        let denial = access.begin(needed).err()?;
        Some(refusal(&denial))
    }

    /// Completes the response to a request whose token was checked: the challenge of a handler, the
    /// nonce for the next proof, the end of a stream.
    pub(in crate::http::server) fn complete(&self, parts: &Parts, answer: &mut Answer) {
        let Some(access) = parts.extensions.get::<Arc<Access>>() else {
            return;
        };
        if let Some(denial) = access.take_denial()
            && answer.body().is_error()
        {
            *answer.status_mut() = status(&denial);
            challenge(answer.headers_mut(), &denial);
        }
        let Some(admission) = access.admission() else {
            return;
        };
        if let Some(nonce) = &admission.nonce {
            add_nonce(answer.headers_mut(), nonce);
        }
        let end = match admission.claims.expires() {
            Some(expires) => Some(expires.saturating_add(access.leeway())),
            None => admission.answer_until,
        };
        // A body that is complete does not have to end with the token.
        let Some(end) = end.filter(|_| answer.body().bytes().is_none()) else {
            return;
        };
        let left = end.as_secs().saturating_sub(now_secs());
        let end = Sleep::after(&self.runtime, Duration::from_secs(left));
        let body = core::mem::replace(answer.body_mut(), HttpBody::empty());
        *answer.body_mut() = body.map_events(|events| Expiring::new(events, end));
    }
}

fn now_secs() -> u64 {
    UnixTime::as_secs(unix_now())
}

/// The answer to a request that is refused.
fn refusal(denial: &Denial) -> Answer {
    observe::refused(denial);
    let text = denial.to_string();
    let status = status(denial);
    let mut answer = match status {
        _ if status.is_server_error() => answer::error(status, code::INTERNAL_ERROR, &text),
        _ => answer::error(status, code::INVALID_REQUEST, &text),
    };
    challenge(answer.headers_mut(), denial);
    answer
}

fn status(denial: &Denial) -> StatusCode {
    StatusCode::from_u16(denial.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

fn challenge(headers: &mut HeaderMap, denial: &Denial) {
    for challenge in denial.challenges() {
        if let Ok(challenge) = HeaderValue::try_from(challenge) {
            headers.append(WWW_AUTHENTICATE, challenge);
        }
    }
    if let Some(nonce) = denial.nonce() {
        add_nonce(headers, nonce);
    }
}

/// Sends a nonce, which pages may read if they may read anything.
fn add_nonce(headers: &mut HeaderMap, nonce: &str) {
    if let Ok(nonce) = HeaderValue::try_from(nonce) {
        headers.insert(DPOP_NONCE, nonce);
        headers.append(
            ACCESS_CONTROL_EXPOSE_HEADERS,
            HeaderValue::from_static("DPoP-Nonce"),
        );
    }
}

const DPOP_NONCE: HeaderName = HeaderName::from_static("dpop-nonce");
