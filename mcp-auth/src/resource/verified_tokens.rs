//! Tokens whose signatures were verified.

use alloc::boxed::Box;

use super::Fingerprint;
use super::claims::TokenClaims;
use super::expiring_map::ExpiringMap;
use crate::UnixTime;

/// The tokens of one issuer whose signatures were verified lately. Each is found by the fingerprint of its signature,
/// which the dot before it is a part of, and by the text that was signed, which is compared: both together are the whole
/// token, and neither can be used as one.
#[derive(Clone, Debug)]
pub(super) struct VerifiedTokens(ExpiringMap<Fingerprint, VerifiedToken>);

#[derive(Clone, Debug)]
struct VerifiedToken {
    message: Box<str>,
    claims: TokenClaims,
}

impl VerifiedTokens {
    pub(super) const fn new(capacity: usize) -> Self {
        Self(ExpiringMap::new(capacity))
    }

    /// Returns the claims of a token that was verified at most `seconds` ago.
    pub(super) fn find(
        &self,
        signature: Fingerprint,
        message: &str,
        seconds: u64,
        now: UnixTime,
    ) -> Option<&TokenClaims> {
        let (_, found) = self.0.get(&signature, seconds, now)?;
        (*found.message == *message).then_some(&found.claims)
    }

    /// Adds a token, or takes the place of one with the same signature. One that is very long is not remembered.
    pub(super) fn insert(
        &mut self,
        signature: Fingerprint,
        (message, claims): (&str, &TokenClaims),
        until: UnixTime,
        now: UnixTime,
    ) {
        if message.len() > MAX_MESSAGE {
            return;
        }
        let token = VerifiedToken {
            message: message.into(),
            claims: claims.clone(),
        };
        self.0.renew(signature, token, until, now);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The bytes of the longest text that is remembered: the map bounds the number of tokens, and this their length.
const MAX_MESSAGE: usize = 4 * 1024;

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    #[test]
    fn long_tokens_are_not_remembered() {
        let now = UnixTime::from_secs(1_000);
        let claims = TokenClaims::new("https://as.example", "https://mcp.example/mcp");
        let mut tokens = VerifiedTokens::new(10);
        let mut check = |number: u128, len: usize, is_remembered: bool| {
            let (signature, message) = (number, String::from("x").repeat(len));
            let until = now.saturating_add(60);
            tokens.insert(signature, (&message, &claims), until, now);
            let found = tokens.find(signature, &message, 60, now);
            assert_eq!(found.is_some(), is_remembered, "{len}");
        };
        check(1, MAX_MESSAGE, true);
        check(2, MAX_MESSAGE + 1, false);
    }
}
