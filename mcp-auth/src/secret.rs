//! Text that must not appear in logs.

use alloc::string::String;
use core::fmt;

/// A token, a client secret, a code or an assertion.
///
/// `Debug` shows none of it, and there is no `Display`. [`expose`](Self::expose) is the one way to
/// the text.
///
/// ```
/// use mcp_auth::Secret;
///
/// let secret = Secret::from("2YotnFZFEjr1zCsicMWpAA");
/// assert_eq!(format!("{secret:?}"), "Secret(..)");
/// assert_eq!(secret.expose(), "2YotnFZFEjr1zCsicMWpAA");
/// ```
#[derive(Clone, Default)]
pub struct Secret(String);

impl Secret {
    /// The bytes that a token, a client id or a client secret of another party may have, so that
    /// the record of them can be read again.
    pub const MAX_BYTES: usize = 16 * 1024;

    /// Returns the text.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Compares with a text in a time that depends on the lengths only.
    pub fn matches(&self, other: &str) -> bool {
        let difference = self
            .0
            .bytes()
            .zip(other.bytes())
            .fold(0, |sum, (left, right)| sum | (left ^ right));
        self.0.len() == other.len() && difference == 0
    }
}

impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl PartialEq for Secret {
    fn eq(&self, other: &Self) -> bool {
        self.matches(&other.0)
    }
}

impl Eq for Secret {}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}
