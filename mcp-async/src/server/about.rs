//! The description that a client gives of itself and of its requests.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::json::{Object, Raw, RawBuf, Str};
use mcp_proto::model::keys;
use mcp_proto::server::{Initialize, RequestContext as Request};

use super::principal::Principal;
use crate::trace_context::TraceContext;

/// The `Implementation` of a client, as JSON.
pub(super) type ClientInfo = Option<Arc<RawBuf>>;

/// The extensions of a client, with their settings.
pub(super) type Extensions = Option<Arc<RawBuf>>;

/// The data of one request about its client, and its `_meta`.
#[derive(Clone, Default)]
pub(super) struct Told {
    pub(super) client: ClientInfo,
    pub(super) trace: Option<Arc<TraceContext>>,
    /// The extensions that the client declares for it.
    pub(super) extensions: Extensions,
    /// `_meta`, if it has a member that the protocol does not define.
    pub(super) meta: Option<Arc<RawBuf>>,
}

/// The client of a connection, as the handles of the connection see it.
#[derive(Default)]
pub(crate) struct About {
    /// The `Implementation` that the client sent last.
    client: Mutex<ClientInfo>,
    /// The principal, where the transport has verified it.
    principal: Mutex<Option<Principal>>,
}

/// The data of the client that the connection's future keeps, so that an ordinary call costs
/// neither a copy nor a lock.
#[derive(Default)]
pub(super) struct Known {
    /// The `Implementation` in `initialize`: the client of every legacy request.
    session: ClientInfo,
    /// The `Implementation` in the last request of 2026-07-28 that contained one.
    last: ClientInfo,
    /// The extensions that `initialize` declared.
    session_extensions: Extensions,
    /// The capabilities that a request of 2026-07-28 declared last, and the extensions in them.
    declared: Option<(RawBuf, Extensions)>,
}

/// The client of a session, from `initialize`, for other processes that continue the session: texts
/// of JSON.
#[cfg(feature = "http-server")]
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SessionClient {
    info: Option<String>,
    extensions: Option<String>,
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
    pub(super) fn handshake(&mut self, opened: &Initialize<'_>, about: &About) {
        self.session = keep(opened.client_info.as_raw());
        self.session_extensions = extensions(opened.capabilities);
        about.set(&self.session);
    }

    /// Returns the client of the session. Extensions that are too long are left out.
    #[cfg(feature = "http-server")]
    pub(super) fn session_client(&self) -> SessionClient {
        let text = |value: &Option<Arc<RawBuf>>| {
            let text = value.as_deref()?.as_raw().as_str();
            (text.len() <= KEPT).then(|| text.to_owned())
        };
        SessionClient {
            info: text(&self.session),
            extensions: text(&self.session_extensions),
        }
    }

    /// A legacy session is continued.
    #[cfg(feature = "http-server")]
    pub(super) fn resume(&mut self, client: &SessionClient, about: &About) {
        let value = |text: &Option<String>| RawBuf::parse(text.as_deref()?).ok().map(Arc::new);
        self.session = value(&client.info);
        self.session_extensions = value(&client.extensions);
        about.set(&self.session);
    }

    /// Returns the data of this request, in one walk over its `_meta`. Each request of 2026-07-28
    /// names the client and its capabilities anew (JR-44); any request may name the trace that it
    /// belongs to (JR-31).
    pub(super) fn told(&mut self, request: &Request<'_>, about: &About) -> Told {
        let read = request.meta.and_then(read);
        let ([info, declared, parent, state, baggage, ..], has_others) = read.unwrap_or_default();
        let (client, extensions) = if !request.revision.describes_requests() {
            (self.session.clone(), self.session_extensions.clone())
        } else {
            (
                info.and_then(|info| self.client(info, about)),
                declared.and_then(|declared| self.extensions(declared)),
            )
        };
        let meta = request.meta.filter(|_| has_others);
        let trace = parent.and_then(Raw::string).and_then(|parent| {
            let state = state.and_then(Raw::string).map(Str::to_cow);
            let trace = TraceContext::parse(&parent.to_cow(), state.as_deref())?;
            Some(Arc::new(match baggage.and_then(Raw::string) {
                Some(baggage) => trace.with_baggage(&baggage.to_cow()),
                None => trace,
            }))
        });
        Told {
            client,
            trace,
            extensions,
            meta: meta.map(|meta| Arc::new(meta.as_raw().into())),
        }
    }

    /// The extensions among these capabilities. Most requests of a client declare the same.
    fn extensions(&mut self, declared: Raw<'_>) -> Extensions {
        let len = declared.as_bytes().len();
        if len < SHORTEST {
            return None;
        }
        if let Some((known, extensions)) = &self.declared
            && known.as_raw() == declared
        {
            return extensions.clone();
        }
        let extensions = declared.object().and_then(extensions);
        self.declared = (len <= KEPT).then(|| (declared.into(), extensions.clone()));
        extensions
    }

    fn client(&mut self, info: Raw<'_>, about: &About) -> ClientInfo {
        if self.last.as_ref().is_none_or(|last| last.as_raw() != info) {
            self.last = keep(info);
            about.set(&self.last);
        }
        self.last.clone()
    }
}

/// The extensions that a client declares with its capabilities.
fn extensions(declared: Object<'_>) -> Extensions {
    let extensions = declared.get("extensions")?.object()?;
    Some(Arc::new(extensions.as_raw().into()))
}

/// Reads the members that are defined, and whether there are others. A member that stands twice
/// makes it say nothing.
fn read(meta: Object<'_>) -> Option<([Option<Raw<'_>>; KEYS.len()], bool)> {
    let mut found = [None; KEYS.len()];
    let mut has_others = false;
    for (name, value) in meta.members() {
        let mut slots = KEYS.iter().zip(&mut found);
        match slots.find(|(key, _)| name == **key) {
            Some((_, slot)) if slot.is_none() => *slot = Some(value),
            Some(_) => return None,
            None => has_others = true,
        }
    }
    Some((found, has_others))
}

/// The members of `_meta` that the protocol defines for requests.
const KEYS: [&str; 8] = [
    keys::CLIENT_INFO,
    keys::CLIENT_CAPABILITIES,
    keys::TRACE_PARENT,
    keys::TRACE_STATE,
    keys::BAGGAGE,
    keys::PROTOCOL_VERSION,
    keys::PROGRESS_TOKEN,
    keys::LOG_LEVEL,
];

/// The fewest bytes that declare an extension.
const SHORTEST: usize = r#"{"extensions":{"a/b":{}}}"#.len();

/// A longer name is dropped, because every call in flight may hold one.
fn keep(info: Raw<'_>) -> ClientInfo {
    (info.as_bytes().len() <= KEPT).then(|| Arc::new(RawBuf::from(info)))
}

/// Room for pictures by reference, not for pictures.
const KEPT: usize = 16 << 10;
