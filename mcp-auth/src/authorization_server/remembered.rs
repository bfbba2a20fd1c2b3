//! Decisions of users that this server remembers, if they have asked it to.

use alloc::format;
use alloc::string::String;

use mcp_proto::http::{Field, Head};
use serde::{Deserialize, Serialize};

use super::client::without_loopback_port;
use super::context::LoginContext;
use super::records::AuthorizationRequest;
use super::response::RequestError;
use super::step::{LoginAction, LoginInput};
use crate::{Scopes, UnixTime};

/// A user has allowed a client, at a redirect URI, and wants to be asked no more in this browser.
#[derive(Serialize, Deserialize)]
pub(super) struct RememberedConsent {
    /// The user at the provider, who must be the one that logs in.
    pub(super) subject: String,
    pub(super) scopes: Scopes,
    pub(super) given: UnixTime,
}

impl RememberedConsent {
    /// Returns the name of the record: of the browser, the client and the redirect URI.
    pub(super) fn key(context: &LoginContext<'_>, request: &AuthorizationRequest) -> String {
        let (browser, client) = (&request.browser, &request.client_id);
        let redirect = &request.redirect_uri;
        let redirect = without_loopback_port(redirect).unwrap_or_else(|| redirect.clone());
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
        // No scopes are all that the server offers.
        let (mut asked, allowed) = (request.scopes.iter(), &consent.scopes);
        let has_all = match request.scopes.is_empty() {
            true => allowed.is_empty(),
            false => asked.all(|scope| allowed.contains(scope)),
        };
        (has_all && !context.has_passed(lifetime, consent.given)).then_some(consent.subject)
    }
}

/// The removal of a consent that was remembered.
pub(super) struct Forgetting {
    key: String,
    /// The number of times that the record may still be loaded.
    tries: u32,
}

impl Forgetting {
    /// Removes the consent for the browser, the client and the redirect URI of this request.
    pub(super) fn new(context: &LoginContext<'_>, request: &AuthorizationRequest) -> Self {
        Self {
            key: RememberedConsent::key(context, request),
            tries: TRIES,
        }
    }

    /// Returns the next action, and `None` when there is no consent any more.
    pub(super) fn advance(
        &mut self,
        input: LoginInput<'_>,
    ) -> Result<Option<LoginAction>, RequestError> {
        let key = self.key.clone();
        match input {
            LoginInput::Start | LoginInput::Written(false) if self.tries > 0 => {
                self.tries = self.tries.saturating_sub(1);
                let to_change = true;
                Ok(Some(LoginAction::Load { key, to_change }))
            }
            LoginInput::Record(Some((version, _))) => {
                Ok(Some(LoginAction::Remove { key, version }))
            }
            LoginInput::Record(None) | LoginInput::Written(true) => Ok(None),
            _ => Err(RequestError::UNAVAILABLE),
        }
    }
}

/// The most times that a record is loaded to be removed: other logins of the browser may change it meanwhile.
const TRIES: u32 = 8;

/// Returns true if no page of the browser has brought about a navigation: the user or another program has opened it. A
/// link in a mail or a chat, which may lead here by redirects, is opened by a program as well.
pub(super) fn is_opened_by_user(head: &dyn Head) -> bool {
    matches!(head.field("sec-fetch-site"), Field::One(b"none"))
}
