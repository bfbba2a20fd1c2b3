//! Hashes, random bytes and signatures: what the state machines of authorization ask for.

mod digest;
mod random;
#[cfg(feature = "http-client")]
mod signing_key;
#[cfg(feature = "http-server")]
mod verify;

pub(crate) use digest::sha256;
pub(crate) use random::random;
#[cfg(feature = "http-client")]
pub use signing_key::{KeyError, SigningKey};
#[cfg(feature = "http-server")]
pub(crate) use verify::verify;
