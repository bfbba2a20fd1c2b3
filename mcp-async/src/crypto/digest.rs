//! SHA-256.

use ring::digest::{SHA256, digest};

/// Hashes bytes with SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}
