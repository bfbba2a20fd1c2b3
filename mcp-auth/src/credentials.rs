//! The credentials that are kept between runs.

use alloc::string::String;

use super::document::DocumentReader;
use super::error::{AuthError, Document, Problem, printable};
use super::jwt::JsonText;
use super::{
    AuthConfig, ClientIdentity, ClientProof, EndpointAuth, IdentitySource, Scheme, Scopes, Secret,
    UnixTime,
};

/// The version of the record that this crate writes, and the only one that it reads.
const VERSION: u64 = 1;

/// The time before its end at which an access token is replaced, in seconds (AU-118).
const MARGIN: u64 = 30;

/// The credentials of a client for one MCP server at one authorization server.
///
/// [`to_json`](Self::to_json) contains secrets: it belongs in a keyring or in a file that only its
/// owner can read (AU-65). A store keeps records by [`server`](Self::server) and
/// [`issuer`](Self::issuer). `Debug` shows no secret.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Credentials {
    /// The name of the MCP server in a store: its canonical URL, or
    /// [`AuthConfig::record`](super::AuthConfig::record).
    pub server: String,
    /// The issuer that all secrets here belong to (AU-36).
    pub issuer: String,
    /// `resource` as it is sent, to the byte; `None` where it is left out.
    pub resource: Option<String>,
    /// The URL of the token endpoint.
    pub token_endpoint: String,
    /// The client.
    pub identity: ClientIdentity,
    /// The method by which the client authenticates at the token endpoint.
    pub endpoint_auth: EndpointAuth,
    /// The scopes that were asked for.
    pub requested: Scopes,
    /// The scopes that were granted.
    pub granted: Scopes,
    /// The access token.
    pub access_token: Secret,
    /// The scheme with which the access token is presented.
    pub scheme: Scheme,
    /// The time at which the access token expires; `None` if the server stated none.
    pub expires_at: Option<UnixTime>,
    /// The token for the next one.
    pub refresh_token: Option<Secret>,
    /// The key that the tokens are bound to: the text whose hash is its thumbprint.
    pub dpop_key: Option<String>,
}

impl Credentials {
    /// Returns true if the access token has expired or is about to.
    pub fn is_expired(&self, now: UnixTime) -> bool {
        self.expires_at
            .is_some_and(|end| now >= end.saturating_sub(MARGIN))
    }

    /// Returns the value of the field `Authorization` for requests to the MCP server, and to no
    /// other (AU-63).
    pub fn authorization(&self) -> Secret {
        let mut value = String::from(self.scheme.as_str());
        value.push(' ');
        value.push_str(self.access_token.expose());
        Secret::from(value)
    }

    /// Checks that the configured client can refresh the access token.
    pub(crate) fn check_refresh(&self, config: &AuthConfig) -> Result<(), AuthError> {
        let fail = |problem| AuthError::new(Document::Credentials, "", problem);
        if self.refresh_token.is_none() {
            return Err(fail(Problem::Missing("refresh_token")));
        }
        if self.server != config.record_name()? {
            return Err(fail(Problem::Malformed("server")));
        }
        if let Some(own) = config.own_issuer()
            && !config.is_same_issuer(&self.issuer, own)
        {
            return Err(fail(Problem::OtherIssuer {
                expected: printable(&self.issuer, 300),
                found: printable(own, 300),
            }));
        }
        let key = config.dpop.as_ref().map(|key| key.thumbprint_input());
        match self.scheme == Scheme::Dpop && self.dpop_key.as_deref() != key {
            true => Err(fail(Problem::Malformed("dpop_key"))),
            false => Ok(()),
        }
    }

    /// Encodes the record.
    pub fn to_json(&self) -> Secret {
        let identity = &self.identity;
        let (secret, algorithm, key_id) = match &identity.proof {
            ClientProof::Public => (None, None, None),
            ClientProof::Secret(secret) => (Some(secret.expose()), None, None),
            ClientProof::PrivateKey { algorithm, key_id } => {
                (None, Some(algorithm.as_str()), key_id.as_deref())
            }
        };
        let requested = alloc::format!("{}", self.requested);
        let granted = alloc::format!("{}", self.granted);
        let mut json = JsonText::new()
            .number("version", VERSION)
            .text("server", &self.server)
            .text("issuer", &self.issuer)
            .optional_text("resource", self.resource.as_deref())
            .text("token_endpoint", &self.token_endpoint)
            .text("identity", source_name(identity.source))
            .text("client_id", &identity.client_id)
            .optional_text("client_secret", secret)
            .optional_text("client_key_algorithm", algorithm)
            .optional_text("client_key_id", key_id)
            .optional_text("redirect_uri", identity.redirect_uri.as_deref())
            .optional_text(
                "registered_auth_method",
                identity.method.map(EndpointAuth::as_str),
            )
            .text("endpoint_auth_method", self.endpoint_auth.as_str())
            .text("requested_scope", &requested)
            .text("granted_scope", &granted)
            .text("access_token", self.access_token.expose())
            .text("token_type", self.scheme.as_str());
        for (name, time) in [
            ("client_secret_expires_at", identity.secret_expires_at),
            ("expires_at", self.expires_at),
        ] {
            if let Some(time) = time {
                json = json.number(name, time.as_secs());
            }
        }
        let refresh_token = self.refresh_token.as_ref().map(Secret::expose);
        let json = json
            .optional_text("refresh_token", refresh_token)
            .optional_text("dpop_key", self.dpop_key.as_deref())
            .end();
        Secret::from(json.into_string())
    }

    /// Decodes a record.
    ///
    /// # Errors
    ///
    /// [`AuthError`] for a record of another version, or one that was damaged.
    pub fn from_json(json: &[u8]) -> Result<Self, AuthError> {
        let record = DocumentReader::new(Document::Credentials, "", json)?;
        let malformed = |name| record.fail(Problem::Malformed(name));
        if record.seconds("version")? != Some(VERSION) {
            return Err(record.fail(Problem::Unsupported {
                member: "version",
                expected: "1",
            }));
        }
        let method = |name: &'static str| match record.text(name)? {
            None => Ok(None),
            Some(method) => EndpointAuth::from_name(&method)
                .map(Some)
                .ok_or_else(|| malformed(name)),
        };
        let scopes = |name| {
            let scopes = record.text(name)?.unwrap_or_default();
            Ok::<_, AuthError>(Scopes::parse(&scopes))
        };
        let secret = record.text("client_secret")?;
        let proof = match (record.text("client_key_algorithm")?, secret) {
            (Some(algorithm), _) => ClientProof::PrivateKey {
                algorithm,
                key_id: record.text("client_key_id")?,
            },
            (None, Some(secret)) => ClientProof::Secret(Secret::from(secret)),
            (None, None) => ClientProof::Public,
        };
        let source = record.required_text("identity")?;
        let expires = record.seconds("client_secret_expires_at")?;
        let scheme = record.required_text("token_type")?;
        let endpoint_auth = method("endpoint_auth_method")?;
        Ok(Self {
            server: record.required_text("server")?,
            issuer: record.required_text("issuer")?,
            resource: record.text("resource")?,
            token_endpoint: record.required_text("token_endpoint")?,
            identity: ClientIdentity {
                source: source_from(&source).ok_or_else(|| malformed("identity"))?,
                // A workload may have none.
                client_id: record.text("client_id")?.unwrap_or_default(),
                proof,
                secret_expires_at: expires.map(UnixTime::from_secs),
                method: method("registered_auth_method")?,
                redirect_uri: record.text("redirect_uri")?,
            },
            endpoint_auth: endpoint_auth.ok_or_else(|| malformed("endpoint_auth_method"))?,
            requested: scopes("requested_scope")?,
            granted: scopes("granted_scope")?,
            access_token: Secret::from(record.required_text("access_token")?),
            scheme: Scheme::from_name(&scheme).ok_or_else(|| malformed("token_type"))?,
            expires_at: record.seconds("expires_at")?.map(UnixTime::from_secs),
            refresh_token: record.text("refresh_token")?.map(Secret::from),
            dpop_key: record.text("dpop_key")?,
        })
    }
}

const SOURCES: [(IdentitySource, &str); 4] = [
    (IdentitySource::PreRegistered, "pre_registered"),
    (IdentitySource::MetadataDocument, "metadata_document"),
    (IdentitySource::Dynamic, "dynamic"),
    (IdentitySource::Given, "given"),
];

fn source_name(source: IdentitySource) -> &'static str {
    let mut sources = SOURCES.into_iter();
    let found = sources.find(|(other, _)| *other == source);
    found.map_or("", |(_, name)| name)
}

fn source_from(name: &str) -> Option<IdentitySource> {
    let mut sources = SOURCES.into_iter();
    let found = sources.find(|(_, other)| *other == name);
    found.map(|(source, _)| source)
}
