//! Random bytes.

use std::io;

use ring::rand::{SecureRandom, SystemRandom};

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
