//! An authorization server: its checked settings, and what follows from them.

use alloc::format;
use alloc::string::String;

use mcp_proto::http::Head;

use super::endpoint::LoginEndpoint;
use super::settings::{LoginSettings, MAX_ACCESS_LIFETIME};
use crate::Uri;
use crate::resource::SettingsError;
use crate::server_metadata::check_endpoint;

/// An authorization server towards MCP clients, whose users log in at a [`Provider`](super::Provider): its settings, which
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
