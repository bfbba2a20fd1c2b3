//! Sets of scopes.

use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Serialize};

/// The scopes that are compared one by one; further ones are looked up.
const FEW: usize = 16;

/// Scopes in the order in which they came, each once (RFC 6749, section 3.3).
///
/// There are at most [`MOST`](Self::MOST) of at most [`MAX_BYTES`](Self::MAX_BYTES) bytes; what is
/// added beyond that is left out.
///
/// ```
/// use mcp_auth::Scopes;
///
/// let granted = Scopes::parse("files:read  files:list files:read");
/// let needed = Scopes::parse("files:write");
/// assert_eq!(granted.union(&needed).to_string(), "files:read files:list files:write");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<String>")]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// The most scopes.
    pub const MOST: usize = 1000;

    /// The bytes that all scopes may have, with one separator each.
    pub const MAX_BYTES: usize = 16 * 1024;

    /// No scope.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads a list separated by spaces. Words that cannot be a scope are left out.
    pub fn parse(text: &str) -> Self {
        text.split_ascii_whitespace().collect()
    }

    /// Adds a scope, unless it is there already or cannot be one.
    pub fn insert(&mut self, scope: &str) {
        let bytes = self.iter().map(|scope| scope.len().saturating_add(1)).sum();
        if is_sound(scope) && !self.contains(scope) {
            self.push(scope, bytes);
        }
    }

    /// Adds a new scope to those of `bytes` bytes if there is room; returns the bytes then.
    fn push(&mut self, scope: &str, bytes: usize) -> usize {
        let with_scope = bytes.saturating_add(scope.len()).saturating_add(1);
        if self.0.len() >= Self::MOST || with_scope > Self::MAX_BYTES {
            return bytes;
        }
        self.0.push(scope.into());
        with_scope
    }

    /// Returns whether a scope is among them.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|other| other == scope)
    }

    /// Returns whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the scopes of both, these first (AU-61).
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.iter().chain(other.iter()).collect()
    }
}

impl<'s> FromIterator<&'s str> for Scopes {
    fn from_iter<I: IntoIterator<Item = &'s str>>(scopes: I) -> Self {
        let mut set = Self::new();
        let mut bytes = 0;
        // Other parties write long lists: the time must not grow with the square of the length.
        let mut after_few = BTreeSet::new();
        for scope in scopes.into_iter().filter(|scope| is_sound(scope)) {
            let is_known = set.0.iter().take(FEW).any(|other| other == scope);
            if is_known || after_few.contains(scope) {
                continue;
            }
            let before = set.0.len();
            bytes = set.push(scope, bytes);
            if set.0.len() > FEW.max(before) {
                after_few.insert(scope);
            }
        }
        set
    }
}

impl From<Vec<String>> for Scopes {
    fn from(scopes: Vec<String>) -> Self {
        scopes.iter().map(String::as_str).collect()
    }
}

/// Returns true if the text can be a scope.
fn is_sound(scope: &str) -> bool {
    let is_sound = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
    !scope.is_empty() && scope.bytes().all(is_sound)
}

impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, scope) in self.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            f.write_str(scope)?;
        }
        Ok(())
    }
}
