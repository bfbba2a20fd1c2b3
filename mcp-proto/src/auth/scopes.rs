//! Sets of scopes.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// Scopes in the order in which they came, each once (RFC 6749, section 3.3).
///
/// ```
/// use mcp_proto::auth::Scopes;
///
/// let granted = Scopes::parse("files:read  files:list files:read");
/// let needed = Scopes::parse("files:write");
/// assert_eq!(granted.union(&needed).to_string(), "files:read files:list files:write");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// No scope.
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Reads a list separated by spaces. What a scope cannot contain is left out.
    pub fn parse(text: &str) -> Self {
        text.split_ascii_whitespace().collect()
    }

    /// Adds a scope, unless it is there already or cannot be one.
    pub fn insert(&mut self, scope: &str) {
        let is_sound = |byte: u8| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~');
        if !scope.is_empty() && scope.bytes().all(is_sound) && !self.contains(scope) {
            self.0.push(scope.into());
        }
    }

    /// Returns whether a scope is among them.
    pub fn contains(&self, scope: &str) -> bool {
        self.0.iter().any(|other| other == scope)
    }

    /// Returns whether there is none.
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
        for scope in scopes {
            set.insert(scope);
        }
        set
    }
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
