//! The provider that users log in at.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::{AuthError, Document, Problem, printable};
use crate::server_metadata::check_endpoint;
use crate::{
    ClientIdentity, ClientProof, EndpointAuth, PreRegistered, Scopes, Secret, ServerMetadata, Uri,
};

/// A provider that users log in at, and this server's registration with it.
///
/// The functions below have the settings of known providers; each field may be changed afterwards.
///
/// ```
/// use mcp_auth::authorization_server::Provider;
/// use mcp_auth::Scopes;
///
/// let provider = Provider {
///     scopes: Scopes::parse("read:user repo"),
///     ..Provider::github("Iv1.8a61f9b3a7aba766", "secret")
/// };
/// # let _ = provider;
/// ```
#[derive(Clone, Debug)]
pub struct Provider {
    /// The issuer, which names the users together with their subjects.
    pub issuer: String,
    /// The name that the consent page shows.
    pub name: String,
    /// The client id of this server at the provider.
    pub client_id: String,
    /// The client secret; `None` for a public client.
    pub client_secret: Option<Secret>,
    /// The method of authentication at the token endpoint, in place of the one that the metadata lists.
    pub endpoint_auth: Option<EndpointAuth>,
    /// The scopes that the user is asked for at the provider.
    pub scopes: Scopes,
    /// The way in which the user becomes known.
    pub user: UserSource,
    /// The endpoints of a provider without metadata. Without them they are read from the document of
    /// OpenID Connect Discovery.
    pub endpoints: Option<ServerMetadata>,
    /// The resource that tokens are asked for (RFC 8707), if the provider knows the parameter.
    pub resource: Option<String>,
    /// Further parameters of the authorization request.
    pub parameters: Vec<(String, String)>,
    /// The issuer of the metadata and of ID tokens, if it is not `issuer`: `{tenantid}` in it stands for the
    /// tenant, which an ID token names in `tid`. The subject of a user is then `tenant/subject`, because each tenant
    /// has subjects of its own.
    pub tenant_issuer: Option<String>,
}

/// The way in which the user of a login becomes known.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UserSource {
    /// By the ID token of OpenID Connect.
    IdToken,
    /// By a document about the owner of the access token, for providers without OpenID Connect.
    Document {
        /// The URL of the document.
        url: String,
        /// The member with the identifier, a string or a number.
        subject: &'static str,
        /// The member with the name.
        name: &'static str,
    },
}

impl Provider {
    /// A provider with OpenID Connect Discovery, such as Auth0, Keycloak or Okta.
    pub fn oidc(
        issuer: impl Into<String>,
        client_id: impl Into<String>,
        client_secret: impl Into<String>,
    ) -> Self {
        let issuer = issuer.into();
        Self {
            name: Uri::parse(&issuer).map_or_else(|_| issuer.clone(), |uri| uri.host().to_owned()),
            issuer,
            client_id: client_id.into(),
            client_secret: Some(Secret::from(client_secret.into())),
            endpoint_auth: None,
            scopes: Scopes::parse("openid profile email"),
            user: UserSource::IdToken,
            endpoints: None,
            resource: None,
            parameters: Vec::new(),
            tenant_issuer: None,
        }
    }

    /// GitHub. It has no OpenID Connect: its API says who the user is. An OAuth app has tokens that do not
    /// expire, a GitHub app such that are refreshed.
    pub fn github(client_id: impl Into<String>, client_secret: impl Into<String>) -> Self {
        let issuer = "https://github.com/login/oauth";
        Self {
            name: "GitHub".to_owned(),
            endpoint_auth: Some(EndpointAuth::Post),
            scopes: Scopes::parse("read:user"),
            user: UserSource::Document {
                url: "https://api.github.com/user".to_owned(),
                subject: "id",
                name: "login",
            },
            endpoints: Some(ServerMetadata::of_endpoints(
                issuer,
                "https://github.com/login/oauth/authorize",
                "https://github.com/login/oauth/access_token",
            )),
            ..Self::oidc(issuer, client_id, client_secret)
        }
    }

    /// Google. It is asked for a refresh token, which it gives with a consent only.
    pub fn google(client_id: impl Into<String>, client_secret: impl Into<String>) -> Self {
        let offline = [("access_type", "offline"), ("prompt", "consent")];
        let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        Self {
            name: "Google".to_owned(),
            parameters: offline.map(owned).into(),
            ..Self::oidc("https://accounts.google.com", client_id, client_secret)
        }
    }

    /// Microsoft Entra ID, in the second version of its endpoints, which refuse `resource`. The tenant is the id of
    /// one, or `common` or `organizations` for the users of many.
    pub fn entra(
        tenant: &str,
        client_id: impl Into<String>,
        client_secret: impl Into<String>,
    ) -> Self {
        let issuer = format!("https://login.microsoftonline.com/{tenant}/v2.0");
        let is_many = matches!(tenant, "common" | "organizations");
        Self {
            name: "Microsoft".to_owned(),
            scopes: Scopes::parse("openid profile email offline_access"),
            tenant_issuer: is_many.then(|| issuer.replace(tenant, TENANT)),
            ..Self::oidc(issuer, client_id, client_secret)
        }
    }

    /// Returns the URL of the metadata document; `None` if the endpoints are known without it.
    pub fn metadata_url(&self) -> Option<String> {
        let issuer = self.issuer.trim_end_matches('/');
        match self.endpoints {
            Some(_) => None,
            None => Some(format!("{issuer}/.well-known/openid-configuration")),
        }
    }

    /// Reads the metadata document that came from [`metadata_url`](Self::metadata_url).
    ///
    /// # Errors
    ///
    /// [`AuthError`] if it is no such document, or that of another issuer.
    pub fn read_metadata(&self, url: &str, body: &[u8]) -> Result<ServerMetadata, AuthError> {
        let metadata = ServerMetadata::read(url, body)?;
        let missing = || AuthError::new(Document::ServerMetadata, url, Problem::NotFound);
        let mut metadata = metadata.ok_or_else(missing)?;
        metadata.check_issuer(self.tenant_issuer.as_ref().unwrap_or(&self.issuer))?;
        metadata.issuer.clone_from(&self.issuer);
        metadata.authorization_endpoint()?;
        metadata.token_endpoint()?;
        Ok(metadata)
    }

    /// Returns the URLs that the operator has named.
    pub fn urls(&self) -> impl Iterator<Item = &str> {
        let user = match &self.user {
            UserSource::IdToken => None,
            UserSource::Document { url, .. } => Some(url),
        };
        let endpoints = self.endpoints.as_ref();
        [
            Some(&self.issuer),
            user,
            endpoints.and_then(|it| it.authorization_endpoint.as_ref()),
            endpoints.and_then(|it| it.token_endpoint.as_ref()),
        ]
        .into_iter()
        .flatten()
        .map(String::as_str)
    }

    /// Checks the URLs.
    pub(super) fn is_sound(&self) -> bool {
        let endpoints = self.endpoints.as_ref();
        self.urls()
            .all(|url| check_endpoint("provider", url).is_ok())
            && endpoints
                .is_none_or(|it| it.authorization_endpoint().is_ok() && it.token_endpoint().is_ok())
            && !self.client_id.is_empty()
    }

    /// This server as the provider knows it, and the method by which it authenticates.
    pub(super) fn client(
        &self,
        metadata: &ServerMetadata,
    ) -> Result<(ClientIdentity, EndpointAuth), AuthError> {
        let identity = ClientIdentity::pre_registered(&PreRegistered {
            issuer: Some(self.issuer.clone()),
            client_id: self.client_id.clone(),
            proof: match &self.client_secret {
                Some(secret) => ClientProof::Secret(secret.clone()),
                None => ClientProof::Public,
            },
        });
        let method = identity.endpoint_auth(metadata, self.endpoint_auth)?;
        Ok((identity, method))
    }

    /// Returns the user whom an ID token names, by its subject and its tenant.
    pub(super) fn subject(&self, subject: &str, tenant: Option<&str>) -> String {
        match (&self.tenant_issuer, tenant) {
            (Some(_), Some(tenant)) => format!("{tenant}/{subject}"),
            _ => subject.to_owned(),
        }
    }

    /// Checks the issuer of an ID token, whose tenant is `tenant`.
    pub(super) fn check_issuer(
        &self,
        issuer: Option<&str>,
        tenant: Option<&str>,
    ) -> Result<(), Problem> {
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        let expected = match &self.tenant_issuer {
            Some(issuer) => {
                let tenant = tenant.filter(|tenant| tenant.bytes().all(is_digit));
                issuer.replace(TENANT, tenant.ok_or(Problem::Missing("tid"))?)
            }
            None => self.issuer.clone(),
        };
        let issuer = issuer.ok_or(Problem::Missing("iss"))?;
        match issuer == expected {
            true => Ok(()),
            false => Err(Problem::Mismatch {
                member: "iss",
                expected: printable(&expected, 300),
                found: printable(issuer, 300),
            }),
        }
    }
}

/// The place of the tenant in the issuer of metadata for many tenants.
const TENANT: &str = "{tenantid}";

/// The tokens of the provider for one login.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProviderToken {
    /// The access token, for requests to the provider's API and to no other.
    pub access_token: Secret,
    /// The scopes that the provider has granted.
    pub scopes: Scopes,
}
