//! The role of a client for its connection: handles events of the machine.

use core::future::poll_fn;
use std::sync::{Arc, OnceLock, Weak};

use mcp_proto::client::{Client as Core, Event, Failure, Growing};
use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::revision::Tasks;
use mcp_proto::{
    Channel, IgnoreReason, Machine as _, Outcome, SendError, SentToken, Token, Transmit,
};

use super::awaited::Awaited;
use super::handler::{Answer, Handler, IncomingQuestion};
use super::info::ServerInfo;
use crate::client::Machine;
use crate::connection::{
    Arrival, Effect, Frame, Gone, Job, Nothing, PendingResponses, Respond, Role, Shared, guarded,
    is_marked,
};
use crate::error::{ConnectError, ErrorReply};
use crate::observe;

/// The client's side of the driver.
pub(crate) struct ClientRole {
    pub(in crate::client) info: Arc<ConnectionInfo>,
    pub(super) awaited: Awaited,
}

impl Role for ClientRole {
    type Machine = Machine;

    const WAITS_FOR_READER: bool = false;
    const DRAINS: bool = false;

    fn dispatch(
        &mut self,
        shared: &Arc<Shared<Machine>>,
        event: &Event<'_>,
        frame: Frame<'_>,
    ) -> Effect {
        let handler = &*self.info.handler;
        match *event {
            Event::Connected(ref connected) => {
                // Only the first is kept; another follows when a session was lost.
                let server = self.info.server.set(ServerInfo::received(connected));
                if let Err(server) = server {
                    guarded(|| handler.renewed(&server));
                }
                shared.wake_watchers();
            }
            Event::ConnectFailed(ref error) => {
                let _ = self.info.failed.set(ConnectError::received(error));
                shared.wake_watchers();
            }
            Event::Answer {
                cookie,
                outcome: Ok(result),
                ..
            } => {
                let arrival = Arrival::Result;
                let put = {
                    shared
                        .lock()
                        .responses
                        .put(cookie, arrival, Some(result), frame)
                };
                match put {
                    Ok(caller) => caller.wake(),
                    Err(Gone) => unclaimed(shared, handler, result, is_marked(cookie)),
                }
            }
            Event::Answer {
                cookie,
                outcome: Err(ref error),
                ..
            } => {
                self.awaited.refused(error);
                arrive(
                    shared,
                    cookie,
                    Arrival::Error(ErrorReply::received(error)),
                    None,
                );
            }
            Event::LateResult { result } => {
                guarded(|| handler.late_result(result));
            }
            Event::Failed {
                cookie, failure, ..
            } => {
                arrive(shared, cookie, Arrival::Failed(failure), None);
            }
            Event::Input {
                cookie,
                requests,
                state,
                ..
            } => {
                let state = state.map(RawBuf::from);
                let arrival = Arrival::Input {
                    asks: requests.is_some(),
                    state,
                };
                let requests = requests.map(|requests| (requests.as_raw(), frame));
                arrive(shared, cookie, arrival, requests);
            }
            Event::Again { cookie, .. } => arrive(shared, cookie, Arrival::Again, None),
            Event::Listening {
                cookie, honoured, ..
            } => {
                let tag = shared.lock().responses.tag(cookie);
                guarded(|| handler.listening(tag, honoured));
            }
            Event::Progress {
                cookie,
                progress,
                total,
                message,
                ..
            } => {
                let receive = |responses: &mut PendingResponses<Failure>| {
                    responses.receive_progress(cookie, progress, total, message)
                };
                let waker = receive(&mut shared.lock().responses);
                waker.wake();
            }
            Event::Notification { notification, .. }
                if !self
                    .awaited
                    .passes(notification.method, notification.params) =>
            {
                observe::ignored(IgnoreReason::Misplaced);
            }
            Event::Notification {
                subscription,
                notification,
            } => {
                let tag = subscription.map(|(_, cookie)| shared.lock().responses.tag(cookie));
                guarded(|| handler.notified(notification, tag));
            }
            Event::Question {
                token,
                method,
                params,
            } => {
                self.awaited.asked(method, params);
                let Some(revision) = shared.lock().machine.revision() else {
                    return Effect::Nothing;
                };
                let question = IncomingQuestion {
                    revision,
                    key: None,
                    method,
                    params,
                };
                return match guarded(|| handler.question(question)) {
                    Some(reply) => Effect::Start(token, answer(shared, token, reply)),
                    None => Effect::Panicked(token),
                };
            }
            Event::QuestionCancelled { token, .. } => return Effect::Cancel(token),
            Event::PingMissed { misses, limit } => {
                observe::ping_missed(misses, limit);
                guarded(|| handler.ping_missed(misses, limit));
            }
            Event::Unusable(what) => {
                guarded(|| handler.unusable(what));
            }
            Event::Closed(_) => return Effect::Close,
            _ => {}
        }
        Effect::Nothing
    }
}

impl Respond for Core<'_, Growing> {
    type Failure = Failure;
    type PeerInfo = OnceLock<Weak<ConnectionInfo>>;
    type RoleState = Nothing;
    type Outbound = Unsent;

    fn respond(
        &mut self,
        token: Token,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        Self::respond(self, token, outcome, out)
    }

    fn abandon(&mut self, token: SentToken) {
        self.cancel(token);
    }

    /// A call of a tool is marked.
    fn unclaimed(shared: &Shared<Self>, result: Raw<'_>, is_marked: bool) {
        if let Some(info) = shared.peer_info.get().and_then(Weak::upgrade) {
            unclaimed(shared, &*info.handler, result, is_marked);
        }
    }

    fn stop(&mut self) {
        self.hang_up();
    }
}

type Unsent = super::unsent::UnsentMessages;

/// State of a connection that does not change once it is known.
pub(crate) struct ConnectionInfo {
    pub(in crate::client) handler: Box<dyn Handler>,
    pub(in crate::client) server: OnceLock<ServerInfo>,
    pub(in crate::client) failed: OnceLock<ConnectError>,
}

/// Stores news of a call and wakes the waiting task.
fn arrive(
    shared: &Shared<Machine>,
    cookie: u64,
    arrival: Arrival<Failure>,
    raw: Option<(Raw<'_>, Frame<'_>)>,
) {
    let (raw, frame) = raw.map_or((None, None), |(raw, frame)| (Some(raw), frame));
    let put = { shared.lock().responses.put(cookie, arrival, raw, frame) };
    put.unwrap_or_default().wake();
}

/// Reports a result whose caller is gone, if it stands for work that the server has begun.
fn unclaimed(
    shared: &Shared<Core<'_, Growing>>,
    handler: &dyn Handler,
    result: Raw<'_>,
    is_tool_call: bool,
) {
    let revision = shared.lock().machine.revision();
    let (Some(object), Some(revision)) = (result.object(), revision) else {
        return;
    };
    let begins_work = if revision.requires_result_type() {
        // The core has checked that an extension defines it.
        let kind = object.get("resultType").and_then(Raw::string);
        kind.is_some_and(|kind| kind != "complete")
    } else {
        is_tool_call && revision.tasks() == Tasks::Core && is_created(result)
    };
    if begins_work {
        guarded(|| handler.late_result(object));
    }
}

/// Returns whether a call that asked for a task of 2025-11-25 was answered with one. Every result of a
/// tool has `content`.
pub(crate) fn is_created(result: Raw<'_>) -> bool {
    result.object().is_some_and(|result| {
        let task = result.get("task").and_then(Raw::object);
        task.is_some() && result.get("content").is_none()
    })
}

/// The job that answers a question of a legacy server.
fn answer(shared: &Arc<Shared<Machine>>, token: Token, answer: Answer) -> Job {
    let shared = Arc::clone(shared);
    Job::from_future(async move {
        let replied = answer.await;
        poll_fn(move |cx| {
            let outcome = match &replied {
                Ok(value) => Outcome::Result(&**value),
                Err(error) => Outcome::Error(error.as_object()),
            };
            shared.poll_respond(cx, Channel::PIPE, token, false, outcome)
        })
        .await
    })
}
