//! The description that a client gives of itself and of its requests.

use core::cell::Cell;
use std::sync::Arc;
use std::sync::OnceLock;

use mcp_proto::json::{Object, Raw, RawBuf, Str};
use mcp_proto::server::{Initialize, RequestContext as Request};

use super::principal::Principal;
use crate::sync::Lock;
use crate::trace_context::TraceContext;
use crate::values::Values;

/// The `Implementation` of a client, as JSON.
pub(super) type Implementation = Option<Arc<RawBuf>>;

/// The extensions of a client, with their settings.
pub(in crate::server) type Extensions = Option<Arc<RawBuf>>;

/// The data of one request about its client, and its `_meta`.
#[derive(Clone, Default)]
pub(in crate::server) struct RequestMeta {
    pub(in crate::server) client: Implementation,
    pub(in crate::server) trace: Option<Arc<TraceContext>>,
    /// The extensions that the client declares for it.
    pub(in crate::server) extensions: Extensions,
    /// `_meta`, if it has a member that the protocol does not define.
    pub(in crate::server) meta: Option<Arc<RawBuf>>,
}

/// The client of a connection, as the handles of the connection see it.
#[derive(Default)]
pub(crate) struct ClientInfo {
    /// The `Implementation` that the client sent last.
    client: Lock<Implementation>,
    /// The principal, where the transport has verified it.
    principal: Lock<Option<Principal>>,
    /// The values of the application that the calls of a session share.
    session: Lock<Values>,
    /// The id of the session over HTTP that the connection is.
    pub(crate) session_id: OnceLock<Arc<str>>,
}

/// The data of the client that the connection's future keeps, so that an ordinary call costs
/// neither a copy nor a lock.
#[derive(Default)]
pub(in crate::server) struct ClientState {
    /// The `Implementation` in `initialize`: the client of every legacy request.
    session: Implementation,
    /// The `Implementation` in the last request of 2026-07-28 that contained one.
    last: Implementation,
    /// The extensions that `initialize` declared.
    session_extensions: Extensions,
    /// The extensions that a request of 2026-07-28 declared last.
    last_extensions: Extensions,
}

/// The client of a session, from `initialize`, for other processes that continue the session: texts
/// of JSON.
#[derive(Clone, Default, serde::Serialize, serde::Deserialize)]
pub(crate) struct SessionClient {
    info: Option<String>,
    extensions: Option<String>,
}

impl ClientInfo {
    pub(in crate::server) fn client(&self) -> Implementation {
        self.client.lock().clone()
    }

    pub(in crate::server) fn principal(&self) -> Option<Principal> {
        self.principal.lock().clone()
    }

    pub(in crate::server) fn set_principal(&self, principal: Option<Principal>) {
        // Claims are the application's, and dropped outside the lock.
        let old = core::mem::replace(&mut *self.principal.lock(), principal);
        drop(old);
    }

    /// Returns the session's value of this type, which is made by its `Default` when it is first asked for.
    pub(in crate::server) fn session_state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        if let Some(known) = self.session.lock().get_shared() {
            return known;
        }
        // Made and dropped outside of the lock, because that runs code of the application.
        let made = Arc::new(T::default());
        let mut values = self.session.lock();
        let known = values.get_shared();
        if known.is_none() {
            values.insert_shared(Arc::clone(&made));
        }
        drop(values);
        known.unwrap_or(made)
    }

    /// Drops the values of the session: one may hold what keeps the connection.
    pub(in crate::server) fn end_session(&self) {
        let values = core::mem::take(&mut *self.session.lock());
        drop(values);
    }

    fn set(&self, info: &Implementation) {
        let old = core::mem::replace(&mut *self.client.lock(), info.clone());
        drop(old);
    }
}

impl ClientState {
    /// A legacy session was opened.
    pub(in crate::server) fn handshake(&mut self, opened: &Initialize<'_>, shown: &ClientInfo) {
        self.session = keep(opened.client_info.as_raw());
        self.session_extensions = extensions(opened.capabilities);
        shown.set(&self.session);
    }

    /// Returns the client of the session. Extensions that are too long are left out.
    pub(in crate::server) fn session_client(&self) -> SessionClient {
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
    pub(in crate::server) fn resume(&mut self, client: &SessionClient, shown: &ClientInfo) {
        let value = |text: &Option<String>| RawBuf::parse(text.as_deref()?).ok().map(Arc::new);
        self.session = value(&client.info);
        self.session_extensions = value(&client.extensions);
        shown.set(&self.session);
    }

    /// Returns the data of this request. Each request of 2026-07-28
    /// names the client and its capabilities anew (JR-44); any request may name the trace that it
    /// belongs to (JR-31).
    pub(in crate::server) fn request_meta(
        &mut self,
        request: &Request<'_>,
        shown: &ClientInfo,
    ) -> RequestMeta {
        let (client, extensions) = if !request.revision.describes_requests() {
            (self.session.clone(), self.session_extensions.clone())
        } else {
            let (info, declared) = (request.client_info(), request.client_extensions());
            (
                info.and_then(|info| self.client(info, shown)),
                declared.map(|declared| self.extensions(declared)),
            )
        };
        let [parent, state, baggage] = request.trace();
        let trace = parent.and_then(|parent| {
            let state = state.map(Str::to_cow);
            let trace = TraceContext::parse(&parent.to_cow(), state.as_deref())?;
            Some(Arc::new(match baggage {
                Some(baggage) => trace.with_baggage(&baggage.to_cow()),
                None => trace,
            }))
        });
        RequestMeta {
            client,
            trace,
            extensions,
            meta: request
                .custom_meta()
                .map(|meta| Arc::new(meta.as_raw().into())),
        }
    }

    /// These extensions. Most requests of a client declare the same.
    fn extensions(&mut self, declared: Object<'_>) -> Arc<RawBuf> {
        let declared = declared.as_raw();
        match &self.last_extensions {
            Some(last) if last.as_raw() == declared => Arc::clone(last),
            _ => {
                let extensions = Arc::new(RawBuf::from(declared));
                let is_kept = declared.as_bytes().len() <= KEPT;
                self.last_extensions = is_kept.then(|| Arc::clone(&extensions));
                extensions
            }
        }
    }

    fn client(&mut self, info: Raw<'_>, shown: &ClientInfo) -> Implementation {
        if self.last.as_ref().is_none_or(|last| last.as_raw() != info) {
            self.last = shared(info);
            shown.set(&self.last);
        }
        self.last.clone()
    }
}

/// The extensions that a client declares with its capabilities.
fn extensions(declared: Object<'_>) -> Extensions {
    let extensions = declared.get("extensions")?.object()?;
    Some(Arc::new(extensions.as_raw().into()))
}

/// A longer name is dropped, because every call in flight may hold one.
fn keep(info: Raw<'_>) -> Implementation {
    (info.as_bytes().len() <= KEPT).then(|| Arc::new(RawBuf::from(info)))
}

std::thread_local! {
    /// The description of the last client on the thread.
    static LAST: Cell<Implementation> = const { Cell::new(None) };
}

/// Returns the description of a client: that of the last request on the thread if its bytes are equal, otherwise a copy (`keep`). Over
/// HTTP each request has a new machine.
fn shared(info: Raw<'_>) -> Implementation {
    let known = LAST.try_with(Cell::take).unwrap_or_default();
    let client = known
        .filter(|known| known.as_raw() == info)
        .or_else(|| keep(info));
    // The thread is ending: nothing is kept.
    let _ = LAST.try_with(|last| last.set(client.clone()));
    client
}

/// Room for pictures by reference, not for pictures.
const KEPT: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_of_the_same_bytes_are_kept_once() {
        let info = |text| Raw::parse(text, 8).unwrap();
        let [one, again, other] = [r#"{"name":"a"}"#, r#"{"name":"a"}"#, r#"{"name":"b"}"#]
            .map(|text| shared(info(text.as_bytes())).unwrap());
        assert!(Arc::ptr_eq(&one, &again));
        assert_eq!(other.as_raw().as_str(), r#"{"name":"b"}"#);
    }
}
