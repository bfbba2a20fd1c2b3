//! Digests of several texts together.

use core::fmt;
use core::fmt::Write as _;

use hmac_sha256::Hash as Sha256;

/// A SHA-256 of several texts, each with its length, so that no two lists of texts have the same bytes.
///
/// Its text is 64 hexadecimal digits, under which a program can store what a person agreed to.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    pub(crate) fn of<'t>(parts: impl IntoIterator<Item = &'t [u8]>) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Self(hash.finalize())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.iter().fold(String::new(), |mut digits, byte| {
            // A `String` takes everything.
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        f.pad(&digits)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_count() {
        let digest = |parts: &[&str]| Digest::of(parts.iter().map(|part| part.as_bytes()));
        assert_eq!(digest(&["a", "bc"]), digest(&["a", "bc"]));
        assert_ne!(digest(&["a", "bc"]), digest(&["ab", "c"]));
        assert_ne!(digest(&["a", "bc"]), digest(&["a", "bc", ""]));
        assert_eq!(format!("{:.8}", digest(&[])), "e3b0c442");
        assert_eq!(digest(&[]).to_string().len(), 64);
    }
}
