//! The nonces that proofs must have.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::text::has_passed;
use crate::UnixTime;

/// The newest nonce and the one before it (RFC 9449, section 9).
#[derive(Clone, Debug, Default)]
pub(super) struct Nonces {
    newest: Option<Nonce>,
    previous: Option<Nonce>,
}

#[derive(Clone, Debug)]
struct Nonce {
    text: String,
    made: UnixTime,
}

impl Nonces {
    /// Returns true if a new nonce is due.
    pub(super) fn is_due(&self, lifetime: u64, now: UnixTime) -> bool {
        self.newest
            .as_ref()
            .is_none_or(|newest| has_passed(newest.made, lifetime, now))
    }

    /// Adds a nonce; false if a header field could not carry it.
    pub(super) fn add(&mut self, text: &str, now: UnixTime) -> bool {
        let is_sound = Self::is_sound(text);
        if is_sound {
            self.previous = self.newest.take();
            let text = text.to_owned();
            self.newest = Some(Nonce { text, made: now });
        }
        is_sound
    }

    /// Returns true if a header field can carry the text.
    pub(super) fn is_sound(text: &str) -> bool {
        let is_sound = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E);
        !text.is_empty() && text.bytes().all(is_sound)
    }

    pub(super) fn newest(&self) -> Option<&str> {
        self.newest.as_ref().map(|nonce| nonce.text.as_str())
    }

    /// Returns true if a proof with this nonce is accepted: each nonce is accepted for twice its
    /// lifetime.
    pub(super) fn accept(&self, text: &str, lifetime: u64, now: UnixTime) -> bool {
        [&self.newest, &self.previous]
            .into_iter()
            .flatten()
            .any(|nonce| {
                nonce.text == text && !has_passed(nonce.made, lifetime.saturating_mul(2), now)
            })
    }
}
