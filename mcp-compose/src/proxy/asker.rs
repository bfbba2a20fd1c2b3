//! The caller of a request, as rules and sessions see it.

use mcp_async::server::{CallContext, Principal};

use super::places::CallerName;

/// A verified caller, for whom a [rule](super::ProxyBuilder::caller_entry) makes the entry of a server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ProxyCaller {
    /// The caller.
    pub principal: Principal,
    /// The call that needs the server, by which the caller can be asked; `None` for subscriptions and requests about tasks.
    pub call: Option<CallContext>,
}

/// The caller that needs a session.
#[derive(Clone, Copy)]
pub(super) struct Asker<'c> {
    principal: Option<&'c Principal>,
    call: Option<&'c CallContext>,
}

impl<'c> Asker<'c> {
    /// The caller of a call.
    pub(super) const fn of(call: &'c CallContext) -> Self {
        Self {
            principal: call.principal(),
            call: Some(call),
        }
    }

    /// A caller without a call.
    pub(super) const fn beside_calls(principal: Option<&'c Principal>) -> Self {
        Self {
            principal,
            call: None,
        }
    }

    pub(super) fn name(self) -> CallerName {
        self.principal.map(|principal| principal.name().into())
    }

    /// Returns the caller if it is verified.
    pub(super) fn verified(self) -> Option<ProxyCaller> {
        self.principal.map(|principal| ProxyCaller {
            principal: principal.clone(),
            call: self.call.cloned(),
        })
    }
}
