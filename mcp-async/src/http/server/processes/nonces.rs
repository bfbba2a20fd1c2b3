//! The requests that were forwarded to this process lately.

use core::sync::atomic::{AtomicU64, Ordering};
use std::collections::HashMap;

use super::message::digest;
use crate::sync::Lock;

/// The numbers of forwarded requests, so that none is served twice. A number is remembered for as long as its
/// request is accepted by its time, or until its process has sent [`SPAN`] further requests: one that arrives after
/// them is refused.
#[derive(Default)]
pub(in crate::http::server) struct Nonces(Lock<HashMap<u64, Taken>>);

/// Numbers of one process that were taken.
struct Taken {
    /// The time at which the last one was taken, in seconds since 1970.
    last: u64,
    /// The newest number of each remainder by [`SPAN`]; 0 if none was taken.
    newest: Vec<u64>,
}

/// The numbers of the requests that one process forwards: no other process draws them.
pub(in crate::http::server) struct Numbers {
    process: u64,
    drawn: AtomicU64,
}

impl Numbers {
    /// The numbers of a process of this name, which no other process has.
    pub(in crate::http::server) fn of(name: &str) -> Self {
        let hash = digest(name.as_bytes());
        let first = hash.first_chunk().copied().unwrap_or_default();
        Self {
            process: u64::from_be_bytes(first),
            drawn: AtomicU64::new(0),
        }
    }

    /// Draws a number that was not drawn before.
    pub(in crate::http::server) fn draw(&self) -> u128 {
        let before = self.drawn.fetch_add(1, Ordering::Relaxed);
        u128::from(self.process) << 64 | u128::from(before.wrapping_add(1))
    }
}

/// Reasons for which a forwarded request is not served.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::http::server) enum Unfit {
    /// Its time is not within [`WINDOW`], or its process has sent many others since then.
    Late,
    /// It was served before.
    Repeated,
}

impl Nonces {
    /// Takes the number of a request that was sent at `time`, both in seconds since 1970.
    pub(in crate::http::server) fn take(
        &self,
        nonce: u128,
        time: u64,
        now: u64,
    ) -> Result<(), Unfit> {
        if time.abs_diff(now) > WINDOW {
            return Err(Unfit::Late);
        }
        let (process, number) = ((nonce >> 64) as u64, nonce as u64);
        let mut known = self.0.lock();
        if !known.contains_key(&process) {
            // The time of a request may lie in the future by a window, and is accepted for another one.
            known.retain(|_, taken| now.saturating_sub(taken.last) <= 2 * WINDOW);
        }
        let taken = known.entry(process).or_insert_with(|| Taken {
            last: now,
            newest: vec![0; SPAN],
        });
        taken.last = now;
        taken.take(number)
    }
}

impl Taken {
    fn take(&mut self, number: u64) -> Result<(), Unfit> {
        let place = (number % SPAN as u64) as usize;
        let Some(newest) = self.newest.get_mut(place) else {
            return Err(Unfit::Late);
        };
        match number.cmp(newest) {
            core::cmp::Ordering::Less => Err(Unfit::Late),
            core::cmp::Ordering::Equal => Err(Unfit::Repeated),
            core::cmp::Ordering::Greater => {
                *newest = number;
                Ok(())
            }
        }
    }
}

/// The accepted age of a message, in seconds, and as much for one from the future: the clocks of two
/// processes differ, and a request takes time to arrive.
pub(in crate::http::server) const WINDOW: u64 = 30;

/// The numbers of one process that are remembered.
const SPAN: usize = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_800_000_000;

    #[test]
    fn each_number_of_each_process_is_taken_once_in_any_order() {
        let nonces = Nonces::default();
        let [first, second] = ["first", "second"].map(Numbers::of);
        let mut drawn: Vec<u128> = (0..1000)
            .flat_map(|_| [first.draw(), second.draw()])
            .collect();
        drawn.reverse();
        for outcome in [Ok(()), Err(Unfit::Repeated)] {
            for number in &drawn {
                assert_eq!(nonces.take(*number, NOW, NOW), outcome, "{number:x}");
            }
        }
    }

    /// There is no bound on how many requests are forwarded in a time.
    #[test]
    fn more_numbers_than_are_remembered_are_taken() {
        let (nonces, numbers) = (Nonces::default(), Numbers::of("first"));
        let late = numbers.draw();
        for _ in 0..3 * SPAN {
            let number = numbers.draw();
            assert_eq!(nonces.take(number, NOW, NOW), Ok(()));
            assert_eq!(nonces.take(number, NOW, NOW), Err(Unfit::Repeated));
        }
        assert_eq!(nonces.take(late, NOW, NOW), Err(Unfit::Late));
    }

    /// Its clock may be ahead.
    #[test]
    fn a_process_that_sends_nothing_is_forgotten_once_its_requests_are_too_old() {
        let nonces = Nonces::default();
        let number = Numbers::of("first").draw();
        let ahead = NOW + WINDOW;
        assert_eq!(nonces.take(number, ahead, NOW), Ok(()));
        for (now, outcome, remembered) in [
            (ahead + WINDOW, Unfit::Repeated, 2),
            (ahead + WINDOW + 1, Unfit::Late, 3),
            (ahead + 3 * WINDOW + 1, Unfit::Late, 2),
        ] {
            let other = Numbers::of(&now.to_string()).draw();
            assert_eq!(nonces.take(other, now, now), Ok(()));
            assert_eq!(nonces.take(number, ahead, now), Err(outcome));
            assert_eq!(nonces.0.lock().len(), remembered, "{}", now - NOW);
        }
    }
}
