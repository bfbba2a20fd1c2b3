//! Decisions of users that this server remembers, if they have asked it to.

use alloc::format;
use alloc::string::String;

use mcp_proto::http::{Field, Head};
use serde::{Deserialize, Serialize};

use super::context::LoginContext;
use super::records::AuthorizationRequest;
use crate::{Scopes, UnixTime, Uri};

/// A user has allowed a client, at a redirect URI, and wants to be asked no more in this browser.
#[derive(Serialize, Deserialize)]
pub(super) struct RememberedConsent {
    /// The user at the provider, who must be the one that logs in.
    pub(super) subject: String,
    pub(super) scopes: Scopes,
    pub(super) expires: UnixTime,
}

impl RememberedConsent {
    /// The name of the record: of the browser, the client and the redirect URI.
    pub(super) fn key(context: &LoginContext<'_>, request: &AuthorizationRequest) -> String {
        let (browser, client) = (&request.browser, &request.client_id);
        let redirect = without_loopback_port(&request.redirect_uri);
        let id = context.hash(&format!("{browser} {client} {redirect}"));
        format!("login consent {id}")
    }

    /// Returns the user, if the record spares them the question.
    pub(super) fn open(
        context: &LoginContext<'_>,
        request: &AuthorizationRequest,
        record: &[u8],
    ) -> Option<String> {
        let lifetime = context.server.settings.remember_consent?;
        let consent: Self = context.open(&Self::key(context, request), record)?;
        let has_all = request
            .scopes
            .iter()
            .all(|scope| consent.scopes.contains(scope));
        (has_all && !context.is_over(consent.expires, lifetime)).then_some(consent.subject)
    }
}

/// Returns true if no page has brought about a navigation: the user or a program of theirs has opened it.
pub(super) fn is_opened_by_user(head: &dyn Head) -> bool {
    matches!(head.field("sec-fetch-site"), Field::One(b"none"))
}

/// Native clients listen on another port each time (RFC 8252, section 7.3).
fn without_loopback_port(redirect_uri: &str) -> String {
    match Uri::parse(redirect_uri) {
        Ok(uri) if uri.is_loopback() && !uri.is_https() => {
            let query = uri.query().unwrap_or_default();
            format!("http://{}{}?{query}", uri.host(), uri.path())
        }
        _ => redirect_uri.into(),
    }
}
