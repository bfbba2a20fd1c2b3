//! Hashes, keyed hashes, signatures and the time of day: what the state machines of authorization ask for.

#[cfg(feature = "http-server")]
mod fingerprint_key;
mod signing_key;
mod verify;

use std::time::SystemTime;

use mcp_auth::UnixTime;
use ring::digest::{SHA256, digest};

#[cfg(feature = "http-server")]
pub(crate) use fingerprint_key::FingerprintKey;
#[cfg(feature = "http-client")]
pub use signing_key::{KeyError, SigningKey};
pub(crate) use verify::verify;

/// Hashes bytes with SHA-256.
pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut hash = [0; 32];
    hash.copy_from_slice(digest(&SHA256, bytes).as_ref());
    hash
}

/// The time of day. It is read each time, because a monotonic clock may stop while the machine
/// sleeps.
pub(crate) fn unix_now() -> UnixTime {
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    UnixTime::from_secs(since.as_secs())
}
