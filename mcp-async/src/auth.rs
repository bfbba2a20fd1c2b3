//! Authorization with OAuth 2.1 over HTTP: a client logs in, a server is protected.
//!
//! The rules are those of [`mcp_proto::auth`], which decides everything and performs no I/O. This
//! module adds HTTP, keys, storage and the user's browser.

#[cfg(feature = "http-client")]
pub use mcp_proto::auth::{
    AuthConfig, AuthError, AuthorizationPage, ClientProof, Credentials, EndpointAuth,
    EnterpriseGrant, PreRegistered, Scopes, Secret, Subject,
};

#[cfg(feature = "http-client")]
pub use crate::crypto::{KeyError, SigningKey};
#[cfg(feature = "http-client")]
pub use crate::error::AuthorizationError;
#[cfg(feature = "http-client")]
pub use crate::http::client::authorization::{
    Authorization, AuthorizationFuture, CredentialLock, CredentialStore, FileCredentialStore,
    MemoryCredentialStore, SystemBrowser, Terminal, UserAgent,
};
