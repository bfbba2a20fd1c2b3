//! Protected servers as HTTP services, without sockets and on a clock by hand.

mod both_halves;
mod dpop;
mod introspection;
mod metadata;
mod opaque;
mod ownership;
mod remote;
mod scopes;
mod secrets;
mod sharing;
mod signed_tokens;
pub(crate) mod signer;
mod statuses;
pub(crate) mod support;
