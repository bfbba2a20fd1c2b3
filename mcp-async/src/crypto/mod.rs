//! Hashes, random bytes and signatures: what the state machines of authorization ask for.

mod signing_key;
mod verify;

use std::io;

use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

#[cfg(feature = "http-client")]
pub use signing_key::{KeyError, SigningKey};
pub(crate) use verify::verify;

/// Hashes bytes with SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

/// Draws random bytes from the operating system.
///
/// # Errors
/// The operating system has none.
pub(crate) fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => Ok(bytes),
        Err(_) => Err(io::Error::other(
            "the operating system provides no random bytes",
        )),
    }
}
