//! The verified sender of a request.

use core::fmt;
use core::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::values::Values;

/// The verified sender of a request: a name, and typed claims of what verified it.
///
/// The name is the identity. Sessions, request states, rate limits and stores go by it, and
/// two principals are equal if their names are. The claims belong to one request: a session is
/// continued by every request of the same name, and its handlers see the claims of the request that
/// they serve.
///
/// Over HTTP it comes from [`Http::authenticate`](crate::http::Http::authenticate) or `Http::protect`,
/// or from a layer in front of the service that puts it into the extensions of the request. A pipe has one if
/// [`with_principal`](crate::server::Connection::with_principal) says so. A handler finds it in
/// [`CallContext::principal`](crate::server::CallContext::principal).
///
/// ```
/// use mcp_async::server::Principal;
///
/// struct Claims {
///     scopes: Vec<String>,
/// }
///
/// let ada = Principal::new("ada").with_claims(Claims { scopes: vec!["notes:write".into()] });
/// assert_eq!(ada.name(), "ada");
/// assert_eq!(ada.claims::<Claims>().unwrap().scopes, ["notes:write"]);
/// assert!(ada.claims::<u32>().is_none());
/// assert_eq!(ada, Principal::new("ada"));
/// ```
#[derive(Clone)]
pub struct Principal(Arc<Identity>);

#[derive(Clone)]
struct Identity {
    name: Arc<str>,
    claims: Values,
}

impl Principal {
    /// Makes a principal of this name. Different users must have different names.
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self(Arc::new(Identity {
            name: name.into(),
            claims: Values::default(),
        }))
    }

    /// Adds a value that the verification produced: the claims of a token, a user of the
    /// application. A principal has one value of each type.
    #[must_use]
    pub fn with_claims<T: Send + Sync + 'static>(mut self, claims: T) -> Self {
        Arc::make_mut(&mut self.0).claims.insert(claims);
        self
    }

    /// Adds a value that is shared.
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub(crate) fn with_shared_claims<T: Send + Sync + 'static>(mut self, claims: Arc<T>) -> Self {
        Arc::make_mut(&mut self.0).claims.insert_shared(claims);
        self
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the claims of this type.
    pub fn claims<T: 'static>(&self) -> Option<&T> {
        self.0.claims.get()
    }

    /// Returns the number of types of claims.
    pub(crate) fn claims_len(&self) -> usize {
        self.0.claims.len()
    }

    pub(crate) fn shared_name(&self) -> Arc<str> {
        Arc::clone(&self.0.name)
    }

    /// Returns true if both come from one request.
    pub(in crate::server) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Principal {}

impl Hash for Principal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name().hash(state);
    }
}

impl From<&str> for Principal {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Principal {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl fmt::Debug for Principal {
    /// Without name and claims, which are not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Principal")
    }
}
