//! The settings of an authorization server, and its endpoints.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use mcp_proto::http::Head;

use super::provider::Provider;
use crate::resource::SettingsError;
use crate::server_metadata::check_endpoint;
use crate::{Scopes, Uri};

/// The settings of an [`AuthorizationServer`]. Times are in seconds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LoginSettings {
    /// The URL of the MCP server, which tokens are for.
    pub resource: String,
    /// The issuer; the origin of the resource otherwise. Its endpoints are below it.
    pub issuer: Option<String>,
    /// The name of the MCP server on the consent page; its URL otherwise.
    pub name: Option<String>,
    /// The scopes that every token of this server has, whichever its client asks for.
    pub required_scopes: Scopes,
    /// The scopes that clients may ask for in addition. A client that asks for no scope receives all of them.
    pub scopes: Scopes,
    /// The provider that users log in at.
    pub provider: Provider,
    /// Lets clients register themselves (RFC 7591); true otherwise.
    pub registration: bool,
    /// Accepts the URL of a metadata document as a client id; true otherwise.
    pub client_documents: bool,
    /// The hosts that clients may receive codes at, in addition to programs on the user's device; every host
    /// otherwise.
    pub redirect_hosts: Option<Vec<String>>,
    /// The lifetime of a registration; a year otherwise.
    pub registration_lifetime: u64,
    /// The lifetime of an access token; 600 otherwise, which is the most.
    pub access_lifetime: u64,
    /// The time without use after which a login ends; 30 days otherwise.
    pub login_lifetime: u64,
    /// Offers on the consent page to ask no more about the same client, redirect URI and scopes in the same browser,
    /// for so long. `None` otherwise: every login asks.
    ///
    /// It spares the question only to the same user at the provider, if the client names the resource, and if the browser
    /// says in `Sec-Fetch-Site` that no page of the browser has led here. It also says so of a link in a mail or a chat,
    /// and of one that redirects here: a user who follows it completes a login that another party has begun, with a
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

const MAX_ACCESS_LIFETIME: u64 = 600;

/// An authorization server towards MCP clients, whose users log in at a [`Provider`]: its settings, which
/// never change.
#[derive(Clone, Debug)]
pub struct AuthorizationServer {
    pub(super) settings: LoginSettings,
    pub(super) issuer: String,
    /// Scheme, host and port of the issuer.
    pub(super) origin: String,
    /// The path of the issuer, without a slash at its end.
    prefix: String,
}

/// The endpoints of an authorization server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoginEndpoint {
    /// The metadata document (RFC 8414).
    Metadata,
    /// The registration of clients (RFC 7591).
    Register,
    /// The authorization endpoint, which answers with the consent page.
    Authorize,
    /// The answer of the user on the consent page.
    Consent,
    /// The return of the user from the provider.
    Callback,
    /// The token endpoint.
    Token,
    /// The revocation of tokens (RFC 7009).
    Revoke,
}

impl LoginEndpoint {
    const ALL: [Self; 7] = [
        Self::Metadata,
        Self::Register,
        Self::Authorize,
        Self::Consent,
        Self::Callback,
        Self::Token,
        Self::Revoke,
    ];

    /// Returns the method of requests, and the path below the issuer.
    pub(super) const fn route(self) -> (&'static str, &'static str) {
        match self {
            Self::Metadata => ("GET", "/.well-known/oauth-authorization-server"),
            Self::Register => ("POST", "/register"),
            Self::Authorize => ("GET", "/authorize"),
            Self::Consent => ("POST", "/consent"),
            Self::Callback => ("GET", "/callback"),
            Self::Token => ("POST", "/token"),
            Self::Revoke => ("POST", "/revoke"),
        }
    }

    /// Returns true if programs use it, also in pages of other origins; false if the user's browser shows it.
    pub const fn is_for_programs(self) -> bool {
        match self {
            Self::Metadata | Self::Register | Self::Token | Self::Revoke => true,
            Self::Authorize | Self::Consent | Self::Callback => false,
        }
    }
}

impl AuthorizationServer {
    /// Checks the settings.
    ///
    /// # Errors
    ///
    /// [`SettingsError`] for the first that is wrong.
    pub fn new(mut settings: LoginSettings) -> Result<Self, SettingsError> {
        check_endpoint("resource", &settings.resource).map_err(|_| SettingsError::Resource)?;
        let resource = Uri::parse(&settings.resource).map_err(|_| SettingsError::Resource)?;
        let issuer = settings.issuer.clone().unwrap_or_else(|| resource.origin());
        check_endpoint("issuer", &issuer).map_err(|_| SettingsError::Issuer)?;
        let uri = Uri::parse(&issuer).map_err(|_| SettingsError::Issuer)?;
        if uri.query().is_some() {
            return Err(SettingsError::Issuer);
        }
        if !settings.provider.is_sound() {
            return Err(SettingsError::Provider);
        }
        let lifetimes = [
            settings.access_lifetime,
            settings.login_lifetime,
            settings.registration_lifetime,
            settings.remember_consent.unwrap_or(1),
        ];
        if lifetimes.contains(&0) {
            return Err(SettingsError::Lifetime);
        }
        let (origin, prefix) = (uri.origin(), uri.path().trim_end_matches('/').into());
        settings.access_lifetime = settings.access_lifetime.min(MAX_ACCESS_LIFETIME);
        Ok(Self {
            settings,
            issuer,
            origin,
            prefix,
        })
    }

    /// Returns the issuer.
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Returns the settings.
    pub const fn settings(&self) -> &LoginSettings {
        &self.settings
    }

    /// Returns the endpoint that a request goes to; `None` if it goes elsewhere.
    pub fn endpoint(&self, head: &dyn Head) -> Option<LoginEndpoint> {
        let path = head.path();
        LoginEndpoint::ALL
            .into_iter()
            .filter(|endpoint| *endpoint != LoginEndpoint::Register || self.settings.registration)
            .find(|endpoint| {
                let (_, own) = endpoint.route();
                // The place of the metadata is before the path of the issuer (RFC 8414, section 3.1).
                match endpoint {
                    LoginEndpoint::Metadata => path.strip_prefix(own) == Some(&*self.prefix),
                    _ => path.strip_prefix(&*self.prefix) == Some(own),
                }
            })
    }

    /// Returns the URL that users come back to from the provider, which is registered there.
    pub fn callback_url(&self) -> String {
        self.url(LoginEndpoint::Callback)
    }

    /// Returns true if clients may receive codes at this URI.
    pub(super) fn allows_redirect(&self, redirect_uri: &str) -> bool {
        let hosts = self.settings.redirect_hosts.as_ref();
        let is_allowed = |uri: &Uri<'_>| {
            let is_host = |host: &String| host.eq_ignore_ascii_case(uri.host());
            uri.is_loopback() || hosts.is_none_or(|hosts| hosts.iter().any(is_host))
        };
        Uri::parse(redirect_uri).is_ok_and(|uri| is_allowed(&uri))
    }

    /// Returns the URL of an endpoint below the issuer.
    pub(super) fn url(&self, endpoint: LoginEndpoint) -> String {
        format!("{}{}{}", self.origin, self.prefix, endpoint.route().1)
    }
}
