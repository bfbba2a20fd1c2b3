//! The requests that were forwarded to this process lately.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashSet;
use std::sync::Mutex;

use super::message::digest;
use crate::lock::lock;

/// The numbers of forwarded requests, so that none is served twice. A number is remembered for as long as its
/// request is accepted by its time.
#[derive(Default)]
pub(super) struct Nonces(Mutex<Seen>);

#[derive(Default)]
struct Seen {
    /// The time from which on the newer numbers are collected, in seconds since 1970.
    since: u64,
    newer: HashSet<u128>,
    older: HashSet<u128>,
}

/// The numbers of the requests that one process forwards: no other process draws them.
pub(super) struct Numbers {
    first: u128,
    drawn: AtomicU64,
}

impl Numbers {
    /// The numbers of a process of this name, which no other process has.
    pub(super) fn of(name: &str) -> Self {
        let mut first = [0; 16];
        let hash = digest(name.as_bytes());
        first.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
        Self {
            first: u128::from_be_bytes(first),
            drawn: AtomicU64::new(0),
        }
    }

    /// Draws a number that was not drawn before.
    pub(super) fn draw(&self) -> u128 {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        self.first.wrapping_add(drawn.into())
    }
}

/// Reasons for which a forwarded request is not served.
pub(super) enum Unfit {
    /// Its time is not within [`WINDOW`].
    Late,
    /// It was served before.
    Repeated,
    /// Too many numbers are remembered to remember another one.
    Many,
}

impl Nonces {
    /// Takes the number of a request that was sent at `time`, both in seconds since 1970.
    pub(super) fn take(&self, nonce: u128, time: u64, now: u64) -> Result<(), Unfit> {
        if time.abs_diff(now) > WINDOW {
            return Err(Unfit::Late);
        }
        let mut seen = lock(&self.0);
        // Its time may lie in the future by a window, and is accepted for another one.
        if now.abs_diff(seen.since) > 2 * WINDOW {
            seen.older = core::mem::take(&mut seen.newer);
            seen.since = now;
        }
        if seen.newer.contains(&nonce) || seen.older.contains(&nonce) {
            return Err(Unfit::Repeated);
        }
        if seen.newer.len() >= MAX_NONCES {
            return Err(Unfit::Many);
        }
        seen.newer.insert(nonce);
        Ok(())
    }
}

/// The accepted age of a message, in seconds, and as much for one from the future: the clocks of two
/// processes differ, and a request takes time to arrive.
pub(super) const WINDOW: u64 = 30;

/// Requests that are remembered at a time, twice.
const MAX_NONCES: usize = 1 << 20;
