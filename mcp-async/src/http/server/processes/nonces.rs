//! The requests that were forwarded to this process lately.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// The numbers of forwarded requests, so that none is served twice. A number is remembered for as long as its
/// request is accepted by its time.
#[derive(Default)]
pub(super) struct Nonces(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// Since when the newer numbers are collected.
    since: u64,
    newer: HashSet<Box<str>>,
    older: HashSet<Box<str>>,
}

/// Why a request is not served.
pub(super) enum Unfit {
    /// Its time is not within [`WINDOW`].
    Late,
    /// It was served before.
    Repeated,
    /// So many were served that it is not known.
    Many,
}

impl Nonces {
    /// Takes the number of a request that was sent at `time`, both in seconds since 1970.
    pub(super) fn take(&self, nonce: &str, time: u64, now: u64) -> Result<(), Unfit> {
        if time.abs_diff(now) > WINDOW {
            return Err(Unfit::Late);
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Its time may lie in the future by a window, and is accepted for another one.
        if now.abs_diff(seen.since) > 2 * WINDOW {
            seen.older = core::mem::take(&mut seen.newer);
            seen.since = now;
        }
        if seen.newer.contains(nonce) || seen.older.contains(nonce) {
            return Err(Unfit::Repeated);
        }
        if seen.newer.len() >= MAX_NONCES {
            return Err(Unfit::Many);
        }
        seen.newer.insert(nonce.into());
        Ok(())
    }
}

/// How far the clocks of two processes may differ, and how long a request may take to arrive, in seconds.
pub(super) const WINDOW: u64 = 30;

/// Requests that are remembered at a time, twice.
const MAX_NONCES: usize = 1 << 20;
