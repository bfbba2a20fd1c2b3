//! Protects an endpoint with access tokens: settings, the check of each request, and responses.
//!
//! ```text
//! protection    the settings             guard         checks tokens, fetches keys, asks verifiers
//! questions     their order
//! key_source, token_verifier             what the application provides
//! documents, introspection, fetch        the same over HTTP (feature http-client)
//! expiring      streams that end with the token
//! method_names  methods that may need scopes
//! ```

#[cfg(feature = "http-client")]
mod documents;
pub(super) mod expiring;
#[cfg(feature = "http-client")]
mod fetch;
pub(super) mod guard;
#[cfg(feature = "http-client")]
mod introspection;
pub(super) mod key_source;
mod method_names;
pub(super) mod protection;
pub(super) mod questions;
pub(super) mod token_verifier;

#[cfg(feature = "http-client")]
pub(super) use self::documents::host_of;
pub(super) use self::guard::TokenGuard;
#[cfg(feature = "http-client")]
pub use self::introspection::RemoteIntrospection;
pub use self::key_source::{KeySource, StaticKeys};
pub use self::protection::Protection;
pub use self::token_verifier::{Introspect, TokenVerifier};
