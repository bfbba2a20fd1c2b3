//! The role of a server for its connection: handles events of the machine.

use std::sync::Arc;

use mcp_proto::json::{Number, Str};
use mcp_proto::server::{Answer, Event, Growing, Server, ServerConfig};
use mcp_proto::{Instant, Outcome, SendError, SentToken, Token, Transmit};

use super::sender::Sender;
use crate::connection::{
    Arrival, Effect, Frame, Outbound as _, Progress, Respond, Role, Shared, guarded,
};
use crate::error::ErrorReply;
use crate::observe;
use crate::server::call::listen::Listen;
use crate::server::call::service::{Call, Service};
use crate::server::caller::Machine;
use crate::server::caller::ask::Lost;
use crate::server::caller::client_info::{ClientInfo, SessionClient};
use crate::server::caller::peer::Peer;
use crate::server::caller::principal::Principal;
use crate::server::questions::{self, QUESTIONS};

/// The server's side of the driver.
pub(crate) struct ServerRole<S> {
    service: S,
    pub(crate) peer: Peer,
    pub(crate) sender: Sender,
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
        event: &Event<'_>,
        frame: Frame<'_>,
    ) -> Effect {
        match *event {
            Event::Request {
                token,
                method,
                params,
                ref context,
            } => {
                let own = self.sender.context(token, context, &shared.peer_info);
                let mut call = Call {
                    method,
                    params,
                    request: context,
                    context: own,
                    frame,
                    lookup: None,
                };
                // Take up the state that the previous round has left.
                let may_ask =
                    context.request_state.is_some() || context.features.intersects(QUESTIONS);
                if may_ask
                    && !self.seals_state
                    && let Err(error) = questions::begin(&mut call)
                {
                    return Effect::Start(token, call.refuse(error));
                }
                match guarded(|| self.service.call(call)) {
                    Some(job) => return Effect::Start(token, job),
                    None => {
                        self.sender.forget();
                        return Effect::Panicked(token);
                    }
                }
            }
            Event::Cancelled { token, .. } => return Effect::Cancel(token),
            Event::Handshake(opened) => {
                self.sender.client.handshake(&opened, &shared.peer_info);
                guarded(|| self.service.handshake(&self.peer, &opened));
            }
            Event::Initialized => {
                guarded(|| self.service.listening(&self.peer));
            }
            Event::Listening {
                token,
                filter,
                held,
                context,
            } => {
                guarded(|| self.service.listening(&self.peer));
                if held {
                    let own = self.sender.context(token, &context, &shared.peer_info);
                    let listen = Listen::new(filter, context, own.begin(), frame);
                    return match guarded(|| self.service.listen(listen)) {
                        Some(job) => Effect::Start(token, job),
                        None => Effect::Panicked(token),
                    };
                }
            }
            Event::Notification { method, params } => {
                guarded(|| self.service.notified(&self.peer, method, params));
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
                guarded(|| self.service.progress(&self.peer, tag, progress));
            }
            Event::PingMissed { misses, limit } => {
                observe::ping_missed(misses, limit);
                guarded(|| self.service.ping_missed(&self.peer, misses, limit));
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
        if principal.is_some() {
            peer.shared.peer_info.set_principal(principal.clone());
        }
        Self {
            seals_state: service.seals_state(),
            service,
            sender: Sender::new(Arc::clone(&peer.shared) as _, principal),
            peer,
        }
    }

    /// Sets the sender of the messages that are handled from now on, for calls and for handles of the connection.
    pub(in crate::server) fn set_principal(&mut self, principal: Option<Principal>) {
        self.peer.shared.peer_info.set_principal(principal.clone());
        self.sender.principal = principal;
    }

    /// Sets the sender of the messages that are handled from now on, unless it is known.
    pub(crate) fn identify(&mut self, principal: Option<Principal>) {
        let known = match (&self.sender.principal, &principal) {
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
        self.sender.client.session_client()
    }

    /// Continues a session in which the client has said this of itself.
    pub(crate) fn resume(&mut self, client: &SessionClient) {
        self.sender
            .client
            .resume(client, &self.peer.shared.peer_info);
    }
}

impl Respond for Server<'_, Growing, ServerConfig<'_>> {
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
