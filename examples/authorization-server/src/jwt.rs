use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::keys::PublicKey;

/// A signed token that has been parsed and not verified.
#[derive(Debug)]
pub(crate) struct Jwt<'t> {
    pub(crate) header: Value,
    pub(crate) claims: Value,
    input: &'t str,
    signature: Vec<u8>,
}

impl<'t> Jwt<'t> {
    /// Parses the compact form. `None` if the text is no signed token.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (input, signature) = text.rsplit_once('.')?;
        let (header, claims) = input.split_once('.')?;
        Some(Self {
            header: decode(header)?,
            claims: decode(claims)?,
            input,
            signature: URL_SAFE_NO_PAD.decode(signature).ok()?,
        })
    }

    pub(crate) fn kind(&self) -> Option<&str> {
        self.header["typ"].as_str()
    }

    pub(crate) fn claim(&self, name: &str) -> Option<&str> {
        self.claims[name].as_str()
    }

    /// Whether the audience is this one, alone or among others.
    pub(crate) fn is_for(&self, audience: &str) -> bool {
        match &self.claims["aud"] {
            Value::String(one) => one == audience,
            Value::Array(many) => many.iter().any(|one| one == audience),
            _ => false,
        }
    }

    /// Whether the token has an expiry that is ahead and no start that is, with `skew` seconds.
    pub(crate) fn is_current(&self, now: u64, skew: u64) -> bool {
        let starts = self.claims["nbf"].as_u64().unwrap_or(0);
        let ends = self.claims["exp"].as_u64();
        ends.is_some_and(|ends| now < ends.saturating_add(skew)) && starts <= now + skew
    }

    /// Whether the signature is of this key.
    pub(crate) fn is_signed_by(&self, key: &PublicKey) -> bool {
        let algorithm = self.header["alg"].as_str().unwrap_or_default();
        self.header.get("crit").is_none()
            && key.verify(algorithm, self.input.as_bytes(), &self.signature)
    }

    /// Whether the signature is of one of the keys, which are JWKs. The header may name it.
    pub(crate) fn is_signed_by_any(&self, keys: &[Value]) -> bool {
        let named = self.header["kid"].as_str();
        keys.iter()
            .filter(|key| named.is_none() || key["kid"].as_str().is_none_or(|id| Some(id) == named))
            .filter_map(PublicKey::from_jwk)
            .any(|key| self.is_signed_by(&key))
    }
}

fn decode(part: &str) -> Option<Value> {
    let value: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).ok()?).ok()?;
    value.is_object().then_some(value)
}
