//! JSON Web Tokens that this client makes: proofs and client assertions (RFC 7515, RFC 7519).

use alloc::string::String;
use alloc::vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::Writer;

/// A text that the caller must sign, with the key and the algorithm.
///
/// The answer is the signature as JSON Web Signatures have it: for ES256 the 64 bytes of r and s,
/// not DER.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SigningRequest {
    /// The key.
    pub key: SigningKey,
    /// The algorithm (RFC 7518, section 3.1).
    pub algorithm: String,
    /// The ASCII text that is signed.
    pub input: String,
}

/// The keys of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SigningKey {
    /// The key that tokens are bound to.
    Dpop,
    /// The key by which the client authenticates.
    ClientAssertion,
}

impl SigningRequest {
    /// Encodes the header and the claims.
    pub(crate) fn new(
        key: SigningKey,
        algorithm: &str,
        header: &JsonText,
        claims: &JsonText,
    ) -> Self {
        let mut input = URL_SAFE_NO_PAD.encode(header.0.as_bytes());
        input.push('.');
        input.push_str(&URL_SAFE_NO_PAD.encode(claims.0.as_bytes()));
        Self {
            key,
            algorithm: algorithm.into(),
            input,
        }
    }

    /// Returns the token.
    pub fn finish(self, signature: &[u8]) -> String {
        let mut token = self.input;
        token.push('.');
        token.push_str(&URL_SAFE_NO_PAD.encode(signature));
        token
    }
}

/// Shows no claims.
impl fmt::Debug for SigningRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SigningRequest")
            .field("key", &self.key)
            .field("algorithm", &self.algorithm)
            .finish_non_exhaustive()
    }
}

/// A JSON object that is being written.
#[derive(Clone, Debug)]
pub(crate) struct JsonText(String);

impl JsonText {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    #[must_use]
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        let mut value_json = String::new();
        push_string(&mut value_json, value);
        self.json(name, &value_json)
    }

    #[must_use]
    pub(crate) fn optional_text(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.text(name, value),
            None => self,
        }
    }

    #[must_use]
    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        self.json(name, &alloc::format!("{value}"))
    }

    #[must_use]
    pub(crate) fn texts<'t>(self, name: &str, values: impl IntoIterator<Item = &'t str>) -> Self {
        let mut list = String::from("[");
        for value in values {
            if list.len() > 1 {
                list.push(',');
            }
            push_string(&mut list, value);
        }
        list.push(']');
        self.json(name, &list)
    }

    /// A member whose value is JSON already.
    #[must_use]
    pub(crate) fn json(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        push_string(&mut self.0, name);
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    #[must_use]
    pub(crate) fn end(mut self) -> Self {
        self.0.push('}');
        self
    }

    pub(crate) fn into_string(self) -> String {
        self.0
    }
}

/// Appends a JSON string.
pub(crate) fn push_string(out: &mut String, text: &str) {
    if text
        .bytes()
        .all(|byte| !matches!(byte, 0..=0x1f | b'"' | b'\\' | 0x7f..))
    {
        for part in ["\"", text, "\""] {
            out.push_str(part);
        }
        return;
    }
    let mut counting = Writer::counting();
    counting.string(text);
    let mut bytes = vec![0; counting.len()];
    let mut writer = Writer::new(&mut bytes);
    writer.string(text);
    out.push_str(core::str::from_utf8(&bytes).unwrap_or("\"\""));
}
