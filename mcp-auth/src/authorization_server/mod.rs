//! An authorization server for MCP clients whose users log in at a provider.
//!
//! Most providers that people use (GitHub, Google, Entra ID) do not let clients register themselves, so that an MCP
//! client cannot log in there. An MCP server can be the authorization server of its clients instead, and the one
//! client of the provider. This module has the rules for it.
//!
//! ```text
//! LoginExchange          one request to an endpoint    AccessCheck, ProviderTokenRequest   for the MCP server itself
//! authorize  consent  callback  token                  the endpoints, one machine each
//! renewal  provider_call                               the provider's tokens, its responses
//! approval  consent_page  remembered                  the way to the provider; the page; consents that are remembered
//! client  records  parameters  response  metadata      one message or record each
//! AuthorizationServer  LoginSettings  Provider         the settings
//! LoginContext  LoginStep                              cryptography and the time; what a machine asks for
//! ```
//!
//! # The login
//!
//! 1. A client registers itself, or its id is the URL of its metadata document. The id of a client that has registered
//!    itself is its registration, sealed: nothing is stored.
//! 2. It opens the authorization endpoint in the user's browser. Each request is answered with the consent page, which
//!    holds the request, sealed for this browser: the form counts only with the cookie that was set with it. A user may
//!    choose to be asked once, if the [settings](LoginSettings::remember_consent) offer it.
//! 3. After an approval the browser goes to the provider, with a `state`, a nonce and PKCE of this server. It must come
//!    back in the same browser: the approval of one user is of no use in the browser of another.
//! 4. The provider's code is exchanged, the user becomes known, and the client receives a code of this server: for one
//!    minute, for one use, for its redirect URI and its PKCE. A second use ends the login.
//! 5. The access tokens of this server last ten minutes at most. A refresh replaces the refresh token, and succeeds
//!    only if the provider confirms the login. A refresh token that was replaced ends the login, but for half a minute
//!    in which a client may repeat a refresh whose response was lost.
//!
//! The provider's tokens stay in the record of the login, sealed. A handler of the MCP server gets them by a
//! [`ProviderTokenRequest`].
//!
//! # The loop
//!
//! Everything is a [`LoginMachine`]. It states actions on a store and requests, and takes their results. Cryptography
//! is a trait, because its functions are called in the middle of a step:
//!
//! ```
//! use mcp_auth::authorization_server::{LoginAction, LoginContext, LoginInput, LoginMachine, LoginStep};
//!
//! /// What the caller brings: a store with versions, HTTP, and a timer.
//! trait Host {
//!     fn load(&mut self, key: &str, to_change: bool) -> Option<(u32, Vec<u8>)>;
//!     fn create(&mut self, key: String, record: Vec<u8>);
//!     fn save(&mut self, key: &str, version: u32, record: Vec<u8>) -> bool;
//!     fn remove(&mut self, key: &str, version: u32) -> bool;
//! }
//!
//! fn drive<M: LoginMachine>(mut machine: M, context: &LoginContext<'_>, host: &mut impl Host) -> M::Output {
//!     let mut step = machine.advance(context, LoginInput::Start);
//!     loop {
//!         step = match step {
//!             LoginStep::Done(output) => return output,
//!             LoginStep::Do(LoginAction::Load { key, to_change }) => {
//!                 let found = host.load(&key, to_change);
//!                 let found = found.as_ref().map(|(version, record)| (*version, record.as_slice()));
//!                 machine.advance(context, LoginInput::Record(found))
//!             }
//!             LoginStep::Do(LoginAction::Create { key, record, .. }) => {
//!                 host.create(key, record);
//!                 machine.advance(context, LoginInput::Written(true))
//!             }
//!             LoginStep::Do(LoginAction::Save { key, version, record, .. }) => {
//!                 let is_written = host.save(&key, version, record);
//!                 machine.advance(context, LoginInput::Written(is_written))
//!             }
//!             LoginStep::Do(LoginAction::Remove { key, version }) => {
//!                 let is_written = host.remove(&key, version);
//!                 machine.advance(context, LoginInput::Written(is_written))
//!             }
//!             // This host sends no requests, and does not wait.
//!             LoginStep::Do(_) => machine.advance(context, LoginInput::Failed("no network")),
//!         };
//!     }
//! }
//! ```

mod access;
mod approval;
mod authorize;
mod callback;
mod client;
mod consent;
mod consent_page;
mod context;
mod endpoint;
mod exchange;
mod metadata;
mod parameters;
mod provider;
mod provider_call;
mod records;
mod remembered;
mod renewal;
mod response;
mod server;
mod settings;
mod step;
mod token;

// The settings.
pub use endpoint::LoginEndpoint;
pub use provider::{Provider, UserSource};
pub use server::AuthorizationServer;
pub use settings::LoginSettings;

// The machines.
pub use access::{AccessCheck, LOGIN_CLAIM, ProviderTokenRequest};
pub use exchange::LoginExchange;

// Their steps and results.
pub use context::{LoginContext, LoginCrypto};
pub use provider::ProviderToken;
pub use renewal::LoginError;
pub use response::LoginResponse;
pub use step::{LoginAction, LoginInput, LoginMachine, LoginStep};
