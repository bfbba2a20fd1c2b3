//! Authorization of a client against parties that answer at once, in memory.

#![cfg(all(feature = "auth", feature = "client", feature = "http"))]

mod browser;
mod given;
pub(crate) mod guard;
#[cfg(feature = "keyring")]
mod keyring;
mod party;
mod refusals;
#[cfg(feature = "tracing")]
mod secrets;
mod stores;
mod timing;
mod whole;
