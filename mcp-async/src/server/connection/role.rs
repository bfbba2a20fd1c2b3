//! The role of a server for its connection: handles events of the machine.

use core::panic::AssertUnwindSafe;
use std::panic::catch_unwind;
use std::sync::Arc;

use mcp_proto::json::{Number, Str};
use mcp_proto::server::{Answer, Event, Growing, RequestContext, Server};
use mcp_proto::{Instant, Outcome, SendError, SentToken, Token, Transmit};

use crate::connection::{
    Arrival, Effect, Frame, Outbound as _, Progress, Respond, Role, Shared, discard,
};
use crate::error::ErrorReply;
use crate::observe;
use crate::server::call::call_host::CallHost;
use crate::server::call::context::{Arrived, CallContext};
use crate::server::call::listen::Listen;
use crate::server::call::service::{Call, Service};
use crate::server::caller::Machine;
use crate::server::caller::ask::Lost;
use crate::server::caller::client_info::SessionClient;
use crate::server::caller::client_info::{ClientInfo, ClientState};
use crate::server::caller::peer::Peer;
use crate::server::caller::principal::Principal;
use crate::server::questions::{self, QUESTIONS};

/// The server's side of the driver.
pub(crate) struct ServerRole<S> {
    service: S,
    pub(crate) peer: Peer,
    /// The host of the contexts of the calls.
    host: Arc<dyn CallHost>,
    client: ClientState,
    /// The verified sender of the message that is being handled.
    principal: Option<Principal>,
    /// The origin of the message that is being handled.
    pub(crate) arrived: Arrived,
    /// The service keeps its request states itself.
    seals_state: bool,
}

impl<S: Service> Role for ServerRole<S> {
    type Machine = Machine;

    const WAITS_FOR_READER: bool = true;
    const DRAINS: bool = true;

    fn ended(&mut self, shared: &Shared<Machine>) {
        shared.peer_info.end_session();
    }

    fn dispatch(
        &mut self,
        shared: &Arc<Shared<Machine>>,
        event: Event<'_>,
        frame: Frame<'_>,
    ) -> Effect {
        match event {
            Event::Request {
                token,
                method,
                params,
                context,
            } => {
                let call = Call {
                    method,
                    params,
                    request: context,
                    context: self.context(token, &context, shared),
                    frame,
                    lookup: None,
                };
                let call = match self.begin(call) {
                    Ok(call) => call,
                    Err(refused) => return Effect::Start(token, refused),
                };
                match self.guarded(|service, _| service.call(call)) {
                    Some(job) => return Effect::Start(token, job),
                    None => return Effect::Panicked(token),
                }
            }
            Event::Cancelled { token, .. } => return Effect::Cancel(token),
            Event::Handshake(opened) => {
                self.client.handshake(&opened, &shared.peer_info);
                self.guarded(|service, peer| service.handshake(peer, &opened));
            }
            Event::Initialized => {
                self.guarded(|service, peer| service.listening(peer));
            }
            Event::Listening {
                token,
                filter,
                held,
                context,
            } => {
                self.guarded(|service, peer| service.listening(peer));
                if held {
                    let own = self.context(token, &context, shared);
                    let listen = Listen::new(filter, context, own, frame);
                    return match self.guarded(|service, _| service.listen(listen)) {
                        Some(job) => Effect::Start(token, job),
                        None => Effect::Panicked(token),
                    };
                }
            }
            Event::Notification { method, params } => {
                self.guarded(|service, peer| service.notified(peer, method, params));
            }
            Event::Progress {
                cookie,
                progress,
                total,
                message,
                ..
            } => {
                let tag = shared.lock().responses.tag(cookie);
                let message = message.map(Str::to_cow);
                let progress = Progress {
                    progress: progress.to_f64(),
                    total: total.map(Number::to_f64),
                    message: message.as_deref(),
                };
                self.guarded(|service, peer| service.progress(peer, tag, progress));
            }
            Event::PingMissed { misses, limit } => {
                observe::ping_missed(misses, limit);
                self.guarded(|service, peer| service.ping_missed(peer, misses, limit));
            }
            Event::Answer {
                token,
                cookie,
                answer,
            } => {
                let (arrival, raw) = match answer {
                    Answer::Result(raw) => (Arrival::Result, Some(raw)),
                    Answer::Error(error) => (Arrival::Error(ErrorReply::received(&error)), None),
                    Answer::Unusable(reason) => (Arrival::Failed(Lost::Unusable(reason)), None),
                    Answer::Timeout => (Arrival::Failed(Lost::Timeout), None),
                    Answer::Cancelled => (Arrival::Failed(Lost::Cancelled), None),
                    _ => (Arrival::Failed(Lost::Closed), None),
                };
                let waker = {
                    let core = &mut *shared.lock();
                    if let Some(outbound) = &mut core.outbound {
                        outbound.answered(token);
                    }
                    let put = core.responses.put(cookie, arrival, raw, frame);
                    put.unwrap_or_default()
                };
                waker.wake();
            }
            Event::Closed => return Effect::Close,
            _ => {}
        }
        Effect::Nothing
    }
}

impl<S: Service> ServerRole<S> {
    pub(crate) fn new(service: S, peer: Peer, principal: Option<Principal>) -> Self {
        let mut side = Self {
            seals_state: service.seals_state(),
            service,
            host: Arc::clone(&peer.shared) as _,
            peer,
            client: ClientState::default(),
            principal: None,
            arrived: Arrived::default(),
        };
        if principal.is_some() {
            side.set_principal(principal);
        }
        side
    }

    /// Sets the sender of the messages that are handled from now on, for calls and for handles of the connection.
    pub(in crate::server) fn set_principal(&mut self, principal: Option<Principal>) {
        self.peer.shared.peer_info.set_principal(principal.clone());
        self.principal = principal;
    }

    /// Sets the sender of the messages that are handled from now on, unless it is known.
    pub(crate) fn identify(&mut self, principal: Option<Principal>) {
        let known = match (&self.principal, &principal) {
            (None, None) => true,
            (Some(known), Some(new)) => known.is_same(new),
            _ => false,
        };
        if !known {
            self.set_principal(principal);
        }
    }

    /// Returns the client that opened the session.
    pub(crate) fn session_client(&self) -> SessionClient {
        self.client.session_client()
    }

    /// Continues a session in which the client has said this of itself.
    pub(crate) fn resume(&mut self, client: &SessionClient) {
        self.client.resume(client, &self.peer.shared.peer_info);
    }

    /// The handle of a request.
    fn context(
        &mut self,
        token: Token,
        request: &RequestContext<'_>,
        shared: &Shared<Machine>,
    ) -> CallContext {
        let meta = self.client.request_meta(request, &shared.peer_info);
        let arrived = (token, self.arrived.clone());
        let host = Arc::clone(&self.host);
        CallContext::new(host, arrived, request, meta, self.principal.clone())
    }

    /// Takes up what a call brings from its last round.
    fn begin<'b>(&self, mut call: Call<'b>) -> Result<Call<'b>, crate::connection::Job> {
        let request = &call.request;
        let may_ask = request.request_state.is_some() || request.features.intersects(QUESTIONS);
        if may_ask
            && !self.seals_state
            && let Err(error) = questions::begin(&mut call)
        {
            return Err(call.refuse(error));
        }
        Ok(call)
    }

    /// Calls the service; `None` if it panicked.
    fn guarded<T>(&self, call: impl FnOnce(&S, &Peer) -> T) -> Option<T> {
        catch_unwind(AssertUnwindSafe(|| call(&self.service, &self.peer)))
            .map_err(|panic| {
                discard(panic);
                observe::panicked();
            })
            .ok()
    }
}

impl Respond for Server<'_, Growing> {
    type Failure = Lost;
    type PeerInfo = ClientInfo;
    type RoleState = State;
    type Outbound = Streams;

    fn respond(
        &mut self,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        Self::respond(self, token, outcome, out)
    }

    fn flush(
        &mut self,
        now: Instant,
        token: Token,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        self.flush_progress(now, token, out)
    }

    fn abandon(&mut self, token: SentToken) {
        self.cancel(token);
    }

    fn stop(&mut self) {
        self.cancel_all();
    }
}

type Streams = super::streams::ServerStreams;

/// The state that is kept with the machine.
type State = super::state::ServerState;
