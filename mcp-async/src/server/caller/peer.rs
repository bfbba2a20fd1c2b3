//! The handle of the client of a connection.

use core::fmt;
use core::future::poll_fn;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::{ElicitationCompleteParams, LoggingLevel};
use mcp_proto::rpc::Method;
use mcp_proto::server::{AskOptions, ListKind};
use mcp_proto::{Channel, Payload, SendError};
use serde::de::DeserializeOwned;

use super::Machine;
use super::ask::Ask;
use super::log::poll_log;
use super::principal::Principal;
use crate::connection::Outbound as _;
use crate::connection::{PendingRequest, Shared};

/// A handle of the connection: cheap to clone, usable from any task, and no obstacle to its
/// end. Once that has come, nothing is sent any more.
#[derive(Clone)]
pub struct Peer {
    pub(in crate::server) shared: Arc<Shared<Machine>>,
}

impl Peer {
    pub(crate) const fn new(shared: Arc<Shared<Machine>>) -> Self {
        Self { shared }
    }

    /// Notifies legacy sessions and modern subscriptions that a list has changed.
    /// Changes that were not told yet count as one.
    pub fn list_changed(&self, list: ListKind) {
        self.shared.command(|machine, _| machine.list_changed(list));
    }

    /// Notifies the subscribers of this resource that its contents have changed.
    pub fn resource_updated(&self, uri: &str) {
        self.shared
            .command(|machine, _| machine.resource_updated(uri));
    }

    /// Returns the URIs of resources that the client is subscribed to, each once, in order.
    pub fn watched(&self) -> Vec<String> {
        let mut watched: Vec<String> = {
            let core = self.shared.lock();
            core.machine.watched().map(str::to_owned).collect()
        };
        watched.sort_unstable();
        watched.dedup();
        watched
    }

    /// Notifies all subscribers of resources that the contents may have changed.
    pub(in crate::server) fn resources_updated(&self) {
        self.shared
            .command(|machine, _| machine.resources_updated());
    }

    /// Sends a log message that belongs to no call: to a legacy session only.
    ///
    /// # Errors
    /// [`SendError::NotReady`] before there is a session, [`SendError::MissingCapability`] for a server
    /// that did not declare logging, [`SendError::Encode`], [`SendError::Closed`].
    pub async fn log(
        &self,
        level: LoggingLevel,
        logger: Option<&str>,
        data: impl Payload + Sync,
    ) -> Result<(), SendError> {
        let mut receipt = None;
        poll_fn(|cx| {
            let write = |machine: &mut Machine, _, out: &mut [u8]| {
                machine.log(None, level, logger, &data, out)
            };
            poll_log(&self.shared, cx, &mut receipt, Channel::PIPE, write)
        })
        .await
    }

    /// Sends another notification of the legacy session, when there is room for it:
    /// `notifications/tasks/status`, one of the configuration's own [`methods`](mcp_proto::server::ServerConfig::methods), or
    /// `notifications/elicitation/complete`, as [`elicitation_complete`](Self::elicitation_complete) does.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] for one that is the core's to send, or that the client's
    /// revision does not have; [`SendError::NotReady`], [`SendError::Encode`],
    /// [`SendError::Closed`].
    pub async fn notify(
        &self,
        method: Method<'_>,
        params: Option<&(dyn Payload + Sync)>,
    ) -> Result<(), SendError> {
        {
            let core = self.shared.lock();
            if !core.role_state.may_send(method, core.machine.revision()) {
                return Err(SendError::NotInRevision);
            }
        }
        let mut receipt = None;
        poll_fn(|cx| {
            self.shared
                .poll_tell(cx, &mut receipt, Channel::PIPE, |machine, _, out| {
                    let params = params.map(|params| -> &dyn Payload { params });
                    machine.notify(method, params, out)
                })
        })
        .await
    }

    /// Reports to a client of 2025-11-25 that the person has finished on the page of the elicitation with this id: see
    /// [`CallContext::elicit_page`](crate::server::CallContext::elicit_page). The client ignores an id that it was not asked with.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] in an older session, and [`SendError::NotReady`] without a session, as in 2026-07-28;
    /// [`SendError::Closed`].
    pub async fn elicitation_complete(&self, elicitation_id: &str) -> Result<(), SendError> {
        let params = ElicitationCompleteParams {
            elicitation_id: elicitation_id.into(),
            ..ElicitationCompleteParams::default()
        };
        self.notify(Method::ElicitationComplete, Some(&params))
            .await
    }

    /// Asks the client something outside every call, `roots/list` for instance: in a legacy
    /// session only.
    pub fn ask<'a, T: DeserializeOwned>(
        &'a self,
        method: Method<'a>,
        params: &'a (dyn Payload + Sync),
    ) -> Ask<'a, T> {
        let pending = PendingRequest::new(&self.shared);
        Ask::new(pending, None, method, params, AskOptions::default())
    }

    /// Returns the `Implementation` of the client that `initialize` or a request of 2026-07-28
    /// stated last: for display, not for decisions.
    pub fn client_info(&self) -> Option<crate::model::Implementation> {
        self.raw_client_info()?.decode().ok()
    }

    /// [`client_info`](Self::client_info) as it came.
    pub fn raw_client_info(&self) -> Option<Arc<RawBuf>> {
        self.shared.peer_info.client()
    }

    /// Returns the verified principal at the other end, with the claims of its last request.
    pub fn principal(&self) -> Option<Principal> {
        self.shared.peer_info.principal()
    }

    /// Returns true if the principal at the other end has this name.
    pub(in crate::server) fn is_of(&self, name: &str) -> bool {
        self.principal()
            .is_some_and(|principal| principal.name() == name)
    }

    /// Ends the connection in good order: nothing more is read, what was read is answered as
    /// at the end of input, and the output is flushed.
    pub fn shutdown(&self) {
        self.shared.close();
    }

    /// Sets the limit of log messages of the connection, and its extensions.
    pub(in crate::server) fn configure(
        &self,
        logs: Option<super::rate::RateLimit>,
        extensions: Arc<dyn super::extension_revisions::ExtensionRevisions>,
    ) {
        let core = &mut *self.shared.lock();
        let (now, state) = (core.now, &mut core.role_state);
        if let (Some(limit), None) = (logs, &state.logs) {
            state.logs = Some(super::buckets::Bucket::new(limit, now));
        }
        state.extensions = Some(extensions);
    }

    pub(crate) fn downgrade(&self) -> WeakPeer {
        WeakPeer(Arc::downgrade(&self.shared))
    }

    /// Returns true if the client reads messages that belong to no request: over a pipe, or on the
    /// stream of its session.
    pub(crate) fn is_read(&self) -> bool {
        let core = self.shared.lock();
        !core.ended
            && core
                .outbound
                .as_ref()
                .is_none_or(|outbound| outbound.is_read(Channel::PIPE))
    }

    /// Returns true if the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().ended
    }
}

/// A [`Peer`] that does not keep the connection's memory.
#[derive(Clone)]
pub(crate) struct WeakPeer(std::sync::Weak<Shared<Machine>>);

impl WeakPeer {
    /// The peer, unless its connection has ended.
    pub(crate) fn upgrade(&self) -> Option<Peer> {
        let peer = Peer::new(self.0.upgrade()?);
        (!peer.is_closed()).then_some(peer)
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.upgrade().is_some()
    }

    /// No other connection has it for as long as this is kept.
    pub(crate) fn address(&self) -> usize {
        self.0.as_ptr().addr()
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").finish_non_exhaustive()
    }
}
