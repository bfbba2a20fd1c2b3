//! The identity of a client at an authorization server: registered before, by a metadata document,
//! or by dynamic registration.

use alloc::string::String;

use super::error::{AuthError, Problem};
use super::{Secret, ServerMetadata, UnixTime};

/// A client that was registered with an authorization server beforehand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreRegistered {
    /// The issuer with which it is registered. Without it
    /// [`AuthConfig::preferred_issuer`](super::AuthConfig::preferred_issuer) counts if there is a secret or a key; else the first issuer
    /// that is found, but never one without metadata, and for a secret only with
    /// [`AuthConfig::trust_named_issuer`](super::AuthConfig::trust_named_issuer) (AU-36, AU-45).
    pub issuer: Option<String>,
    /// The client id.
    pub client_id: String,
    /// The proof of the client's identity.
    pub proof: ClientProof,
}

/// The proof by which a client authenticates at the token endpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientProof {
    /// Not at all: a public client.
    Public,
    /// By a secret.
    Secret(Secret),
    /// By a signed assertion (RFC 7523).
    PrivateKey {
        /// The algorithm, such as `ES256`.
        algorithm: String,
        /// The `kid` of the key, if the server needs it.
        key_id: Option<String>,
    },
}

/// The ways to authenticate at the token endpoint (RFC 7591, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EndpointAuth {
    /// `none`: the client id alone, in the body.
    None,
    /// `client_secret_basic`: both, form-encoded, in the field `Authorization`.
    Basic,
    /// `client_secret_post`: both in the body.
    Post,
    /// `private_key_jwt`: a signed assertion in the body.
    PrivateKeyJwt,
}

impl EndpointAuth {
    const ALL: [Self; 4] = [Self::None, Self::Basic, Self::Post, Self::PrivateKeyJwt];

    /// The name of the method.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Basic => "client_secret_basic",
            Self::Post => "client_secret_post",
            Self::PrivateKeyJwt => "private_key_jwt",
        }
    }

    /// Returns the method of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|method| method.as_str() == name)
    }
}

/// The source of a client's id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IdentitySource {
    /// It was registered beforehand.
    PreRegistered,
    /// Its id is the URL of a metadata document, valid for every issuer.
    MetadataDocument,
    /// It registered itself (RFC 7591).
    Dynamic,
    /// The application or the user gave it when the flow asked for it.
    Given,
}

/// A client as one authorization server knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClientIdentity {
    /// The source of the client id.
    pub source: IdentitySource,
    /// The client id.
    pub client_id: String,
    /// The proof by which the client authenticates.
    pub proof: ClientProof,
    /// The time at which the secret expires; `None` for never.
    pub secret_expires_at: Option<UnixTime>,
    /// The method that the server registered.
    pub method: Option<EndpointAuth>,
    /// The redirect URI that was registered, of a client that registered itself or was given when
    /// the flow asked for it.
    pub redirect_uri: Option<String>,
}

impl ClientIdentity {
    pub(crate) fn pre_registered(client: &PreRegistered) -> Self {
        Self {
            source: IdentitySource::PreRegistered,
            client_id: client.client_id.clone(),
            proof: client.proof.clone(),
            secret_expires_at: None,
            method: None,
            redirect_uri: None,
        }
    }

    pub(crate) fn given(client: &PreRegistered, redirect_uri: &str) -> Self {
        Self {
            source: IdentitySource::Given,
            redirect_uri: Some(redirect_uri.into()),
            ..Self::pre_registered(client)
        }
    }

    pub(crate) fn metadata_document(url: &str, proof: &ClientProof) -> Self {
        Self {
            source: IdentitySource::MetadataDocument,
            client_id: url.into(),
            proof: proof.clone(),
            secret_expires_at: None,
            method: None,
            redirect_uri: None,
        }
    }

    /// Chooses how to authenticate (AU-49, AU-69): the method that the application forces, the
    /// registered one, or the first that the metadata lists and the client is able to use.
    ///
    /// # Errors
    ///
    /// [`AuthError`] if the client cannot use any.
    pub fn endpoint_auth(
        &self,
        metadata: &ServerMetadata,
        forced: Option<EndpointAuth>,
    ) -> Result<EndpointAuth, AuthError> {
        let algorithms = metadata.endpoint_auth_algorithms.as_ref();
        if let ClientProof::PrivateKey { algorithm, .. } = &self.proof
            && algorithms.is_some_and(|names| !names.contains(algorithm))
        {
            return Err(metadata.fail(Problem::Unsupported {
                member: "token_endpoint_auth_signing_alg_values_supported",
                expected: "the algorithm of the configured key",
            }));
        }
        if let Some(method) = forced.or(self.method) {
            return match self.can_use(method) {
                true => Ok(method),
                false => Err(metadata.fail(Problem::Missing("client_secret"))),
            };
        }
        let listed = metadata.endpoint_auth_methods.as_ref();
        let lists = |method: EndpointAuth| {
            listed.is_some_and(|names| names.iter().any(|name| name == method.as_str()))
        };
        let order: &[EndpointAuth] = match self.proof {
            ClientProof::Public => return Ok(EndpointAuth::None),
            ClientProof::PrivateKey { .. } => &[EndpointAuth::PrivateKeyJwt],
            ClientProof::Secret(_) => {
                &[EndpointAuth::Basic, EndpointAuth::Post, EndpointAuth::None]
            }
        };
        let first = order.iter().copied().find(|method| lists(*method));
        match (first, listed, order) {
            (Some(method), ..) => Ok(method),
            (None, None, [method, ..]) => Ok(*method),
            _ => Err(metadata.fail(Problem::Unsupported {
                member: "token_endpoint_auth_methods_supported",
                expected: "a method that the configured client can use",
            })),
        }
    }

    pub(super) const fn can_use(&self, method: EndpointAuth) -> bool {
        match method {
            EndpointAuth::None => true,
            EndpointAuth::Basic | EndpointAuth::Post => {
                matches!(self.proof, ClientProof::Secret(_))
            }
            EndpointAuth::PrivateKeyJwt => matches!(self.proof, ClientProof::PrivateKey { .. }),
        }
    }
}
