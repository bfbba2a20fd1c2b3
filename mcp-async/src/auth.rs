//! Authorization with OAuth 2.1 over HTTP: a client logs in, a server is protected.
//!
//! The rules are those of [`mcp_auth`], which decides everything and performs no I/O. This
//! module adds HTTP, keys, storage and the user's browser.

pub use mcp_auth;
pub use mcp_auth::{Scopes, Secret, UnixTime};

// Clients.
#[cfg(feature = "http-client")]
pub use mcp_auth::{
    AuthConfig, AuthError, AuthorizationPage, ClientProof, Credentials, EndpointAuth,
    EnterpriseGrant, PreRegistered, Subject,
};

#[cfg(feature = "http-client")]
pub use crate::crypto::{KeyError, SigningKey};
#[cfg(feature = "http-client")]
pub use crate::error::AuthorizationError;
#[cfg(feature = "keyring")]
pub use crate::http::client::authorization::KeyringCredentialStore;
#[cfg(feature = "http-client")]
pub use crate::http::client::authorization::{
    Authorization, CredentialLock, CredentialStore, FileCredentialStore, MemoryCredentialStore,
    SystemBrowser, Terminal, UserAgent,
};

// Servers.
#[cfg(feature = "http-server")]
pub use mcp_auth::resource::{
    Algorithm, Algorithms, DpopUse, KeyFetchPolicy, ScopeHierarchy, TokenClaims,
};

#[cfg(all(feature = "http-server", feature = "http-client"))]
pub use mcp_auth::authorization_server::{
    LoginError, LoginSettings, Provider, ProviderToken, UserSource,
};

#[cfg(all(feature = "http-server", feature = "http-client"))]
pub use crate::http::server::login::{DelegatedLogin, ProviderLogin};
#[cfg(all(feature = "http-server", feature = "http-client"))]
pub use crate::http::server::protect::RemoteIntrospection;
#[cfg(feature = "http-server")]
pub use crate::http::server::protect::{
    Introspect, KeySource, Protection, StaticKeys, TokenVerifier,
};
