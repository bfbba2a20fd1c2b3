//! Hashes, random bytes and signatures: what the state machines of authorization ask for.

mod digest;
mod random;

pub(crate) use digest::sha256;
pub(crate) use random::random;
