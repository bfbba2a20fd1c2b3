//! Protected servers as HTTP services, without sockets and on a clock by hand.
#![cfg(all(feature = "server", feature = "http", feature = "auth"))]

#[cfg(feature = "client")]
mod both_halves;
mod dpop;
mod introspection;
mod metadata;
mod opaque;
mod ownership;
mod remote;
mod scopes;
#[cfg(feature = "tracing")]
mod secrets;
mod sharing;
mod signed_tokens;
mod signer;
mod statuses;
mod support;
