//! Randomness of the operating system.

use std::io;

/// Draws random bytes.
///
/// # Errors
/// The operating system has none.
pub(crate) fn bytes<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Draws an identifier that cannot be guessed: 128 bits as 32 hexadecimal digits.
///
/// # Errors
/// The operating system has no randomness.
pub(crate) fn id() -> io::Result<String> {
    Ok(format!("{:032x}", u128::from_be_bytes(bytes()?)))
}
