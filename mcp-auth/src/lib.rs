//! Authorization of the Model Context Protocol with OAuth 2.1, without I/O, clock, randomness or
//! cryptography.
//!
//! A [`Flow`] obtains credentials for an MCP server that is reached over HTTP: it finds the
//! authorization server, identifies the client, sends the user to a page or uses another
//! [`Grant`], and requests a token. It follows every revision since 2025-03-26.
//!
//! # Layers
//!
//! ```text
//! Flow            one authorization or one refresh
//! Refusals        what a response with status 401 or 403 asks for
//! login           the identity of the client and the scopes
//! discovery       the places of both metadata documents, in order
//! token_call      one token request: assertion, proof, nonce, response
//! grants          the parameters of each grant
//! step            what a flow asks for, and the answers
//! Credentials     what is kept between runs
//! AuthConfig      what the application decides
//! identity  token  redirect  pkce  dpop     one message each
//! ResourceMetadata  ServerMetadata  Challenge
//! message  document  jwt  form  Uri  Scopes  Secret  UnixTime  AuthError
//! ```
//!
//! Each layer uses the layers below it.
//!
//! # The loop
//!
//! A flow asks for one thing at a time. The caller answers each [`FlowStep`] with one [`Input`] until
//! [`FlowStep::Done`] or an error:
//!
//! ```
//! use mcp_auth::{
//!     AuthConfig, AuthError, Challenge, Credentials, Flow, HttpRequest, HttpResponse, Input, FlowStep,
//!     Scheme, UnixTime,
//! };
//!
//! /// What the caller brings: HTTP, a browser, random bytes, SHA-256 and keys.
//! trait Host {
//!     fn now(&self) -> UnixTime;
//!     fn send(&mut self, request: &HttpRequest) -> Result<(u16, Vec<u8>), String>;
//!     fn open(&mut self, url: &str) -> String;
//!     fn random(&mut self) -> [u8; 32];
//!     fn sha256(&self, text: &str) -> [u8; 32];
//! }
//!
//! fn log_in(config: AuthConfig, www_authenticate: &[u8], host: &mut impl Host) -> Result<Credentials, AuthError> {
//!     let challenges = Challenge::parse_all([www_authenticate]);
//!     let challenge = Challenge::select(&challenges, Scheme::Bearer).cloned();
//!     let mut flow = Flow::authorize(config, challenge, None)?;
//!     let mut output = flow.start(host.now())?;
//!     loop {
//!         let now = host.now();
//!         output = match output {
//!             FlowStep::Send(request) => match host.send(&request) {
//!                 Ok((status, body)) => {
//!                     let response = HttpResponse { status, headers: &[], body: &body };
//!                     flow.advance(now, Input::Response(response))?
//!                 }
//!                 Err(text) => flow.advance(now, Input::Failed(&text))?,
//!             },
//!             FlowStep::Open(page) => flow.advance(now, Input::Redirect(&host.open(&page.url)))?,
//!             FlowStep::Random => flow.advance(now, Input::Random(host.random()))?,
//!             FlowStep::Hash(text) => flow.advance(now, Input::Digest(host.sha256(text.expose())))?,
//!             FlowStep::Done(credentials) => return Ok(*credentials),
//!             // Neither a key nor another way to identify the client is configured.
//!             _ => flow.advance(now, Input::Identity(None))?,
//!         };
//!     }
//! }
//! ```
//!
//! [`resource`] is the other side: what a protected server checks and answers. [`authorization_server`] is the third:
//! an authorization server for MCP clients whose users log in at a provider.
//!
//! # What the caller must do
//!
//! | Task | Rule |
//! |---|---|
//! | Check the addresses that a URL resolves to, on every redirect | AU-29 |
//! | Bound the body of a response, the redirects, and the time of the whole flow | AU-31, [`HttpRequest::MAX_BODY`], [`HttpRequest::max_redirects`] |
//! | Open the page without a shell | AU-32 |
//! | Store credentials before their access token is used; one refresh at a time | AU-116 |
//! | Send the access token to the MCP server only, a fresh proof with each request | AU-63, AU-97 |
//!
//! # Errors
//!
//! An [`AuthError`] names the document that is wrong, its URL, what was expected and what to do.
//! Secrets are of type [`Secret`], which neither `Debug` nor an error shows.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod authorization_server;
mod challenge;
mod config;
mod credentials;
mod discovery;
mod document;
mod dpop;
mod error;
mod flow;
mod flow_state;
mod form;
mod grants;
mod identity;
mod jwt;
mod login;
mod message;
mod oauth_error;
mod pkce;
mod redirect;
mod refusal;
mod registration;
mod resource_metadata;
mod scopes;
mod secret;
mod server_metadata;
mod step;
mod time;
mod token;
mod token_call;
mod uri;

// The flow.
pub use config::AuthConfig;
pub use credentials::Credentials;
pub use flow::Flow;
pub use grants::{AuthorizationPage, EnterpriseGrant, Grant, Subject, WorkloadGrant};
pub use identity::{ClientIdentity, ClientProof, EndpointAuth, IdentitySource, PreRegistered};
pub use message::{HttpRequest, HttpResponse};
pub use refusal::{Refusals, RefusedResponse, Remedy};
pub use registration::metadata_document;
pub use step::{FlowStep, Input, IssuerSpelling};

// Its parts.
pub use challenge::{Challenge, Scheme};
pub use dpop::{DpopKey, DpopNonces, DpopProof};
pub use error::{AuthError, Document, Problem};
pub use jwt::{SigningKey, SigningRequest};
pub use pkce::CodeVerifier;
pub use redirect::ExpectedRedirect;
pub use resource_metadata::ResourceMetadata;
pub use scopes::Scopes;
pub use secret::Secret;
pub use server_metadata::ServerMetadata;
pub use time::UnixTime;
pub use uri::{Uri, UriError};

pub mod resource;

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
