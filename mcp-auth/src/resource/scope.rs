//! The scopes that an operation needs, and which scopes include others.

use core::fmt;

use crate::Scopes;

/// The scopes that an operation needs, all of them.
///
/// Unlike [`Scopes`], it is not made of text that is not a scope, because a requirement must not get
/// lost.
///
/// ```
/// use mcp_auth::resource::RequiredScopes;
///
/// let needed = RequiredScopes::new(["notes:read", "notes:write"])?;
/// assert_eq!(needed.scopes().to_string(), "notes:read notes:write");
/// assert!(RequiredScopes::new(["two words"]).is_err());
/// # Ok::<(), mcp_auth::resource::InvalidScope>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequiredScopes(Scopes);

impl RequiredScopes {
    /// No scope is needed.
    pub const NONE: Self = Self(Scopes::new());

    /// These scopes are needed.
    ///
    /// # Errors
    /// [`InvalidScope`] if one is empty, has a character that no scope may have, or is
    /// `offline_access`, which concerns the client and the authorization server only (AU-11).
    pub fn new<T: AsRef<str>>(scopes: impl IntoIterator<Item = T>) -> Result<Self, InvalidScope> {
        let mut set = Scopes::new();
        for scope in scopes {
            let scope = scope.as_ref();
            set.insert(scope);
            if !set.contains(scope) || scope == "offline_access" {
                return Err(InvalidScope(()));
            }
        }
        Ok(Self(set))
    }

    /// Returns the scopes.
    pub const fn scopes(&self) -> &Scopes {
        &self.0
    }

    /// The scopes of both.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self(self.0.union(&other.0))
    }

    /// Returns whether granted scopes suffice.
    pub fn are_satisfied(&self, granted: &Scopes, hierarchy: &dyn ScopeHierarchy) -> bool {
        self.0.iter().all(|needed| {
            granted.contains(needed)
                || granted
                    .iter()
                    .any(|granted| hierarchy.includes(granted, needed))
        })
    }
}

/// A text that cannot be required as a scope: it is empty, `offline_access`, or has a space, a
/// quotation mark, a backslash or a character outside of printable ASCII.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidScope(());

impl fmt::Display for InvalidScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "a required scope is printable ASCII without spaces, quotation marks and backslashes, \
             and not offline_access",
        )
    }
}

impl core::error::Error for InvalidScope {}

/// States which scopes include others, as the application defines it (AU-10).
///
/// A closure is one. A scope always includes itself, which need not be stated.
///
/// ```
/// use mcp_auth::resource::ScopeHierarchy;
///
/// let hierarchy = |granted: &str, needed: &str| {
///     needed.strip_prefix(granted).is_some_and(|rest| rest.starts_with(':'))
/// };
/// assert!(hierarchy.includes("files", "files:read"));
/// assert!(!hierarchy.includes("files:read", "files"));
/// ```
pub trait ScopeHierarchy: Send + Sync {
    /// Returns whether a token with the scope `granted` may do what requires the scope `needed`.
    fn includes(&self, granted: &str, needed: &str) -> bool;
}

impl<F: Fn(&str, &str) -> bool + Send + Sync> ScopeHierarchy for F {
    fn includes(&self, granted: &str, needed: &str) -> bool {
        self(granted, needed)
    }
}

/// No scope includes another.
#[derive(Clone, Copy, Debug, Default)]
pub struct FlatScopes;

impl ScopeHierarchy for FlatScopes {
    fn includes(&self, _: &str, _: &str) -> bool {
        false
    }
}
