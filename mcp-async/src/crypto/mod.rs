//! Hashes, random bytes and signatures: what the state machines of authorization ask for.

mod digest;
mod random;
mod signing_key;
mod verify;

pub(crate) use digest::sha256;
pub(crate) use random::random;
#[cfg(feature = "http-client")]
pub use signing_key::{KeyError, SigningKey};
pub(crate) use verify::verify;
