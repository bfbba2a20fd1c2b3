//! A message of the client on its way to the rules of its era, and refusals.

use super::context::{Asked, Members};
use super::headers;
use super::in_flight::InFlight;
use super::reply::ReplyKind;
use super::{Event, PeerError, Reply, Server, Storage};
use crate::action::{Action, IgnoreReason};
use crate::batch::Counted;
use crate::http::{MetaEvidence, Post, is_modern};
use crate::id_buf::{IdStorage, id_len};
use crate::json::{Object, Raw, Str};
use crate::model::{ServerFeatures, keys};
use crate::revision::Revision;
use crate::rpc::{Id, Invalid, Message, Method, Notification, Request, Shape};
use crate::slots::Key;
use crate::source::{Arrival, Place};
use crate::time::Instant;

impl<S: Storage> Server<'_, S> {
    pub(super) fn message<'b>(
        &mut self,
        now: Instant,
        from: &mut Arrival<'_, S::Place>,
        message: Message<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if self.requests.batch().is_refused() {
            return Action::Ignore(IgnoreReason::Garbage);
        }
        match message {
            Message::Request(request) => match self.count_element() {
                Counted::Served => self.request(from, request),
                Counted::Refused => self.refuse(from, None, PeerError::BatchTooLong),
                Counted::Silent => Action::Ignore(IgnoreReason::Garbage),
            },
            Message::Notification(notification) => self.notification(now, from, notification),
            // SH-48: there is no request to answer.
            Message::Response(_) if from.head().is_some_and(Post::is_modern) => {
                self.refuse(from, None, PeerError::Unasked)
            }
            Message::Response(response) => self.questions.take_response(now, response),
            Message::Invalid(invalid) => self.invalid(now, from, invalid),
        }
    }

    fn request<'b>(
        &mut self,
        from: &mut Arrival<'_, S::Place>,
        request: Request<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let Request { id, method, params } = request;
        match self.serve(from, id, method, params) {
            Ok(action) => action,
            Err(error) => self.refuse(from, Some(id), error),
        }
    }

    fn serve<'b>(
        &mut self,
        from: &mut Arrival<'_, S::Place>,
        id: Id<'b>,
        method: Method<'b>,
        params: Option<Object<'b>>,
    ) -> Result<Action<Event<'b>, Reply<'b>>, PeerError> {
        let head = from.head();
        if id_len(id) > S::IdBuf::CAPACITY {
            return Err(PeerError::IdTooLong);
        }
        if self.requests.find(id).is_some() {
            return Err(PeerError::IdInUse);
        }
        let own = match method {
            Method::Other(name) if head.is_some() => self.config.texts().method(name),
            _ => None,
        };
        let subject = own.and_then(|method| method.subject);
        let members = Members::read(method, params, subject).map_err(|error| match head {
            Some(head) => headers::duplicate(head, method, error),
            None => error,
        })?;
        let meta = || MetaEvidence {
            version: members.version.is_some(),
            other: members.is_modern,
        };
        if is_modern(self.config.revisions, head, Some(method), meta) {
            from.modern = true;
            self.modern_request(from, id, method, params, members)
        } else {
            self.legacy_request(from, id, method, params, members)
        }
    }

    /// Returns true if the revision lets a client send this method, and we declared that we serve
    /// it (LC-17).
    pub(super) fn serves(&self, method: Method<'_>, revision: Revision) -> bool {
        if let Method::Other(name) = method {
            return self.is_own(name);
        }
        // 2024-11-05 has no capability for completions, but who has none should say so (CP-08).
        let completes = method != Method::CompletionComplete
            || self.config.declared().contains(ServerFeatures::COMPLETIONS);
        let facts = method.facts();
        completes
            && self.config.declared().allow(method, revision)
            && !facts.is_notification()
            && facts.client.contains(revision)
    }

    pub(super) fn is_own(&self, name: Str<'_>) -> bool {
        self.config.texts().place_of(name).is_some()
    }

    /// Takes a request into the table, for the application to answer.
    pub(super) fn admit(
        &mut self,
        from: &Arrival<'_, S::Place>,
        id: Id<'_>,
        method: Method<'_>,
        asked: &Asked<'_>,
    ) -> Result<Key, PeerError> {
        let entry = InFlight::new(id, method, asked, from.place()).ok_or(PeerError::IdTooLong)?;
        self.requests
            .insert(entry)
            .map_err(|_| PeerError::TooManyRequests)
    }

    fn notification<'b>(
        &mut self,
        now: Instant,
        from: &mut Arrival<'_, S::Place>,
        notification: Notification<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let Notification { method, params } = notification;
        if let Some(head) = from.head()
            && let Err(error) = self.check_notification(from, head, method, params)
        {
            let meta = params.and_then(|params| params.get("_meta")?.object());
            let version = meta.and_then(|meta| meta.get(keys::PROTOCOL_VERSION));
            return self.answer(from, Reply::refusal(None, error, version));
        }
        match method {
            Method::Cancelled => self.cancelled(params, "requestId"),
            Method::CancelRequest if self.config.cancel_alias => self.cancelled(params, "id"),
            method => self.legacy_notification(now, method, params),
        }
    }

    /// The client gave up on a request of either era (CN-04); `key` names the member that
    /// holds its id.
    fn cancelled<'b>(
        &mut self,
        params: Option<Object<'b>>,
        key: &'static str,
    ) -> Action<Event<'b>, Reply<'b>> {
        let params = params.unwrap_or(Object::EMPTY);
        let Ok([Some(id), reason]) = params.find([key, "reason"]) else {
            return Action::Ignore(IgnoreReason::Malformed);
        };
        let Some(id) = Id::from_raw(id) else {
            return Action::Ignore(IgnoreReason::Malformed);
        };
        let alias = key == "id";
        let found = self.requests.find(id).and_then(|key| {
            let request = self.requests.running(key).ok()?;
            let is_reachable = !alias || request.revision.allows_cancel_alias();
            is_reachable.then_some((key, request.is_ending()))
        });
        let Some((key, is_ending)) = found else {
            return Action::Ignore(IgnoreReason::UnknownCancellation);
        };
        if is_ending {
            // The application has forgotten it already.
            self.retire(key);
            return Action::Done;
        }
        if alias {
            // It waits for an answer, which is derived from this.
            self.requests.refuse(key);
            self.questions.end_children(key);
        } else {
            self.retire(key);
        }
        Action::Event(Event::Cancelled {
            token: self.requests.token(key),
            reason: reason.and_then(Raw::string),
        })
    }

    pub(super) fn invalid<'b>(
        &mut self,
        now: Instant,
        from: &Arrival<'_, S::Place>,
        invalid: Invalid<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if !invalid.shape.is_answerable() {
            // SH-08: an exchange ends with a status in any case, so it may say why.
            return match self.questions.take_unusable(now, invalid) {
                Action::Ignore(_)
                    if from.head().is_some() && !self.requests.batch().is_reading() =>
                {
                    self.refuse(from, None, PeerError::Invalid(invalid.reason))
                }
                action => action,
            };
        }
        if invalid.shape == Shape::Unknown
            && let action @ (Action::Event(_) | Action::Done) =
                self.questions.take_unusable(now, invalid)
        {
            return action;
        }
        match self.count_element() {
            Counted::Served => {
                let id = invalid
                    .id
                    .filter(|id| !self.may_be_ours(*id, invalid.shape));
                self.refuse(from, id, PeerError::Invalid(invalid.reason))
            }
            Counted::Refused => self.refuse(from, None, PeerError::BatchTooLong),
            Counted::Silent => Action::Ignore(IgnoreReason::Garbage),
        }
    }

    /// Returns true if this id of a broken message may be that of a request of ours. Without a
    /// method nothing tells a response from a request, and an error with the id of a request of
    /// ours would answer the client's request of the same id.
    fn may_be_ours(&self, id: Id<'_>, shape: Shape) -> bool {
        shape == Shape::Unknown && id.to_u64().is_some_and(|id| self.questions.is_used(id))
    }

    pub(super) fn count_element(&mut self) -> Counted {
        self.requests.count_element(self.config.limits.batch)
    }

    pub(super) fn start_batch<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let allowed = self
            .session
            .revision()
            .is_some_and(Revision::allows_batches)
            && self.requests.has_room_for_array();
        self.requests.start_array(allowed, from.place());
        if allowed {
            Action::Done
        } else {
            self.refuse(from, None, PeerError::Batch)
        }
    }

    pub(super) fn refuse<'b>(
        &self,
        from: &Arrival<'_, S::Place>,
        id: Option<Id<'b>>,
        error: PeerError,
    ) -> Action<Event<'b>, Reply<'b>> {
        self.answer(from, Reply::refusal(id, error, None))
    }

    pub(super) fn answer<'b>(
        &self,
        from: &Arrival<'_, S::Place>,
        reply: Reply<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let batch = self.requests.batch();
        let mut reply = Reply {
            machine: Some(self.requests.machine()),
            batched: batch.takes_answers(),
            null_id: self.null_id(),
            ..reply
        };
        if matches!(reply.kind, ReplyKind::Error { .. }) {
            reply.id = reply.id.filter(|id| id_len(*id) <= S::ID_ECHO);
        }
        if from.place().is_exchange() {
            reply.channel = from.channel();
            reply.draft = self.is_draft(from);
            reply.end = !batch.is_reading() || batch.is_refused();
            reply.status = reply.kind.status(from.modern);
        }
        Action::Reply(reply)
    }
}
