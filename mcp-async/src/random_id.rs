//! Identifiers that cannot be guessed.

/// 128 bits from the operating system as 32 hexadecimal digits; `None` if it has none.
pub(crate) fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    Some(format!("{:032x}", u128::from_be_bytes(bytes)))
}
