//! The description that a client gives of itself and of its requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::json::{Raw, RawBuf, Str};
use mcp_proto::model::keys;
use mcp_proto::server::RequestContext as Request;

use super::principal::Principal;
use crate::trace_context::TraceContext;

/// What an `Implementation` of the client is kept in.
pub(super) type ClientInfo = Option<Arc<RawBuf>>;

/// What came with one request.
#[derive(Clone, Default)]
pub(super) struct Told {
    pub(super) client: ClientInfo,
    pub(super) trace: Option<Arc<TraceContext>>,
}

/// What the handles of a connection know of its client.
#[derive(Default)]
pub(crate) struct About {
    /// What it said of itself last.
    client: Mutex<ClientInfo>,
    /// Who it is, where the transport has verified that.
    principal: Mutex<Option<Principal>>,
}

/// What the connection's future remembers, so that an ordinary call costs neither a copy nor a
/// lock.
#[derive(Default)]
pub(super) struct Known {
    /// What `initialize` said: who asks in every legacy request.
    session: ClientInfo,
    /// What a request of 2026-07-28 said last.
    last: ClientInfo,
}

impl About {
    pub(super) fn client(&self) -> ClientInfo {
        self.lock().clone()
    }

    pub(super) fn principal(&self) -> Option<Principal> {
        self.lock_principal().clone()
    }

    pub(super) fn set_principal(&self, principal: Option<Principal>) {
        // Claims are the application's, and dropped outside the lock.
        let old = core::mem::replace(&mut *self.lock_principal(), principal);
        drop(old);
    }

    fn lock_principal(&self) -> MutexGuard<'_, Option<Principal>> {
        self.principal
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, info: &ClientInfo) {
        let old = core::mem::replace(&mut *self.lock(), info.clone());
        drop(old);
    }

    fn lock(&self) -> MutexGuard<'_, ClientInfo> {
        self.client.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// A legacy session was opened.
    pub(super) fn handshake(&mut self, info: Raw<'_>, about: &About) {
        self.session = keep(info);
        about.set(&self.session);
    }

    /// What this request says, in one walk over its `_meta`. Who asks, each request of 2026-07-28
    /// says anew (JR-44); which trace it belongs to, any request may say (JR-31).
    pub(super) fn told(&mut self, request: &Request<'_>, about: &About) -> Told {
        let keys = [keys::CLIENT_INFO, keys::TRACE_PARENT, keys::TRACE_STATE];
        let found = request.meta.and_then(|meta| meta.find(keys).ok());
        let [info, parent, state] = found.unwrap_or_default();
        let client = if !request.revision.describes_requests() {
            self.session.clone()
        } else {
            info.and_then(|info| self.client(info, about))
        };
        let trace = parent.and_then(Raw::string).and_then(|parent| {
            let state = state.and_then(Raw::string).map(Str::to_cow);
            TraceContext::parse(&parent.to_cow(), state.as_deref()).map(Arc::new)
        });
        Told { client, trace }
    }

    fn client(&mut self, info: Raw<'_>, about: &About) -> ClientInfo {
        if self.last.as_ref().is_none_or(|last| last.as_raw() != info) {
            self.last = keep(info);
            about.set(&self.last);
        }
        self.last.clone()
    }
}

/// A longer name is dropped, because every call in flight may hold one.
fn keep(info: Raw<'_>) -> ClientInfo {
    (info.as_bytes().len() <= KEPT).then(|| Arc::new(RawBuf::from(info)))
}

/// Room for pictures by reference, not for pictures.
const KEPT: usize = 16 << 10;
