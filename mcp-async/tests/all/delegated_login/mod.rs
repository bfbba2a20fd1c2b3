//! Servers whose users log in at a provider, as HTTP services without sockets. The provider is at `localhost:9`.
#![cfg(all(feature = "server", feature = "http", feature = "auth"))]

#[cfg(feature = "client")]
mod both_halves;
mod documents;
mod endpoints;
mod processes;
mod support;
