//! Messages of the server: responses to calls, notifications, and what is no message.

use super::abandoned::LateResults;
use super::call::{self, ROUNDS, Stage};
use super::notification::deliver;
use super::reply::Reply;
use super::versions::{revisions, supported};
use super::{Client, Event, Failure, Phase, Storage, Unusable};
use crate::action::{Action, IgnoreReason};
use crate::json::{Kind, MemberPlaces, Object, Raw, collect};
use crate::model::ProtocolMeta;
use crate::revision::RevisionSet;
use crate::rpc::{ErrorObject, Id, Invalid, Message, Method, Notification, Response, code};
use crate::slots::Key;
use crate::time::Instant;

/// The response to an id of ours.
#[derive(Clone, Copy)]
pub(super) enum Received<'p, 'b> {
    /// A result, with the places of its members.
    Result(Raw<'b>, &'p MemberPlaces),
    Error(ErrorObject<'b>),
    /// Something that answers nothing.
    Unusable(Failure),
}

impl<S: Storage> Client<'_, S> {
    pub(super) fn answered<'b>(
        &mut self,
        now: Instant,
        response: &Response<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let received = match response.outcome {
            Ok(result) => Received::Result(result, &response.places),
            Err(error) => Received::Error(error),
        };
        match (response.id, received) {
            (Some(id), received) => match id.to_u64() {
                Some(id) => self.received(now, id, received),
                // All of ours are numbers, and `"1"` is not `1` (JR-07).
                None => Action::Ignore(IgnoreReason::LateResponse),
            },
            (None, Received::Error(error)) => {
                Action::Event(Event::Unusable(Unusable::Error(error)))
            }
            (None, _) => Action::Ignore(IgnoreReason::Garbage),
        }
    }

    /// Bytes that are no message: never answered, but the call that they name ends (JR-32).
    pub(super) fn garbage<'b>(
        &mut self,
        now: Instant,
        invalid: Invalid<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if let Some(id) = invalid.answered_id().filter(|id| self.is_awaited(*id)) {
            return self.received(
                now,
                id,
                Received::Unusable(Failure::Invalid(invalid.reason)),
            );
        }
        Action::Event(Event::Unusable(Unusable::Invalid(invalid)))
    }

    /// An element of an array that the revision does not have: never processed (JR-19), but no
    /// call waits for it in vain.
    pub(super) fn skipped<'b>(
        &mut self,
        now: Instant,
        message: Message<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let id = match message {
            Message::Response(response) => response.id.and_then(Id::to_u64),
            Message::Invalid(invalid) => invalid.answered_id(),
            _ => None,
        };
        match id {
            Some(id) if self.is_awaited(id) => {
                self.received(now, id, Received::Unusable(Failure::Batch))
            }
            _ => Action::Ignore(IgnoreReason::Garbage),
        }
    }

    fn received<'b>(
        &mut self,
        now: Instant,
        id: u64,
        received: Received<'_, 'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if let Phase::Opening(opening) = self.phase {
            return self.opening_received(now, opening, id, received);
        }
        if self.calls.sent.take_pong(now, id) {
            return Action::Done;
        }
        let Some(token) = self.calls.sent.find(id) else {
            let reported = self.calls.answered_late(id);
            return self.late(reported, received);
        };
        match received {
            Received::Result(result, places) => self.result(now, token, result, places),
            Received::Error(error) => self.error(token, error),
            Received::Unusable(failure) => self.calls.fail(token, failure),
        }
    }

    /// An answer to a call that is over.
    fn late<'b>(
        &self,
        reported: LateResults,
        received: Received<'_, 'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if let Received::Result(result, _) = received
            && let Some(object) = result.object()
            && self.is_reported(reported, object)
        {
            return Action::Event(Event::LateResult { result: object });
        }
        Action::Ignore(IgnoreReason::LateResponse)
    }

    fn is_reported(&self, reported: LateResults, result: Object<'_>) -> bool {
        if reported.core_task {
            return creates_core_task(result);
        }
        let kind = result.get("resultType").filter(|_| reported.types != 0);
        kind.and_then(Raw::string)
            .is_some_and(|kind| self.config.texts().result_type(kind) & reported.types != 0)
    }

    fn result<'b>(
        &mut self,
        now: Instant,
        token: Key,
        result: Raw<'b>,
        places: &MemberPlaces,
    ) -> Action<Event<'b>, Reply<'b>> {
        if result.kind() != Kind::Object {
            return self.calls.fail(token, Failure::Result);
        }
        if !self
            .revision
            .is_some_and(|revision| revision.requires_result_type())
        {
            return self.calls.complete(token, Ok(result));
        }
        let mut found = [None; 3];
        let keys = ["resultType", "inputRequests", "requestState"];
        if collect(places.members(result), &keys, true, &mut found).is_err() {
            return self.calls.fail(token, Failure::Result);
        }
        let [kind, requests, state] = found;
        // JR-21: a missing type is `complete`.
        let Some(kind) = kind else {
            return self.calls.complete(token, Ok(result));
        };
        match kind.string() {
            Some(kind) if kind == "complete" => self.calls.complete(token, Ok(result)),
            Some(kind) if kind == "input_required" => self.input(now, token, requests, state),
            Some(kind) => {
                let kind = self.config.texts().result_type(kind);
                let call = self.calls.get(token);
                match call.is_some_and(|call| call.result_types & kind != 0) {
                    true => self.calls.complete(token, Ok(result)),
                    false => self.calls.fail(token, Failure::ResultType),
                }
            }
            None => self.calls.fail(token, Failure::ResultType),
        }
    }

    /// MR-01 to MR-04, MR-16, MR-17.
    fn input<'b>(
        &mut self,
        now: Instant,
        token: Key,
        requests: Option<Raw<'b>>,
        state: Option<Raw<'b>>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let requests = match requests.map(Raw::object) {
            None => None,
            Some(Some(requests)) => Some(requests).filter(|requests| !requests.is_empty()),
            Some(None) => return self.calls.fail(token, Failure::Result),
        };
        let stringy = state.is_none_or(|state| state.string().is_some());
        let plain = self
            .calls
            .get(token)
            .is_none_or(|call| call.kind != call::Kind::Rounds);
        if plain || !stringy || (requests.is_none() && state.is_none()) {
            return self.calls.fail(token, Failure::Result);
        }
        if requests.is_some_and(|requests| !self.gives(requests)) {
            return self.calls.fail(token, Failure::Input);
        }
        let Some(call) = self
            .calls
            .get_mut(token)
            .filter(|call| call.rounds < ROUNDS)
        else {
            return self.calls.fail(token, Failure::Rounds);
        };
        call.rounds += 1;
        let (cookie, latest) = (call.sent.cookie, call.sent.latest);
        let deadline = if requests.is_some() {
            call.pauses = 0;
            call.stage = Stage::Input;
            latest
        } else {
            // 250 ms, and twice as long each time.
            let pause = PAUSE.saturating_mul(1 << call.pauses.min(ROUNDS));
            call.pauses += 1;
            call.stage = Stage::Pausing;
            (now + pause).min(latest)
        };
        // A user needs time to answer: only the maximum duration counts.
        self.calls.sent.table.arm(token, Some(deadline));
        Action::Event(Event::Input {
            token: self.calls.sent.token(token),
            cookie,
            requests,
            state,
        })
    }

    /// Returns true if this client declared every question of this object of `inputRequests`: the
    /// check that precedes [`Event::Input`], for questions that come in the result of an extension
    /// (TK-55).
    pub fn accepts_input(&self, requests: Object<'_>) -> bool {
        self.gives(requests)
    }

    /// Returns true if this client declared every input that is asked for.
    fn gives(&self, requests: Object<'_>) -> bool {
        // Kept from one walk: what the server sends may be long, and is not read per key.
        let mut keys = [None; QUESTIONS];
        requests.members().enumerate().all(|(at, (key, request))| {
            let duplicate = keys.iter().flatten().any(|earlier| *earlier == key);
            let Some(place) = keys.get_mut(at) else {
                return false;
            };
            *place = Some(key);
            let Some(Ok([Some(method), params])) = request
                .object()
                .map(|request| request.find(["method", "params"]))
            else {
                return false;
            };
            let Some(method) = method.string().map(Method::from) else {
                return false;
            };
            let params = match params.map(Raw::object) {
                None => None,
                Some(None) => return false,
                Some(params) => params,
            };
            let complete = params.is_some() || method == Method::RootsList;
            !duplicate && complete && self.admits(method, params).is_ok()
        })
    }

    fn error<'b>(&mut self, token: Key, error: ErrorObject<'b>) -> Action<Event<'b>, Reply<'b>> {
        let modern = matches!(self.phase, Phase::Modern);
        // VR-05
        let common = supported(error, &[code::UNSUPPORTED_VERSION])
            .filter(|_| modern)
            .and_then(|list| revisions(list).and(self.config.revisions).newest_modern());
        if let (Some(revision), Some(call)) = (common, self.calls.get_mut(token))
            && !call.renegotiated
        {
            call.renegotiated = true;
            call.stage = Stage::Again;
            let (cookie, latest) = (call.sent.cookie, call.sent.latest);
            self.calls.sent.table.arm(token, Some(latest));
            self.revision = Some(revision);
            let token = self.calls.sent.token(token);
            return Action::Event(Event::Again { token, cookie });
        }
        self.calls.complete(token, Err(error))
    }

    /// Delivered in the order of the wire: what a handler says before its answer comes before
    /// the answer.
    pub(super) fn notification<'b>(
        &mut self,
        now: Instant,
        notification: Notification<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let params = notification.params.unwrap_or(Object::EMPTY);
        let modern = match self.phase {
            Phase::Modern => true,
            Phase::Legacy => false,
            // A server may log while it starts (LC-08).
            Phase::Opening(_) if notification.method == Method::Message => false,
            Phase::Opening(_) | Phase::Idle | Phase::Closed => {
                return Action::Ignore(IgnoreReason::Misplaced);
            }
        };
        match notification.method {
            Method::Progress => self
                .calls
                .take_progress(now, params, self.config.progress_extends),
            Method::Cancelled => match params.find(["requestId"]) {
                Ok([Some(id)]) => match Id::from_raw(id) {
                    Some(id) if modern => self.calls.listen_cancelled(id),
                    Some(id) => self.question_cancelled(id, params, false),
                    None => Action::Ignore(IgnoreReason::Malformed),
                },
                _ => Action::Ignore(IgnoreReason::Malformed),
            },
            // Some peers took it over from the Language Server Protocol.
            Method::CancelRequest if !modern && self.config.cancel_alias => {
                match params.find(["id"]).map(|[id]| id.and_then(Id::from_raw)) {
                    Ok(Some(id)) => self.question_cancelled(id, params, true),
                    _ => Action::Ignore(IgnoreReason::Malformed),
                }
            }
            Method::SubscriptionsAcknowledged if modern => self.calls.acknowledged(params),
            Method::Message => deliver(notification, None, {
                params.get("level").and_then(Raw::string).is_some() && params.get("data").is_some()
            }),
            Method::Other(name) if self.config.texts().method(name).is_none() => {
                Action::Ignore(IgnoreReason::UnknownNotification)
            }
            // EX-14: on a listen, or on the stream of a request.
            Method::Other(_)
                if modern
                    && ProtocolMeta::of(params).is_some_and(ProtocolMeta::names_subscription) =>
            {
                self.calls.of_subscription(notification, params, true)
            }
            Method::Other(_) => deliver(notification, None, true),
            method => {
                let facts = method.facts();
                let era = if modern {
                    RevisionSet::modern()
                } else {
                    RevisionSet::legacy()
                };
                if !facts.is_notification() || facts.server.and(era).is_empty() {
                    return Action::Ignore(IgnoreReason::Misplaced);
                }
                let valid = facts.params.subject().is_none_or(
                    |key| matches!(params.find([key]), Ok([Some(text)]) if text.string().is_some()),
                );
                if modern {
                    self.calls.of_subscription(notification, params, valid)
                } else {
                    deliver(notification, None, valid)
                }
            }
        }
    }

    pub(super) fn is_awaited(&self, id: u64) -> bool {
        match self.phase {
            Phase::Opening(opening) => opening.awaits(id),
            _ => self.calls.sent.pinger.awaits(id) || self.calls.sent.find(id).is_some(),
        }
    }
}

/// Returns true if a task was created instead of a result of the tool's call. Every result of a
/// tool has `content`.
fn creates_core_task(result: Object<'_>) -> bool {
    let task = result.get("task").and_then(Raw::object);
    task.is_some() && result.get("content").is_none()
}

/// Before the first round that brings nothing but state; twice as long each time.
const PAUSE: core::time::Duration = core::time::Duration::from_millis(250);
/// Questions of one round. Each is compared with those before it.
const QUESTIONS: usize = 64;
