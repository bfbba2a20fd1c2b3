//! The records that a store keeps, sealed: logins at the provider, and logins that are complete.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use super::context::LoginContext;
use crate::{Scopes, Secret, UnixTime};

/// An authorization request that has passed all checks, for the user's decision. It travels sealed in the form of
/// the consent page, so that nothing is stored for it.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct AuthorizationRequest {
    pub(super) client_id: String,
    pub(super) client_name: String,
    /// The redirect URI as it was sent.
    pub(super) redirect_uri: String,
    pub(super) state: Option<String>,
    /// That of PKCE.
    pub(super) challenge: String,
    pub(super) scopes: Scopes,
    /// The hash of the cookie of the browser that the page was shown in.
    pub(super) browser: String,
    /// True if the user may choose to be asked no more.
    pub(super) is_rememberable: bool,
    pub(super) expires: UnixTime,
}

impl AuthorizationRequest {
    /// The context of the sealed request in the form of the consent page.
    pub(super) const SEALED: &str = "consent";

    /// Returns true if the cookie is the one of the browser that the page was shown in.
    pub(super) fn is_of(&self, context: &LoginContext<'_>, cookie: Option<&str>) -> bool {
        let browser = cookie.map(|cookie| Secret::from(context.hash(cookie)));
        browser.is_some_and(|browser| browser.matches(&self.browser))
    }
}

/// The lifetime of a code, in seconds.
pub(super) const CODE_LIFETIME: u64 = 60;

/// The time for which a user may read the consent page, and may then take to log in, in seconds.
pub(super) const USER_TIME: u64 = 600;

/// The reason for which a user may log in at the provider.
#[derive(Serialize, Deserialize)]
pub(super) enum Decision {
    /// The user has allowed this login.
    Once,
    /// The user has allowed this login, and those that follow it.
    AndRemember,
    /// This user has allowed it before.
    Before { subject: String },
}

/// A user who has consented and logs in at the provider.
#[derive(Serialize, Deserialize)]
pub(super) struct PendingLogin {
    pub(super) request: Box<AuthorizationRequest>,
    pub(super) decision: Decision,
    /// The verifier of PKCE towards the provider.
    pub(super) verifier: String,
    pub(super) nonce: String,
    pub(super) expires: UnixTime,
}

impl PendingLogin {
    /// Returns the name of the record of a login with a `state` of this hash.
    pub(super) fn key(state: &str) -> String {
        format!("login pending {state}")
    }
}

/// A login: what was granted to the client, and what the provider has granted for it. With its record, all tokens
/// of the login end.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct LoginRecord {
    pub(super) client_id: String,
    pub(super) redirect_uri: String,
    /// That of PKCE; `None` when the code was used.
    pub(super) challenge: Option<String>,
    pub(super) scopes: Scopes,
    /// The user at the provider.
    pub(super) subject: String,
    pub(super) name: Option<String>,
    /// The number of the refresh token that is valid.
    pub(super) generation: u64,
    /// The time at which the code, or the refresh token that is valid, was issued.
    pub(super) issued: UnixTime,
    pub(super) provider: ProviderRecord,
    /// Set while a process asks the provider.
    pub(super) lease: Option<Lease>,
}

/// The tokens of the provider.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct ProviderRecord {
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    pub(super) expires: Option<UnixTime>,
    pub(super) scopes: Scopes,
}

/// The time for which one process alone asks the provider.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Lease {
    pub(super) id: String,
    pub(super) until: UnixTime,
}

impl LoginRecord {
    pub(super) fn key(login: &str) -> String {
        format!("login {login}")
    }
}

/// The kinds of sealed texts that name a login: the end of a code or an access token, or
/// the generation of a refresh token, and the id of the login.
pub(super) mod ticket {
    pub(crate) const CODE: &str = "code";
    pub(crate) const ACCESS: &str = "access token";
    pub(crate) const REFRESH: &str = "refresh token";
}
