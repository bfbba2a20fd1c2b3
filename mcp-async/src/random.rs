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
    let mut id = [b'0'; 32];
    for (digits, byte) in id.chunks_exact_mut(2).zip(bytes::<16>()?) {
        digits.copy_from_slice(&[digit(byte >> 4), digit(byte & 0xF)]);
    }
    // Hexadecimal digits are ASCII.
    Ok(String::from_utf8(id.to_vec()).unwrap_or_default())
}

/// Returns the hexadecimal digit of a value below 16.
const fn digit(value: u8) -> u8 {
    value + if value < 10 { b'0' } else { b'a' - 10 }
}
