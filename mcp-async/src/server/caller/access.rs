//! The permissions of the token of a request.

use core::fmt;
use std::sync::{Arc, MutexGuard, OnceLock};

use mcp_auth::resource::{Admission, Denial, ProtectedResource, RequiredScopes};
use mcp_proto::rpc::code;

use crate::error::ErrorReply;
use crate::sync::Lock;

/// The permissions of the token of a request, in the extensions of the request.
pub(crate) struct Access {
    resource: Arc<ProtectedResource>,
    admission: Option<Box<Admission>>,
    /// The refusal of a handler or of the router: it becomes the response, if that has not begun.
    denial: Lock<Option<Denial>>,
    /// The scopes that the operations of the body need by themselves.
    operation: OnceLock<RequiredScopes>,
}

impl Access {
    pub(crate) fn new(
        resource: Arc<ProtectedResource>,
        admission: Option<Box<Admission>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            resource,
            admission,
            denial: Lock::default(),
            operation: OnceLock::new(),
        })
    }

    pub(crate) fn admission(&self) -> Option<&Admission> {
        self.admission.as_deref()
    }

    /// Fails if the token lacks one of the scopes that the operations of the body need.
    pub(crate) fn begin(&self, operation: RequiredScopes) -> Result<(), Denial> {
        let operation = self.operation.get_or_init(|| operation);
        self.resource.require(self.admission(), operation)
    }

    /// Fails if the token lacks one of the scopes, in addition to those that every token and the
    /// operation need. The refusal names all of them.
    pub(crate) fn require(&self, needed: &RequiredScopes) -> Result<(), Denial> {
        let admission = self.admission();
        match self.operation.get() {
            Some(operation) => self.resource.require(admission, &operation.union(needed)),
            None => self.resource.require(admission, needed),
        }
    }

    /// Returns whether the token has these scopes, in addition to those that every token needs.
    pub(in crate::server) fn permits(&self, needed: &RequiredScopes) -> bool {
        self.resource.require(self.admission(), needed).is_ok()
    }

    /// Returns the seconds for which an expired token is accepted.
    pub(crate) fn leeway(&self) -> u64 {
        self.resource.leeway()
    }

    /// Takes the refusal that one of the calls of the request was answered with.
    pub(crate) fn take_denial(&self) -> Option<Denial> {
        self.denial().take()
    }

    fn denial(&self) -> MutexGuard<'_, Option<Denial>> {
        self.denial.lock()
    }
}

/// The token of a request lacks scopes that its operation needs: see
/// [`CallContext::require_scopes`](crate::server::CallContext::require_scopes).
///
/// A handler that returns it answers with 403 and a challenge that names the scopes, if the
/// response has not begun: then a client can ask its user for them and repeat the request. In an
/// event stream that has begun, the client reads a JSON-RPC error that names the scopes.
#[derive(Clone)]
pub struct MissingScopes {
    needed: RequiredScopes,
    /// The refusal that the response states. `None` if no token was checked.
    denied: Option<Box<(Arc<Access>, Denial)>>,
}

impl MissingScopes {
    /// Fails if a request with this access lacks one of the scopes. Without access no token was
    /// checked.
    pub(in crate::server) fn check(
        access: Option<&Arc<Access>>,
        needed: &RequiredScopes,
    ) -> Result<(), Self> {
        let denied = match access {
            Some(access) => match access.require(needed) {
                Ok(()) => return Ok(()),
                Err(denial) => Some(Box::new((Arc::clone(access), denial))),
            },
            None => None,
        };
        Err(Self {
            needed: needed.clone(),
            denied,
        })
    }

    /// Returns the scopes that the operation needs.
    pub const fn needed(&self) -> &RequiredScopes {
        &self.needed
    }

    /// The error that answers the call. The response to the request gets its status and challenge.
    pub(in crate::server) fn to_reply(&self) -> ErrorReply {
        if let Some(denied) = &self.denied {
            let (access, denial) = &**denied;
            *access.denial() = Some(denial.clone());
        }
        ErrorReply::new(code::INVALID_REQUEST, self.to_string())
    }
}

impl From<MissingScopes> for ErrorReply {
    fn from(missing: MissingScopes) -> Self {
        missing.to_reply()
    }
}

impl fmt::Display for MissingScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scopes = self.needed.scopes();
        match &self.denied {
            Some(denied) => denied.1.fmt(f),
            None => write!(
                f,
                "the endpoint is not protected, and the operation needs the scopes: {scopes}"
            ),
        }
    }
}

impl fmt::Debug for MissingScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MissingScopes")
            .field("needed", &self.needed)
            .finish_non_exhaustive()
    }
}

impl core::error::Error for MissingScopes {}
