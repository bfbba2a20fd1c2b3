//! An authorization server for development and tests.
//!
//! It has one user, keeps everything in memory, and listens where its caller lets it listen. It is
//! strict where a product would be lenient, so that mistakes of clients show: `resource` must be the
//! same in all requests, a client uses the method that it is registered with, refresh tokens are
//! replaced, and what is used twice is revoked.
//!
//! | Path | What |
//! |---|---|
//! | `/.well-known/oauth-authorization-server`, `/.well-known/openid-configuration` | metadata |
//! | `/authorize` | code grant with PKCE (`S256` only), consent page, `iss` in the redirect |
//! | `/token` | code, refresh, client credentials, token exchange, assertions; DPoP |
//! | `/register` | registration of clients |
//! | `/jwks`, `/introspect`, `/revoke` | keys, introspection, revocation |
//!
//! Access tokens are JWTs (`at+jwt`) signed with ES256 or RS256. The program `login` shows a client that
//! logs in, and prints each request.
//!
//! [`AuthorizationServer`] is a service of `tower` for any runtime:
//!
//! ```
//! use authorization_server::{AuthorizationServer, Consent, Settings};
//! use mcp_async::net::HttpListener;
//! use mcp_async::runtime::RuntimeHandle;
//!
//! /// Serves until Ctrl-C.
//! async fn serve(runtime: RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
//!     let listen = HttpListener::bind(&runtime, "127.0.0.1:0");
//!     let issuer = format!("http://{}", listen.address()?);
//!     let settings = Settings::new(issuer).consent(Consent::Allow);
//!     let server = AuthorizationServer::new(settings)?;
//!     Ok(listen.serve(server, runtime.interrupted()).await?)
//! }
//! ```
#![forbid(unsafe_code)]

mod answer;
mod authentication;
mod authorize;
mod client;
mod consent;
mod document;
mod dpop;
mod error;
mod form;
mod grants;
mod introspect;
mod jwt;
mod keys;
mod metadata;
mod register;
mod secret;
mod server;
mod service;
mod settings;
mod state;
mod token;

pub use client::Client;
pub use keys::SigningKey;
pub use server::AuthorizationServer;
pub use service::SameOrigin;
pub use settings::{Consent, Settings, SetupError};
