//! Bytes as base64 text.

use core::fmt;

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde::{Deserialize, Serialize};

/// Bytes in base64 (RFC 4648, section 4), as images, audio and blobs carry them.
///
/// A peer's text is kept as received and decoded on request; `Debug` tells its length only.
#[derive(Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Base64(String);

impl Base64 {
    /// Encodes bytes, with padding.
    pub fn encode(bytes: &[u8]) -> Self {
        Self(ENGINE.encode(bytes))
    }

    /// The bytes. Padding may be missing.
    ///
    /// # Errors
    ///
    /// [`InvalidBase64`] if the text is not Base64.
    pub fn decode(&self) -> Result<Vec<u8>, InvalidBase64> {
        ENGINE.decode(&self.0).map_err(|_| InvalidBase64)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Text that is base64 already; it is not checked.
impl From<String> for Base64 {
    fn from(text: String) -> Self {
        Self(text)
    }
}

/// Text that is base64 already; it is not checked.
impl From<&str> for Base64 {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl fmt::Debug for Base64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Base64({} characters)", self.0.len())
    }
}

/// A text that is not base64.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidBase64;

impl fmt::Display for InvalidBase64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not base64")
    }
}

impl core::error::Error for InvalidBase64 {}

const ENGINE: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);
