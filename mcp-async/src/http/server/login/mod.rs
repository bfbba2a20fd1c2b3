//! Logins at a provider: the endpoints of the authorization server of [`mcp_auth::authorization_server`], in the same
//! service as the MCP server that its tokens are for.
//!
//! ```text
//! delegated_login    the settings                    provider_login    the provider's token, for handlers
//! login_server       drives the machines of the core               provider_cache   the provider's metadata
//! login_records      the store    login_file     a file in its place
//! login_client       requests to the provider and for documents                login_keys   sealing
//! ```

mod delegated_login;
mod login_client;
#[cfg(feature = "disk")]
mod login_file;
mod login_keys;
mod login_records;
mod login_server;
mod provider_cache;
mod provider_login;

pub use self::delegated_login::DelegatedLogin;
pub(super) use self::login_server::LoginServer;
pub use self::provider_login::ProviderLogin;
