//! Who the client is, as far as it said so.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::server::Context as Request;

/// What an `Implementation` of the client is kept in.
pub(super) type ClientInfo = Option<Arc<RawBuf>>;

/// What the handles of a connection know of its client.
#[derive(Default)]
pub(crate) struct About {
    /// What it said of itself last.
    client: Mutex<ClientInfo>,
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
    pub(super) fn handshake(&mut self, info: Option<Raw<'_>>, about: &About) {
        self.session = info.and_then(keep);
        about.set(&self.session);
    }

    /// Who asks: in 2026-07-28 each request says it anew (JR-44).
    pub(super) fn of(&mut self, request: &Request<'_>, about: &About) -> ClientInfo {
        if request.revision.is_legacy() {
            return self.session.clone();
        }
        let info = request.client_info()?;
        if self.last.as_ref().is_none_or(|last| last.as_raw() != info) {
            self.last = keep(info);
            about.set(&self.last);
        }
        self.last.clone()
    }
}

/// Whoever calls itself by a longer name stays nameless: every call in flight may hold another.
fn keep(info: Raw<'_>) -> ClientInfo {
    (info.as_bytes().len() <= KEPT).then(|| Arc::new(RawBuf::from(info)))
}

/// Room for pictures by reference, not for pictures.
const KEPT: usize = 16 << 10;
