//! The settings of an authorization server.

use alloc::string::String;
use alloc::vec::Vec;

use super::provider::Provider;
use crate::Scopes;

/// The settings of an [`AuthorizationServer`](super::AuthorizationServer). Times are in seconds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoginSettings {
    /// The URL of the MCP server, which tokens are for.
    pub resource: String,
    /// The issuer, with the endpoints below it; by default the origin of the resource.
    pub issuer: Option<String>,
    /// The name of the MCP server on the consent page and in the metadata of the resource; by default the page
    /// shows its URL.
    pub name: Option<String>,
    /// The scopes that every token of this server has, whichever its client asks for.
    pub required_scopes: Scopes,
    /// The scopes that clients may ask for in addition. A client that asks for no scope receives all of them.
    pub scopes: Scopes,
    /// The provider that users log in at.
    pub provider: Provider,
    /// Lets clients register themselves (RFC 7591); true by default.
    pub registration: bool,
    /// Accepts the URL of a metadata document as a client id; true by default.
    pub client_documents: bool,
    /// The hosts that clients may receive codes at, in addition to programs on the user's device; every host
    /// by default.
    pub redirect_hosts: Option<Vec<String>>,
    /// The lifetime of a registration; 366 days by default.
    pub registration_lifetime: u64,
    /// The lifetime of an access token; 600 by default, which is the most.
    pub access_lifetime: u64,
    /// The time without use after which a login ends; 30 days by default.
    pub login_lifetime: u64,
    /// Offers on the consent page to ask no more about the same client, redirect URI and scopes in the same browser,
    /// for so long. `None` by default: every login asks.
    ///
    /// It spares the question only to the same user at the provider, if the client names the resource, and if the
    /// browser says in `Sec-Fetch-Site` that none of its pages has led here. It also says so of a link in a mail or a
    /// chat, and of one that redirects here: a user who follows it completes a login that another party has begun, with a
    /// client and a redirect URI that the user has allowed. A malicious program on the user's computer can then obtain
    /// what the client may; so can a malicious server, from a client that does not check the `iss` of responses.
    pub remember_consent: Option<u64>,
}

impl LoginSettings {
    /// The settings of an MCP server at this URL, whose users log in at this provider.
    pub fn new(resource: impl Into<String>, provider: Provider) -> Self {
        Self {
            resource: resource.into(),
            issuer: None,
            name: None,
            required_scopes: Scopes::new(),
            scopes: Scopes::new(),
            provider,
            registration: true,
            client_documents: true,
            redirect_hosts: None,
            registration_lifetime: 366 * DAY,
            access_lifetime: MAX_ACCESS_LIFETIME,
            login_lifetime: 30 * DAY,
            remember_consent: None,
        }
    }

    /// Returns the scopes that tokens may have.
    pub(super) fn all_scopes(&self) -> Scopes {
        self.required_scopes.union(&self.scopes)
    }
}

const DAY: u64 = 86_400;

/// The seconds for which an access token lasts at most.
pub(super) const MAX_ACCESS_LIFETIME: u64 = 600;
